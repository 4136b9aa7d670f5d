/** Commits more than the workspace has space for; `full.test.ts` runs it where the workspace is a small tmpfs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listHeld } from "../../src/adapters/workspace/commit/held.ts";
import { prepareWorkspace } from "../../src/adapters/workspace/prepare.ts";
import { treeOf } from "./edits.ts";

const [folder = "", stateFolder = ""] = process.argv.slice(2);
writeFileSync(join(folder, "small"), "before");
const scope = { mode: "overlay", commit: "allow", per: "call", quotaMb: 16 } as const;
const prepared = await prepareWorkspace({ folder, scope, stateFolder, how: "copy" });
if (!prepared.ok) throw new Error(prepared.error);
const copy = prepared.value.bind.source;
writeFileSync(join(copy, "small"), "after");
for (const name of ["one", "two", "three"]) writeFileSync(join(copy, name), Buffer.alloc(100 * 1024, 7));
const projection = await prepared.value.open(process.pid);
if (!projection.ok) throw new Error(projection.error);
const concluded = await projection.value.conclude("commit", { server: "s", call: "c" });
console.log(JSON.stringify({ concluded, tree: treeOf(folder), held: listHeld(stateFolder) }));
await projection.value.close();
