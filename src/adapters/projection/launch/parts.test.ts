import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { resourceLimits } from "./chain.ts";
import { spareFolder } from "./host-layout.ts";
import { closedFolders, mapping } from "../launcher/stage.ts";
import { withQuota } from "./parts.ts";
import type { WorkspaceProjection } from "../parts.ts";
import { overlayOptions } from "../launcher/mounts.ts";
import { countsEveryMs } from "../session/session-limits.ts";
import { serverEnvironment } from "./server-environment.ts";
import { quote, shellCommand, shellScript } from "./shell.ts";

const place = { home: "/home/ann", user: "ann", programFolders: ["/opt/node/bin"] };

test("the environment holds what is named, and a note names what looks like a credential", () => {
  const given = { PATH: "/evil", HOME: "/x", LANG: "C", GITHUB_TOKEN: "a", DB_PASSWORD: "b", EDITOR: "vi", KEPT: "c" };
  const made = serverEnvironment(given, { pass: ["KEPT", "ABSENT"], set: { HOME: "/set" } }, place);
  expect(made.variables).toEqual({
    PATH: "/opt/node/bin:/usr/local/bin:/usr/bin:/bin",
    HOME: "/set",
    USER: "ann",
    TMPDIR: "/tmp",
    LANG: "C",
    KEPT: "c",
  });
  expect(made.notes.join()).toMatch(/GITHUB_TOKEN, DB_PASSWORD.*`env\.pass`/);
  expect(serverEnvironment({ EDITOR: "vi" }, { pass: [], set: {} }, place).notes).toEqual([]);
  // C21: a value may be a path below the home folder, and no other `~` is touched.
  const set = { FILE: "~/a/b", OTHER: "~ann/a", MIDDLE: "x:~/a", ALONE: "~" };
  expect(serverEnvironment({}, { pass: [], set }, place).variables).toMatchObject({
    ...set,
    FILE: `${place.home}/a/b`,
  });
  const keyless = serverEnvironment({}, { pass: ["NOTES_TOKEN", "PLAIN"], set: {} }, place);
  expect(keyless.notes).toEqual([expect.stringMatching(/^Not set here: NOTES_TOKEN\./)]);
  const many = Array.from({ length: 20 }, (_, at) => `${"LONG_NAME_".repeat(4)}${at}_TOKEN`);
  for (const note of serverEnvironment({}, { pass: many, set: {} }, place).notes)
    expect(note.length).toBeLessThanOrEqual(240);
});

test("law: a quoted word is one word for a shell", () => {
  const words = fc.array(
    fc.string({ unit: "binary" }).filter((text) => !text.includes("\0")),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(words, (texts) => {
      const wanted = texts.map((text) => text.toWellFormed());
      const command = `printf '%s\\0' ${wanted.map(quote).join(" ")}`;
      expect(spawnSync("/bin/sh", ["-c", command], { encoding: "utf8" }).stdout).toBe(
        wanted.map((one) => `${one}\0`).join(""),
      );
    }),
    { numRuns: 20 },
  );
});

test("the shell mounts, says so, waits, and becomes the command", () => {
  const script = shellScript({
    folder: "/mnt",
    files: [{ path: "/mnt/hosts", text: "it's\n" }],
    mounts: [
      { kind: "tmpfs", target: "/t", sizeMb: 2 },
      { kind: "folder", target: "/t/u" },
      { kind: "overlay", target: "/w", lower: "/w", upper: "/t/u", work: "/t/k" },
    ],
    command: ["bwrap", "--", "a b"],
  });
  const lines = script.split("\n");
  expect(lines).toContain("mount -t tmpfs -o nosuid,nodev,mode=0700,size=2m tmpfs '/t'");
  expect(lines.indexOf("echo ready >&4")).toBeLessThan(lines.indexOf("read -r _ <&4"));
  expect(lines.at(-1)).toBe("exec 'bwrap' '--' 'a b' 4>&-");
  expect(spawnSync("/bin/sh", ["-n", "-c", script]).status).toBe(0);
});

test("the shell reads nobody's start-up file, although its input is a socket as of a remote login", () => {
  const home = mkdtempSync(join(tmpdir(), "sluicegate-shell-"));
  writeFileSync(join(home, ".bashrc"), "echo from the start-up file\n");
  for (const bash of [undefined, ...["/bin/bash", "/usr/bin/bash"].filter((one) => existsSync(one))]) {
    const [file = "", ...args] = shellCommand(bash, "echo ran");
    const done = spawnSync(file, args, { encoding: "utf8", input: "", env: { HOME: home, PATH: "/usr/bin:/bin" } });
    expect(done.stdout).toBe("ran\n");
  }
  rmSync(home, { recursive: true });
});

test("what parts the options of an overlay is escaped in a path", () => {
  const step = { kind: "overlay", target: "/w", lower: "/a:b,c\\d", upper: "/u", work: "/k" } as const;
  expect(overlayOptions(step)).toBe("lowerdir=/a\\:b\\,c\\\\d,upperdir=/u,workdir=/k,userxattr");
});

test("the widest closed folder above a path is found once", () => {
  const closed = new Set(["/closed", "/closed/a", "/srv/x"]);
  const mode = (path: string): number => (closed.has(path) ? 0o700 : 0o755);
  const paths = ["/closed/a/b", "/closed/c", "/srv/x", "/srv/x/y", "/usr/z"];
  expect(closedFolders(paths, mode)).toEqual(["/closed", "/srv/x"]);
});

test("root and the service user change places, everybody else stays", () => {
  expect(mapping(65_534)).toBe("0 65534 1\n1 1 65533\n65534 0 1");
  expect(mapping(1)).toBe("0 1 1\n1 0 1");
});

test("a folder for our own files has nothing to do with what is shown", () => {
  expect(spareFolder(["/mnt/data", "/media"], () => true)).toBe("/srv");
  expect(spareFolder([], () => false)).toBeUndefined();
});

test("resource limits never ask for more than there is", () => {
  const limits = { memoryMb: 1, processes: 9, openFiles: 5_000, cpuSeconds: 7, fileMb: 2, callTimeoutMs: 1 };
  expect(resourceLimits(limits, { openFilesMax: 1_024, countProcesses: true })).toEqual([
    "--core=0",
    "--nofile=1024",
    "--fsize=2097152",
    "--cpu=7:8",
    "--nproc=9",
  ]);
});

test("a workspace that takes no more writes is a limit, told once until there is room again", () => {
  let full = false;
  const workspace = { isFull: () => full } as unknown as WorkspaceProjection; // only what is asked here
  let now = 0;
  const limits = withQuota({ drain: () => [], close: () => undefined }, workspace, () => now);
  const told = (afterMs = countsEveryMs): number | undefined => {
    now += afterMs;
    return limits?.drain().filter(({ detail }) => detail === "disk").length;
  };
  expect(told()).toBe(0);
  full = true;
  expect([told(1), told(), told()]).toEqual([0, 1, 0]);
  full = false;
  expect(told()).toBe(0);
  full = true;
  expect(told()).toBe(1);
  expect(withQuota(undefined, workspace)).toBeUndefined();
});
