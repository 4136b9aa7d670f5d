// Commands that fetch a package, resolved with the real npm in a projection, against a registry of this machine.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defaultTransportLimits } from "../../../src/adapters/net/net-limits.ts";
import { fetchCommand } from "../../../src/adapters/packages/fetch-command.ts";
import { findProgram } from "../../../src/adapters/packages/find-program.ts";
import { type InstallStep, stepRunner } from "../../../src/adapters/packages/install-step.ts";
import { type LockEntry, readLock } from "../../../src/adapters/packages/lock-file.ts";
import { resolveCommand, updateEntry } from "../../../src/adapters/packages/resolve.ts";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import type { ProcessTarget } from "../../../src/adapters/process/launch.ts";
import type { Result } from "../../../src/core/result.ts";
import { FakeRegistry } from "../../kit/packages/fake-registry.ts";

const env = { PATH: process.env["PATH"] ?? "" };
const best =
  tierOf(await probeSupport(), { net: { mode: "list" } }).tier === "A" && findProgram("npm", { env }) !== undefined;

const program = { path: "package/index.js", text: "#!/usr/bin/env node\nconsole.log('it runs')\n", mode: 0o755 };
const honest = { name: "server", version: "1.0.0", manifest: { bin: "index.js" }, entries: [program] };

let registry: FakeRegistry;
let root = "";
let home = "";
let userHome = "";
let workspace = "";
let notices: string[] = [];
let steps: InstallStep[] = [];

