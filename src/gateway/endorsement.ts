/**
 * *Endorse this value once* (gateway.md 5): instead of approving every call that carries a value, a person raises the
 * trust of that one value, by digest, for the rest of the run. Offered where exactly one argument is the trouble, since
 * endorsing several at once would be approving what nobody looked at.
 */
import type { Role } from "../core/contract.ts";
import { isControl } from "../core/contract.ts";
import type { Decision } from "../core/decision.ts";
import type { Grant } from "../core/event.ts";
import type { LabelRange, Lattice } from "../core/label.ts";
import { exactly, isUntrusted, withTrust } from "../core/label.ts";
import type { ArgumentLabel, CallOption } from "../core/moment.ts";
import type { Call } from "./call.ts";

type Endorsable = { readonly name: string; readonly role: Role; readonly label: ArgumentLabel };

/** Control arguments that may be untrusted, and arguments of which it is not certain who may know them. */
export function endorsableArguments<Q>(call: Call<Q>, decision: Pick<Decision, "option">): readonly Endorsable[] {
  const option = decision.option ?? call.option;
  return option === undefined ? [] : uncertain(call.live.policy.lattice, option);
}

function uncertain(lattice: Lattice, option: CallOption): readonly Endorsable[] {
  const found: Endorsable[] = [];
  for (const [name, label] of option.arguments) {
    const { role } = option.contract.arguments.get(name) ?? option.contract.rest;
    const untrusted = isControl(role) && isUntrusted(lattice, label.range.hi);
    if (untrusted || isVague(lattice, label.range)) found.push({ name, role, label });
  }
  return found;
}

/** Who chose a text is no trouble unless it controls something, so only confidentiality counts here. */
function isVague(lattice: Lattice, { lo, hi }: LabelRange): boolean {
  return withTrust(lattice, lo, "trusted") !== withTrust(lattice, hi, "trusted");
}

/** The grants that the choice means; the call must still be the one that was shown, which its digest says. */
export function valueGrants<Q>(
  call: Call<Q>,
  by: { readonly principal: string; readonly expiresAt: number; readonly approval: string },
): readonly Grant[] {
  const [only, ...others] = endorsableArguments(call, { option: call.option });
  if (only === undefined || others.length > 0) return [];
  const { lattice } = call.live.policy;
  const { range, digest } = only.label;
  const control = isControl(only.role);
  const to: LabelRange = exactly(control ? withTrust(lattice, range.lo, "trusted") : range.lo);
  const purpose = `approval ${by.approval}`;
  const common = {
    digest,
    role: only.role,
    from: range,
    to,
    purpose,
    principal: by.principal,
    expiresAt: by.expiresAt,
  };
  return [{ kind: control ? "endorse" : "declassify", ...common }];
}
