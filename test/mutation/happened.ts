/**
 * Whether a hazard happened, told from what the servers got and the outsider read, and from nothing that the gateway
 * says: secrets are found by their planted texts, orders and numbers by counting what arrived.
 */
import type { Json } from "../../src/core/json.ts";
import {
  type DataAtom,
  type Hazard,
  type KeySpec,
  type LabelAtom,
  type Pattern,
  contractFor,
} from "../../src/policy/ir/ir.ts";
import { staticMatch } from "../../src/policy/semantics/patterns.ts";
import { canonicalKeys } from "../../src/policy/values/canonical-value.ts";
import { pointerValue } from "../../src/policy/values/pointer.ts";
import type { Planting } from "./planting.ts";
import type { Reached, World } from "./world.ts";

type Seen = { readonly world: World; readonly planting: Planting };

export function happened(hazard: Hazard, seen: Seen): boolean {
  const { reached, readings } = seen.world;
  switch (hazard.kind) {
    case "flow": {
      const sent = reached.some(
        (call) => matches(seen, hazard.to, call, "restrict") && carries(seen, hazard.from, call),
      );
      return sent || readings.some(({ label }) => holds(hazard.from.atom, label));
    }
    case "call":
      return reached.some((call) => matches(seen, hazard.call, call, "restrict"));
    case "temporal":
      return reached.some((call, index) =>
        outOfOrder(seen, hazard.temporal, { call, before: reached.slice(0, index) }),
      );
  }
}

type Moment = { readonly call: Reached; readonly before: readonly Reached[] };

function outOfOrder(
  seen: Seen,
  temporal: (Hazard & { readonly kind: "temporal" })["temporal"],
  { call, before }: Moment,
): boolean {
  const { key, withinMs = Number.POSITIVE_INFINITY } = temporal;
  const earlier = before.filter((one) => one.run === call.run && sameKeys(key, one, call));
  const recent = (time: number | undefined): time is number => time !== undefined && call.at - time <= withinMs;
  switch (temporal.kind) {
    case "gate": {
      if (!matches(seen, temporal.before, call, "restrict")) return false;
      const { relock } = temporal;
      const locked = earlier.findLastIndex((one) => relock !== undefined && matches(seen, relock, one, "restrict"));
      return !earlier
        .slice(locked + 1)
        .some((one) => recent(one.doneAt) && matches(seen, temporal.need, one, "permit"));
    }
    case "absence": {
      if (!matches(seen, temporal.never, call, "restrict")) return false;
      const { until } = temporal;
      return earlier.some((one) => {
        if (!recent(one.at) || !matches(seen, temporal.after, one, "restrict")) return false;
        const ended = earlier.some(
          ({ doneAt }, index) =>
            until !== undefined &&
            doneAt !== undefined &&
            index > earlier.indexOf(one) &&
            matches(seen, until, earlier[index] ?? one, "permit"),
        );
        return !ended;
      });
    }
    case "at-most": {
      if (!matches(seen, temporal.of, call, "restrict")) return false;
      const counted = earlier.filter((one) => recent(one.at) && matches(seen, temporal.of, one, "restrict"));
      return counted.length >= temporal.count;
    }
  }
}

function sameKeys(key: KeySpec | undefined, one: Reached, call: Reached): boolean {
  if (key === undefined) return true;
  const keysOf = (reached: Reached): readonly string[] =>
    canonicalKeys(key.form, pointerValue(reached.arguments, key.argument), { foldLocalPart: key.foldLocalPart }) ?? [];
  const wanted = keysOf(call);
  return wanted.length > 0 && wanted.every((each) => keysOf(one).includes(each));
}

function matches(seen: Seen, pattern: Pattern, call: Reached, polarity: "restrict" | "permit"): boolean {
  if (pattern.stores.length > 0) throw new Error("a pattern on stores is not judged from what arrives");
  return (
    staticMatch(pattern, contractFor(call.contract, call.truths), polarity, "hi") &&
    pattern.predicates.every(({ index, holds: wanted }) => call.truths.get(index) === wanted) &&
    pattern.data.every((atom) => carries(seen, atom, call)) &&
    (pattern.held === undefined || holds(pattern.held, call.held))
  );
}

/** The secrets in the arguments that an atom selects have its restrictions. */
function carries({ planting }: Seen, { atom, roles, names, audience }: DataAtom, call: Reached): boolean {
  const selected = Object.entries(call.arguments).filter(([name]) => {
    const contract = call.contract.arguments.get(name) ?? call.contract.rest;
    return (
      (names === undefined || names.includes(name)) &&
      (roles === undefined || contract.role === "unsure" || roles.includes(contract.role)) &&
      (audience === undefined || (contract.audience & audience) !== 0)
    );
  });
  return holds(atom, planting.labelIn(selected.map(([, value]): Json => value)));
}

function holds(atom: LabelAtom, label: number): boolean {
  return atom.kind === "atLeast" ? (atom.bits & ~label) === 0 : (atom.forbidden & label) === 0;
}
