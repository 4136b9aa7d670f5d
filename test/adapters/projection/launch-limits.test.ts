// Limits that a server runs into, each on record where it can be seen: in the trace of the kernel or in a look.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import { type LaunchCase, runLaunch, scopeOf } from "../../kit/isolation/launch-case.ts";

const base = mkdtempSync(join(tmpdir(), "sluicegate-limits-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
chmodSync(base, 0o755);
let count = 0;

function desk(): Pick<LaunchCase, "workspace" | "home" | "stateFolder"> {
  const folder = join(base, String(count++));
  const made = { workspace: join(folder, "work"), home: join(folder, "home"), stateFolder: join(folder, "state") };
  for (const one of Object.values(made)) mkdirSync(one, { recursive: true });
  return made;
}

const node = (body: string): Pick<LaunchCase, "command" | "args"> => ({
  command: process.execPath,
  args: ["-e", body],
});

const support = await probeSupport();
const { tier } = tierOf(support, scopeOf({ ...desk(), command: "x", args: [] }));
if (tier !== "A") console.log(`skipped: this machine gives tier ${tier}, not A`);

describe.skipIf(tier !== "A")("a limit is on record", () => {
  test("of the workspace's quota, when it is full", () => {
    const body = `const fs = require("fs"); try { fs.writeFileSync("big", Buffer.alloc(4 << 20)); } catch (error) { console.log(error.code); }
      setTimeout(() => {}, 60_000);`;
    const outcome = runLaunch({ ...desk(), ...node(body), scope: { quotaMb: 1 }, killAfterMs: 1_500 }, "self");
    expect(outcome.output.trim()).toBe("ENOSPC");
    expect(outcome.limits).toContain("disk");
  });

  test("of open files, in a look", () => {
    const body = `const fs = require("fs"); try { for (;;) fs.openSync("/dev/null"); } catch (error) { console.log(error.code); }
      setTimeout(() => {}, 60_000);`;
    const given = { ...desk(), ...node(body), without: ["cgroup"], scope: { openFiles: 64 }, killAfterMs: 1_500 };
    const outcome = runLaunch(given, "self");
    expect(outcome.output.trim()).toBe("EMFILE");
    expect(outcome.limits).toContain("open-files");
  });

  test("of processor time, of a process that ignores the first signal, in a look", () => {
    const body = `process.on("SIGXCPU", () => {}); setImmediate(function spin() { const end = Date.now() + 20; while (Date.now() < end); setImmediate(spin); });`;
    const given = { ...desk(), ...node(body), without: ["cgroup"], scope: { cpuSeconds: 1 } };
    const outcome = runLaunch(given, "self");
    expect(outcome.limits).toContain("cpu");
  });

  test("of processor time, when the server itself is ended by it", () => {
    const outcome = runLaunch({ ...desk(), ...node("for (;;);"), scope: { cpuSeconds: 1 } }, "self");
    expect(outcome.limits).toContain("cpu");
  });

  test.skipIf(!support.strace)(
    "of a file and of time, of any process, where strace is the tracer (needs strace)",
    () => {
      const shell = `(ulimit -f 1; exec dd if=/dev/zero of=/tmp/big bs=1M count=4 2>/dev/null); (ulimit -S -t 1; while :; do :; done); echo done`;
      const given = {
        ...desk(),
        command: "/bin/sh",
        args: ["-c", shell],
        without: ["koffi"],
        scope: { trace: "full" },
      } as const;
      const outcome = runLaunch(given, "self");
      expect(outcome.output.trim()).toBe("done");
      expect(outcome.acts?.filter((act) => act.startsWith("limit-hit")).length).toBe(2);
    },
  );
});
