/** What most pairs declare: a tool that only answers, a tool that writes a file, and the scopes that go with them. */
import type { ToolLabelsText } from "../../../../src/policy/document/shapes-labels.ts";
import type { PackScopeText } from "../../../../src/policy/document/shapes-isolation.ts";
import type { Declared, ScriptedCall } from "./catalogue.ts";

export const answers: ToolLabelsText = {
  effects: ["read.local"],
  rest: { role: "query", sink: false },
  output: { confidentiality: "public", trust: "untrusted" },
};

export const saves: ToolLabelsText = {
  effects: ["write.local"],
  rest: { role: "content", sink: false },
  output: { confidentiality: "public", trust: "untrusted" },
};

export const runs: ToolLabelsText = { ...answers, effects: ["execute.local"] };

/** No file of the user, no network, no other program. */
export const closed: PackScopeText = { net: { mode: "none" }, exec: { mode: "none" } };

/** May write into a projection of the workspace, of which the good writes are kept. */
export const workspace: PackScopeText = {
  ...closed,
  files: { workspace: { mode: "overlay", commit: "allow", per: "call" } },
};

export const quiet = (...tools: readonly string[]): Declared => ({
  labels: Object.fromEntries(tools.map((tool) => [tool, answers])),
  isolation: closed,
});

/** The same call again and again, as agents do it. */
export function repeated(times: number, call: ScriptedCall): readonly ScriptedCall[] {
  return Array.from({ length: times }, () => call);
}
