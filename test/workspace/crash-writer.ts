/** The gateway that `crash.test.ts` kills: commits what a server left in a copy, and says before it begins. */
import { readFileSync, writeSync } from "node:fs";
import { prepareWorkspace } from "../../src/adapters/workspace/prepare.ts";
import { type Edit, applyEdits } from "./edits.ts";

const [folder = "", stateFolder = "", edits = ""] = process.argv.slice(2);
const scope = { mode: "overlay", commit: "allow", per: "call", quotaMb: 16 } as const;
const prepared = await prepareWorkspace({ folder, scope, stateFolder, how: "copy" });
if (!prepared.ok) throw new Error(prepared.error);
// Made by the test.
applyEdits(prepared.value.bind.source, JSON.parse(readFileSync(edits, "utf8")) as readonly Edit[]);
const projection = await prepared.value.open(process.pid);
if (!projection.ok) throw new Error(projection.error);
writeSync(1, "begins\n");
const concluded = await projection.value.conclude("commit", { server: "s", call: "c" });
writeSync(1, `${JSON.stringify(concluded)}\n`);
await projection.value.close();