beforeAll(async () => {
  registry = await FakeRegistry.open();
});
afterAll(() => registry.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sg-packages-"));
  [home, userHome, workspace] = [join(root, "state"), join(root, "user"), join(root, "work")];
  for (const folder of [home, userHome, workspace]) mkdirSync(folder);
  settings(`registry=${registry.url}`);
  [notices, steps] = [[], []];
  registry.asked.length = 0;
  registry.token = undefined;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function settings(...lines: readonly string[]): void {
  writeFileSync(join(userHome, ".npmrc"), `${lines.join("\n")}\n`);
}

const targetOf = (line: string): ProcessTarget => {
  const [command = "", ...args] = line.split(" ");
  return { kind: "stdio", command, args, env, workingDirectory: workspace };
};

function setup() {
  const run = stepRunner(home, defaultTransportLimits);
  return {
    home,
    userHome,
    run: (step: InstallStep) => {
      steps.push(step);
      return run(step);
    },
    now: () => new Date(),
    notice: (text: string) => void notices.push(text),
  };
}

async function resolved(line: string): Promise<Result<ProcessTarget, string>> {
  const target = targetOf(line);
  const command = fetchCommand(target.command, target.args);
  if (command?.kind !== "fetch") throw new Error(`${line} fetches nothing`);
  return resolveCommand(target, command, setup());
}

function entries(): readonly LockEntry[] {
  const lock = readLock(home);
  if (!lock.ok) throw new Error(lock.error);
  return [...lock.value.values()];
}

const folders = (): readonly string[] =>
  existsSync(join(home, "packages")) ? readdirSync(join(home, "packages")).filter((name) => name !== "locks") : [];

/** Nothing half installed: no entry, no folder, and nothing beside the state folder that was not there. */
function expectNothing(): void {
  expect(entries()).toEqual([]);
  expect(folders()).toEqual([]);
  expect(readdirSync(root).toSorted()).toEqual(["state", "user", "work"]);
}

const errorOf = (found: Result<unknown, string>): string => (found.ok ? "" : found.error);

describe.skipIf(!best)("a command that fetches its package (needs tier A and npm)", () => {
  test("is pinned with version and digest, runs no install script, and starts without the registry later", async () => {
    const plant = "require('fs').writeFileSync('ran', ''); require('fs').writeFileSync('../../ran', '')";
    const scripts = { preinstall: `node -e "${plant}"`, postinstall: `node -e "${plant}"` };
    registry.publish({ ...honest, manifest: { bin: "index.js", scripts } });
    registry.token = "npm_SECRETsecretSECRETsecretSECRETsecret0";
    settings(`registry=${registry.url}`, `//${new URL(registry.url).host}/:_authToken=${registry.token}`);
    const first = await resolved("npx -y server --port 1");
    expect(errorOf(first)).toBe("");
    const [entry] = entries();
    expect(entry).toMatchObject({
      name: "server",
      version: "1.0.0",
      registry: registry.url,
      scripts: ["server@1.0.0"],
    });
    expect(entry?.integrity).toMatch(/^sha512-/);
    const folder = join(home, "packages", entry?.folder ?? "");
    expect(first.ok && first.value).toMatchObject({
      command: join(folder, "node_modules/server/index.js"),
      args: ["--port", "1"],
    });
    expect([join(folder, "ran"), join(folder, "node_modules/server/ran")].some((path) => existsSync(path))).toBe(false);
    expect(notices.join("\n")).toContain("install scripts that were not run (server@1.0.0)");
    // The credential went to the registry, and nowhere else.
    expect(registry.asked.every(({ authorization }) => authorization === `Bearer ${registry.token}`)).toBe(true);
    const everything = JSON.stringify([steps, notices, first, readFileSync(join(home, "sluicegate.lock"), "utf8")]);
    expect(everything).not.toContain(registry.token);
    expect(steps[0]?.addresses).toEqual([registry.url]);
    registry.asked.length = 0;
    expect(await resolved("npx -y server --port 1")).toEqual(first);
    expect(registry.asked).toEqual([]);
    expect(steps).toHaveLength(1);
  });

  test("two starts at once install it once", async () => {
    registry.publish(honest);
    const both = await Promise.all([resolved("npx server"), resolved("npx -y server")]);
    expect(both.map(errorOf)).toEqual(["", ""]);
    expect(both[0]).toEqual(both[1]);
    expect(steps).toHaveLength(1);
    expect(folders()).toHaveLength(1);
  });

  test("changed files do not start, and an update takes what is newest then", async () => {
    registry.publish(honest);
    const first = await resolved("npx server");
    const path = first.ok ? first.value.command : "";
    appendFileSync(path, "// planted\n");
    expect(errorOf(await resolved("npx server"))).toContain("are not those of `sluicegate.lock`");
    registry.publish({ ...honest, version: "1.1.0" });
    const [key = ""] = entries().map(() => `npm ${registry.url} server`);
    const update = await updateEntry(key, targetOf("npx server"), setup());
    expect(update.ok && [update.value.before.version, update.value.after.version]).toEqual(["1.0.0", "1.1.0"]);
    const after = await resolved("npx server");
    expect(after.ok && readFileSync(after.value.command, "utf8")).toBe(program.text);
    // The former folder may be in use by a server that runs.
    expect(folders()).toHaveLength(2);
    registry.unpublish("server");
    registry.publish(honest);
  });

  test("a lost folder is installed again as it was locked, and other content under the same version is refused", async () => {
    registry.publish(honest);
    expect(errorOf(await resolved("npx server"))).toBe("");
    const [entry] = entries();
    registry.publish({ ...honest, version: "2.0.0" });
    rmSync(join(home, "packages"), { recursive: true });
    expect(errorOf(await resolved("npx server"))).toBe("");
    expect(entries()[0]).toMatchObject({ version: "1.0.0", integrity: entry?.integrity, content: entry?.content });
    rmSync(join(home, "packages"), { recursive: true });
    registry.publish({ ...honest, entries: [{ ...program, text: `${program.text}// other` }] });
    expect(errorOf(await resolved("npx server"))).toContain("other content");
    expect(entries()[0]?.content).toBe(entry?.content);
    expect(folders()).toEqual([]);
    registry.unpublish("server");
  });

  test.each([
    ["server", "has no package `server`", {}],
    ["-p server other", "does not have a program `other`: it has server", honest],
    ["server@9", "has no version", honest],
    ["server", "does not have the digest", { ...honest, integrity: `sha512-${"A".repeat(86)}==` }],
    ["server", "not a file of its own", { ...honest, manifest: { bin: { server: "link.js" } } }],
    [
      "server",
      "which is not its registry",
      { ...honest, manifest: { bin: "index.js", dependencies: { other: "http://other.invalid/x.tgz" } } },
    ],
  ])("`npx %s` fails with a sentence and leaves nothing: %s", async (words, says, published) => {
    registry.unpublish("server");
    // npm drops links of a package, so a program that is one is not there.
    if ("name" in published) registry.publish({ ...honest, ...published });
    const found = await resolved(`npx -y ${words}`);
    expect(errorOf(found)).toContain(says);
    expect(errorOf(found).length).toBeLessThanOrEqual(240);
    expectNothing();
  });

  test("a hostile archive writes nothing outside of its folder", async () => {
    const climbing = [
      { path: "package/../../../../../escaped", text: "x" },
      { path: "/tmp/sg-escaped", text: "x" },
      { path: "package/link", to: "/etc/passwd" },
      { path: "package/folder", to: "../../.." },
      { path: "package/folder/escaped", text: "x" },
      { path: "package/suid", text: "x", mode: 0o4755 },
    ];
    registry.publish({ ...honest, entries: [program, ...climbing] });
    const found = await resolved("npx server");
    expect(existsSync("/tmp/sg-escaped")).toBe(false);
    expect(readdirSync(root).toSorted()).toEqual(["state", "user", "work"]);
    expect(readdirSync(home).filter((name) => /escaped/.test(name))).toEqual([]);
    const inside = join(home, "packages", entries()[0]?.folder ?? "none", "node_modules/server");
    if (found.ok) {
      expect(existsSync(join(inside, "link"))).toBe(false);
      expect((statSync(join(inside, "suid"), { throwIfNoEntry: false })?.mode ?? 0) & 0o6000).toBe(0);
    }
    registry.unpublish("server");
  });

  test("a project may name a registry, which the lock keeps apart, and no variable of the environment", async () => {
    registry.publish(honest);
    writeFileSync(join(workspace, "package.json"), "{}");
    writeFileSync(join(workspace, ".npmrc"), `registry=${registry.url}own/\n//x/:_authToken=\${PATH}\n`);
    expect(errorOf(await resolved("npx server"))).toContain("has no package");
    expect(registry.asked.some(({ path }) => path.startsWith("/own/"))).toBe(true);
    expectNothing();
    registry.unpublish("server");
  });

  test("without a registry the sentence says so", async () => {
    settings("registry=http://localhost:9/");
    expect(errorOf(await resolved("npx server"))).toContain("cannot be reached");
    expectNothing();
  });
});

test("a program that the project has installed itself needs no registry", async () => {
  const own = join(workspace, "node_modules/server");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(workspace, "package.json"), "{}");
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "server", version: "1.0.0", bin: "index.js" }));
  writeFileSync(join(own, "index.js"), program.text);
  const found = await resolved("npx server -v");
  expect(found.ok && found.value).toMatchObject({ command: join(own, "index.js"), args: ["-v"] });
  expect(steps).toEqual([]);
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "server", bin: "../../../user/.npmrc" }));
  const setupOf = setup();
  const failing = { ...setupOf, run: () => Promise.resolve({ ok: false as const, error: "asked the registry" }) };
  const command = fetchCommand("npx", ["server"]);
  if (command?.kind !== "fetch") throw new Error("npx fetches");
  expect(errorOf(await resolveCommand(targetOf("npx server"), command, failing))).toBe("asked the registry");
});
