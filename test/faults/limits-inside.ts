/** One server in a projection where no control group is delegated; says on stdout what became of a call: `TIER TOOL COUNT`. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openInside, scopeFor, stateFolder } from "../escape/inside.ts";
import { serverProgram } from "./kit.ts";

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
const called = await inside.call(tool, { path: "limited.bin", count: Number(count) });
const after = await inside.call("echo", { text: "still there" });
const seen = "refused" in called ? [] : called.trace.events.filter(({ action }) => action === "limit-hit");
// Without a control group there is a look every 200 ms.
await sleep(600);
const rest = (await inside.projection.trace(undefined)).events.filter(({ action }) => action === "limit-hit");
const outcome = {
  tier: inside.projection.tier,
  text: "refused" in called ? called.refused : called.text,
  ended: "refused" in after || after.text === undefined,
  hits: [...seen, ...rest].map(({ detail }) => detail ?? ""),
};
await inside.close();
rmSync(root, { recursive: true, force: true });
rmSync(stateFolder, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(outcome)}\n`);
process.exit(0);
