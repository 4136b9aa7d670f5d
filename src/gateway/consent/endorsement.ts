/**
 * *Endorse this value once* (gateway.md 5): instead of approving every call that carries a value, an approver raises
 * the trust of that one value, by digest, for the rest of the run. Offered where exactly one argument is in doubt,
 * since endorsing several at once would approve values that the approver did not look at. A list is endorsed by its
 * elements: one recipient stays endorsed whatever other recipients later calls name (formal.md annex 5).
 */
import { type ArgumentRole, isControl } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import type { Grant } from "../../core/event.ts";
import { type Json, isArray } from "../../core/json.ts";
import { type LabelRange, type Lattice, exactly, isUntrusted, withTrust } from "../../core/label.ts";
import type { ArgumentLabel } from "../../core/moment.ts";
import { labelsOf } from "../../core/step.ts";
import { canonicalJson } from "../../wire/canonical.ts";
import { type Call, callMoment } from "../decision/call.ts";
import { escapeForDisplay } from "../decision/display-text.ts";

/** One argument, or elements of one that is a list, whose labels are in doubt. */
export type Endorsable = {
  readonly name: string;
  readonly role: ArgumentRole;
  readonly values: readonly DoubtfulValue[];
};

type DoubtfulValue = { readonly label: ArgumentLabel; readonly shown: string };

/**
 * Elements that one card names; a list with more in doubt is endorsed as a whole, since an approver does not read so
 * many.
 */
const elementsMax = 8;

/** Characters of one element on a card; an approver could not tell longer ones apart. */
const elementCharactersMax = 120;

/** The value that an approver could endorse to let the call pass; undefined unless one argument alone is in doubt. */
export function endorsable(call: Call, decision: Pick<Decision, "option">, at: number): Endorsable | undefined {
  const option = decision.option ?? call.option;
  const found: Endorsable[] = [];
  for (const [name, label] of option?.arguments ?? []) {
    const { role } = option?.contract.arguments.get(name) ?? call.contract.rest;
    if (!isDoubtful(call.live.policy.lattice, role, label)) continue;
    const elements = doubtfulElements(call, { name, role }, at);
    found.push({ name, role, values: elements.length > 0 ? elements : [{ label, shown: "" }] });
  }
  return found.length === 1 ? found[0] : undefined;
}

/** The lines of a card that say what the choice means: of which elements of a list it speaks, and what it settles. */
export function endorsementLines({ live }: Call, { name, role, values }: Endorsable): readonly string[] {
  const shown = values.flatMap((value) => (value.shown === "" ? [] : `\`${value.shown}\``));
  const elements =
    shown.length === 0 ? [] : [`In doubt, and trusted from then on if you say so: ${shown.join(", ")} of \`${name}\``];
  const vague = isControl(role) && values.some(({ label }) => isVague(live.policy.lattice, label.range));
  const settled = `Its readers are uncertain: trusting it settles that too, for \`${name}\` in this run`;
  return vague ? [...elements, settled] : elements;
}

/**
 * The grants that the choice means: for what the card spoke of, by digest, and for nothing that is in doubt since. Of
 * confidentiality only the uncertain part goes (formal.md 4.2: consent narrows the value to `lo`), in this role; what
 * is certain stays.
 */
export function valueGrants(
  call: Call,
  by: { readonly principal: string; readonly at: number; readonly expiresAt: number; readonly approval: string },
  spokenOf: readonly string[],
): readonly Grant[] {
  const only = endorsable(call, { option: call.option }, by.at);
  if (only === undefined) return [];
  const { lattice } = call.live.policy;
  const control = isControl(only.role);
  const { principal, expiresAt } = by;
  return only.values.flatMap(({ label: { range, digest } }): readonly Grant[] => {
    if (!spokenOf.includes(digest)) return [];
    const to: LabelRange = exactly(control ? withTrust(lattice, range.lo, "trusted") : range.lo);
    const value = {
      digest,
      role: only.role,
      from: range,
      to,
      purpose: `approval ${by.approval}`,
      principal,
      expiresAt,
    };
    const endorsed: Grant = { kind: "endorse", ...value };
    const declassified: Grant = { kind: "declassify", ...value };
    if (!control) return [declassified];
    const doubted = isUntrusted(lattice, range.hi) ? [endorsed] : [];
    return isVague(lattice, range) ? [...doubted, declassified] : doubted;
  });
}

/** Elements of a list that are in doubt themselves; none where the list as a whole has to be looked at. */
function doubtfulElements(
  call: Call,
  { name, role }: { readonly name: string; readonly role: ArgumentRole },
  at: number,
): readonly DoubtfulValue[] {
  const list = Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined;
  if (!isArray(list)) return [];
  const { lattice } = call.live.policy;
  const found = new Map<string, DoubtfulValue>();
  for (const element of list) {
    const label = labelOf(call, { name, value: element }, at);
    if (label === undefined) return [];
    if (!isDoubtful(lattice, role, label)) continue;
    const shown = escapeForDisplay(typeof element === "string" ? element : canonicalJson(element));
    if (shown === "" || shown.length > elementCharactersMax || found.size >= elementsMax) return [];
    found.set(label.digest, { label, shown });
  }
  return [...found.values()];
}

/** The label that a value would have as its whole argument: the label of one element of a list. */
function labelOf(call: Call, argument: { readonly name: string; readonly value: Json }, at: number) {
  const { live } = call;
  const moment = { ...callMoment(call, at), arguments: { ...call.arguments, [argument.name]: argument.value } };
  const labels = labelsOf(live.policy.engine, live.state, moment);
  return labels.ok ? labels.value.get(argument.name) : undefined;
}

/** Control arguments that may be untrusted, and arguments whose permitted readers are uncertain. */
function isDoubtful(lattice: Lattice, role: ArgumentRole, { range }: ArgumentLabel): boolean {
  return (isControl(role) && isUntrusted(lattice, range.hi)) || isVague(lattice, range);
}

/** The origin of a text matters only where the text controls something, so only confidentiality counts here. */
function isVague(lattice: Lattice, { lo, hi }: LabelRange): boolean {
  return withTrust(lattice, lo, "trusted") !== withTrust(lattice, hi, "trusted");
}
