/** One server in a projection where no control group is delegated; says on stdout what became of a call: `TIER TOOL COUNT`. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EffectEvent } from "../../src/core/isolation/effect-trace.ts";
import { openInside, scopeFor, stateFolder } from "../escape/inside.ts";
import { serverProgram } from "./kit.ts";

/** The limit that a tool runs into and that is in evidence; the others are refused only. */
const limitOf: Readonly<Record<string, string>> = {
  memory: "memory",
  shared: "memory",
  spread: "memory",
  processes: "processes",
  spin: "cpu",
};
/** Tools that may take a folder in memory take this one. */
const [place] = process.argv.slice(5);
const [tool = "", count = "0", cgroup = "none"] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), "sluicegate-limits-"));
chmodSync(root, 0o755);
const [home, workspace] = [join(root, "home"), join(root, "workspace")];
for (const place of [home, workspace]) mkdirSync(place);
const base = scopeFor({ ground: { code: serverProgram } });
const limits = { memoryMb: 256, processes: 40, openFiles: 128, cpuSeconds: 3, fileMb: 4, callTimeoutMs: 30_000 };
const files = { ...base.files, workspace: { ...base.files.workspace, quotaMb: 8 } };
const inside = await openInside({
  places: { home, workspace },
  args: [serverProgram, "limits"],
  scope: { ...base, files, limits, serial: false },
  ...(cgroup === "none" ? { without: { cgroup: "none" } as const } : {}),
});
if ("failed" in inside) throw new Error(inside.failed);
const hits: string[] = [];
const note = (events: readonly EffectEvent[]): void => {
  hits.push(...events.filter(({ action }) => action === "limit-hit").map(({ detail }) => detail ?? ""));
};
const called = await inside.call(tool, { path: place ?? "limited.bin", count: Number(count) });
const after = await inside.call("echo", { text: "still there" });
if (!("refused" in called)) note(called.trace.events);
const looked = (): boolean => hits.some((hit) => hit.startsWith(limitOf[tool] ?? ""));
// Without a control group there is a look every 200 ms.
for (let waitedMs = 0; waitedMs < 600 && !looked(); waitedMs += 50) {
  await sleep(50);
  note((await inside.projection.trace(undefined)).events);
}
const outcome = {
  tier: inside.projection.tier,
  text: "refused" in called ? called.refused : called.text,
  ended: "refused" in after || after.text === undefined,
  hits,
};
await inside.close();
rmSync(root, { recursive: true, force: true });
rmSync(stateFolder, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(outcome)}\n`);
process.exit(0);
