/** Scopes whose parts contradict each other: what is written beside each other, and what layers come to together. */
import type { IsolationOrder, IsolationTier } from "../../core/scope.ts";
import { tierHasNetwork } from "./tiers.ts";
import type { Reporter } from "../compile/labels.ts";
import type { DocumentPath } from "../diagnostic.ts";
import { information, problem, quoted } from "../diagnostic.ts";
import type { PackScopeText } from "../document-isolation.ts";

/** One layer that takes back what it says. */
export function checkLayer(scope: PackScopeText, path: DocumentPath, report: Reporter): void {
  const { net, exec, tools } = scope;
  const ofTool = Object.entries(tools ?? {}).find(([, tool]) => (tool.allow ?? []).length > 0)?.[0];
  const allow = net?.allow?.[0] ?? (ofTool === undefined ? undefined : tools?.[ofTool]?.allow?.[0]);
  const program = exec?.programs?.[0];
  const conflict = (part: string, message: string): void => {
    report(problem("SCOPE-CONFLICT", [...path, part, "mode"], message, "write `mode: list`, or remove the list"));
  };
  if (net?.mode === "none" && allow !== undefined) conflict("net", `\`net\` is none and allows ${quoted(allow)}`);
  if (exec?.mode === "none" && program !== undefined) conflict("exec", `\`exec\` is none and lists ${quoted(program)}`);
  const idle = (part: string, mode: string): void => {
    const message = `the list of \`${part}\` says nothing while its mode is ${mode}`;
    report(information("SCOPE-IDLE", [...path, part], message, "write `mode: list`, or remove the list"));
  };
  if (net?.mode === "open" && allow !== undefined) idle("net", "open");
  if (exec?.mode === "any" && program !== undefined) idle("exec", "any");
}

export type Conflict = { readonly part: readonly string[]; readonly message: string; readonly remedy: string };

/** What the layers of one order come to together. */
export function conflictsOf(order: IsolationOrder, require: IsolationTier): readonly Conflict[] {
  const found: Conflict[] = [];
  const { workspace } = order.scope.files;
  if (workspace.mode === "direct" && workspace.commit !== "allow") {
    const message = `writes go into the workspace itself, so \`commit: ${workspace.commit}\` cannot keep them back`;
    found.push({ part: ["files", "workspace"], message, remedy: "write `mode: overlay`, or `commit: allow`" });
  }
  if (order.scope.net.mode === "open" && tierHasNetwork(require)) {
    const message = `\`net: open\` takes the server out of tier ${require}, which is required`;
    found.push({ part: ["net"], message, remedy: "list its hosts in `net.allow`, or write `require: B`" });
  }
  if (order.mode === "off" && require !== "none") {
    const message = `it runs bare by \`backend: off\`, and tier ${require} is required`;
    found.push({ part: ["backend"], message, remedy: "write `backend: auto`, or `require: none` beside it" });
  }
  return found;
}
