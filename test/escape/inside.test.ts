// The same attempts from inside of a projection: nothing reaches the host, whoever the caller is, and what the list asks
// for is in the trace. That the attempts are real is shown by `outside.test.ts`.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { probeSupport } from "../../src/adapters/projection/launch/support.ts";
import { attempts } from "./attempts.ts";
import type { Report } from "./inside-run.ts";
import { asUser } from "./world.ts";

const runMsMax = 120_000;
const nobody = { uid: 65_534 };
const support = await probeSupport();

/** What the best tier needs and this machine lacks. */
const missing = [
  ...(support.platform === "linux" ? [] : ["Linux"]),
  ...(support.userNamespaces ? [] : ["user namespaces"]),
  ...(support.bubblewrap ? [] : ["bubblewrap"]),
  ...(support.koffi && support.userNotify ? [] : ["koffi with a supervisor for system calls"]),
  ...(support.overlay ? [] : ["overlays in user namespaces"]),
];

const ordinary = support.root ? asUser(nobody, []) : [];
const full = process.env["SLUICEGATE_FULL"] === "1";

/** The lower tiers enforce with less and see less; they are run with the large sizes only. */
const callers = [
  { name: "an ordinary user", tier: "A", command: ordinary, runs: true },
  { name: "root", tier: "A", command: [], runs: support.root },
  ...(full
    ? [
        { name: "an ordinary user", tier: "A-", command: ordinary, runs: support.strace },
        { name: "an ordinary user", tier: "B", command: ordinary, runs: support.landlock > 0 },
      ]
    : []),
];

/**
 * What Landlock alone leaves open: properties of files it does not know, processes and shared memory of the same user,
 * and a limit of processes that counts those of the user everywhere. Tier B is shown as weaker for that.
 */
const openInB: readonly number[] = [19, 25, 41, 42, 43];

async function reports(prefix: readonly string[], tier: string): Promise<readonly Report[]> {
  const program = fileURLToPath(new URL("inside-run.ts", import.meta.url));
  const [file = "", ...args]: readonly string[] = [...prefix, process.execPath, program, tier];
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HOME: "/tmp" },
    timeout: runMsMax,
  });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  child.stderr.on("data", (data: Buffer) => (errors = (errors + data.toString()).slice(-2_000)));
  await new Promise((resolve) => child.once("close", resolve));
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  const found = lines.map((line) => JSON.parse(line) as Report); // inside-run.ts wrote them
  const complete = found.filter((report) => report.kind === "attempt").length === attempts.length;
  return complete ? found : [...found, { kind: "failed", reason: `it ended early: ${errors}` }];
}

for (const caller of callers) {
  const skip = missing.length > 0 || !caller.runs;
  const why =
    missing.length > 0 ? ` (needs ${missing.join(", ")})` : caller.runs ? "" : " (needs root, strace or Landlock)";
  describe.skipIf(skip)(`inside of a projection of tier ${caller.tier}, called by ${caller.name}${why}`, () => {
    let all: readonly Report[] = [];
    beforeAll(async () => {
      all = await reports(caller.command, caller.tier);
    }, runMsMax + 5_000);

    test("it runs to the end and leaves nothing behind", () => {
      const failed = all.filter((report) => report.kind === "failed");
      const survivors = failed.filter((report) =>
        /^after the end: process \d+ outlived its parent$/.test(report.reason),
      );
      expect(failed.filter((report) => caller.tier !== "B" || !survivors.includes(report))).toEqual([]);
      expect(all[0]).toMatchObject({ kind: "started", tier: caller.tier });
    });

    test.each(attempts)("$number $title", (attempt) => {
      const report = all.find((one) => one.kind === "attempt" && one.line.attempt === attempt.number);
      if (report?.kind !== "attempt") throw new Error("there is no report of this attempt");
      const { line, changes, trace } = report;
      if (caller.tier === "B" && openInB.includes(attempt.number)) return;
      expect(line.cannot, line.detail).toBe(false);
      expect(changes).toEqual([]);
      expect(line.detail).not.toContain("planted-secret-");
      if (attempt.judge === "inside") expect(line.reached, line.detail).toBe(false);
      if (!report.ended) expect(trace.failure).toBeUndefined();
      // Without sockets of the broker nothing tells what was asked of a name or an address.
      const seen = attempt.event !== undefined && (caller.tier === "A" || !/^(net|dns)-/.test(attempt.event));
      if (seen) expect(trace.events.map((event) => event.action)).toContain(attempt.event);
    });
  });
}
