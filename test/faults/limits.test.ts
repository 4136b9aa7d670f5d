// Limits with and without a control group: a server that takes too much of something is refused more or ended, the limit
// is in evidence where the kernel tells it, and the machine is none the worse.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { cgroupKind } from "../../src/adapters/projection/session/cgroup.ts";
import { best } from "../kit/gateway/stage.ts";
import { allProcesses } from "./kit.ts";

const program = fileURLToPath(new URL("limits-inside.ts", import.meta.url));
const root = process.getuid?.() === 0;
const group = cgroupKind();
const python = spawnSync("python3", ["-c", "import mmap, ctypes"]).status === 0;
if (!python) console.log("skipped: without Python no memory can be shared or hidden here");
if (group === "none") console.log("skipped: no control group is delegated here, so only the fallback is tried");

type Outcome = {
  readonly tier: string;
  readonly text?: string;
  readonly ended: boolean;
  readonly hits: readonly string[];
};

/** In a process of its own, so that it can be anybody's. */
async function limited(
  as: "self" | "nobody",
  tool: string,
  count: number,
  cgroup = "none",
  place: readonly string[] = [],
): Promise<Outcome> {
  const drop = as === "self" ? [] : ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const [command = "", ...args] = [...drop, process.execPath, program, tool, String(count), cgroup, ...place];
  const child = spawn(command, args, { env: { PATH: process.env["PATH"] ?? "", HOME: "/tmp" }, timeout: 40_000 });
  let [text, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (more: string) => (text += more));
  child.stderr.setEncoding("utf8").on("data", (more: string) => (errors += more));
  await new Promise((resolve) => child.once("close", resolve));
  const line = text.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`${text}${errors}`);
  return JSON.parse(line) as Outcome; // our own program wrote it
}

const users = root ? (["self", "nobody"] as const) : (["self"] as const);
const kinds = [
  ...users.map((user) => [user, "none"] as const),
  ...(group === "none" ? [] : [["self", group] as const]),
];

/** A hit may be seen only after the call, and is told with its name then. */
const hasProcesses = (hits: readonly string[]): boolean => hits.some((hit) => hit.startsWith("processes"));

describe.skipIf(!best)("limits (need tier A)", () => {
  describe.each(kinds)("as %s, control group: %s", (user, cgroup) => {
    test("memory: the server is ended, and the limit is in evidence", async () => {
      const { ended, hits } = await limited(user, "memory", 100, cgroup);
      expect(ended).toBe(true);
      expect(hits).toContain("memory");
    });

    test.each(["/dev/shm/many", "/tmp/many"])("A10: files in memory at %s count as memory", async (place) => {
      const { text, ended, hits } = await limited(user, "spread", 400, cgroup, [place]);
      // The folder alone may be as large as all memory; which of the two is full first is a matter of a few pages.
      expect(ended || text === "ENOSPC", text).toBe(true);
      if (ended) expect(hits).toContain("memory");
    });

    test("A10: the folder of devices takes no file", async () => {
      expect((await limited(user, "fill", 2, cgroup, ["/dev/many"])).text).toBe("EROFS after 0");
    });

    test.skipIf(!python)("A10: shared memory counts (needs Python)", async () => {
      const { text, ended, hits } = await limited(user, "shared", 400, cgroup);
      expect(ended || text === "SIGKILL", text).toBe(true);
      expect(hits).toContain("memory");
    });

    test.skipIf(!python)(
      "A10: memory that no process maps is there only where it is counted (needs Python)",
      async () => {
        const { text } = await limited(user, "hidden", 1, cgroup);
        expect(text).toMatch(cgroup === "none" ? /^ENOSYS ENOSYS ENOSYS$/ : /^made made (made|E[A-Z]+)$/);
      },
    );

    test("processes: no more than the limit start, and the machine has as many as before", async () => {
      const before = allProcesses().length;
      let { text, hits } = await limited(user, "processes", 120, cgroup);
      // Others look from time to time, and see it only while all are taken, to the last thread of the runtime.
      for (let again = 0; again < 2 && cgroup === "none" && !hasProcesses(hits); again += 1)
        ({ text, hits } = await limited(user, "processes", 120, cgroup));
      // Some hosts answer by a refusal, others by the end of the server: never by what was asked for.
      expect(Number(text ?? 0)).toBeLessThan(40);
      expect(hasProcesses(hits), hits.join()).toBe(true);
      expect(allProcesses().length).toBeLessThan(before + 60);
    });

    test("open files, a file's size and the workspace's quota: refused", async () => {
      const [open, size] = await Promise.all([
        limited(user, "open_files", 500, cgroup),
        limited(user, "fill", 40, cgroup),
      ]);
      expect(open.text).toMatch(/^EMFILE after \d{2,3}$/);
      // Beyond the size of one file the kernel refuses more (EFBIG) or ends the writer (SIGXFSZ).
      expect(size.ended || /^(EFBIG|ENOSPC) after [3-8]$/.test(size.text ?? ""), size.text).toBe(true);
    });

    test("processor time: the server is ended, and the limit is in evidence", async () => {
      const { ended, hits } = await limited(user, "spin", 10_000, cgroup);
      expect(ended).toBe(true);
      expect(hits).toContain("cpu");
    });
  });
});
