/** The section `host`: what the client does by itself, without asking. */
import type { Reporter } from "../document/diagnostic.ts";
import { listOf, sortedWords } from "../document/label-forms.ts";
import { reportStore } from "../document/names.ts";
import { type Infer, type Shape, either, object, oneOf, optional, required } from "../document/shape.ts";
import { words } from "../document/shapes-labels.ts";
import type { HostPowers } from "../ir/ir.ts";
import type { LabelCompiler } from "../ir/label-table.ts";

const capability = either(
  "`gated`, `open` or `{open: ...}`",
  oneOf("capability", ["gated", "open"]),
  object("an open capability", { open: required(words, "audience, or stores") }),
);
export type HostCapability = Infer<typeof capability>;

const section = object("a host section", {
  tools: optional(oneOf("mediation", ["hooks", "none"]), "`hooks`: the client's own tools are mediated"),
  send: optional(capability, "the client's own sending; open to groups"),
  read: optional(capability, "the client's own reading; open for stores"),
  execute: optional(capability, "the client's own execution"),
  sampling: optional(oneOf("answer", ["allow", "refuse"]), "whether servers may use the client's model"),
});
export interface HostSection extends Infer<typeof section> {}
export const shape: Shape<HostSection> = section;

export type HostForm = Required<HostSection>;

export function canonical(host: HostSection): HostForm {
  const listed = (capability: HostCapability = "gated"): HostCapability =>
    typeof capability === "object" ? { open: sortedWords(capability.open) } : capability;
  const { tools = "hooks", send, read, execute, sampling = "refuse" } = host;
  return { tools, send: listed(send), read: listed(read), execute: listed(execute), sampling };
}

/** Stores and groups that a capability names. */
export function openNames(capability: HostCapability): readonly string[] {
  return typeof capability === "object" ? listOf(capability.open) : [];
}

type Scope = { readonly labels: LabelCompiler; readonly stores: readonly string[]; readonly report: Reporter };

export function compile(host: HostForm, scope: Scope): HostPowers {
  // Only `gated` is harmless: a list, even an empty one, opens the capability.
  const execute = host.execute !== "gated";
  for (const name of openNames(host.execute)) scope.labels.groupBits([name], ["host", "execute"]);
  return { send: audience(host.send, scope), read: readable(host.read, scope), execute };
}

function audience(capability: HostCapability, scope: Scope): number {
  if (capability === "gated") return 0;
  const groups = capability === "open" ? ["anyone"] : openNames(capability);
  return scope.labels.groupBits(groups, ["host", "send"]);
}

function readable(capability: HostCapability, scope: Scope): HostPowers["read"] {
  if (capability === "gated") return "gated";
  if (capability === "open") return "everything";
  const indices = new Set<number>();
  for (const name of openNames(capability)) {
    const store = scope.stores.indexOf(name);
    if (store >= 0) indices.add(store);
    else reportStore(name, ["host", "read"], scope);
  }
  return indices.size === 0 ? "gated" : [...indices].toSorted((left, right) => left - right);
}
