/**
 * The model of docs/semantics.md over plain values, for one hazard and one core: patterns (section 3) and automata
 * (section 5). It is written from that page and shares nothing with the engine but the compiled policy; labels are whole,
 * nothing is projected, nothing merged. It is slow on purpose.
 */
import type { ArgumentContract, ToolContract } from "../../../src/core/contract.ts";
import { mayCover, mustCover } from "../../../src/core/effect.ts";
import type { DataAtom, Hazard, Ir, KeySpec, LabelAtom, Pattern, Rule, Temporal } from "../../../src/policy/ir/ir.ts";
import { nameMatches } from "../../../src/policy/semantics/patterns.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";

export type Store = { readonly label: number; readonly audience: number; readonly open: number };

/** `pending`: calls on their way whose success would unlock the automaton, two meaning two or more. */
export type AutomatonState = { readonly bits: readonly boolean[]; readonly pending: number };

export type State = {
  /** Every label that the run may hold a value of, ascending. */
  readonly held: readonly number[];
  readonly stores: readonly Store[];
  readonly automata: readonly AutomatonState[];
};

type Kind = "gate" | "absence" | "immediately" | "at-most" | "owed";
type Followed = Temporal & { readonly kind: Kind };
export type Automaton = { readonly id: string; readonly temporal: Followed; readonly key: KeySpec | undefined };
type PlainRule = Rule & { readonly kind: "plain" };

export type World = {
  readonly subject: Subject;
  readonly ir: Ir;
  readonly hazard: Hazard;
  /** Plain rules of the core. */
  readonly plain: readonly PlainRule[];
  /** Enforced allow rules; only the default looks at them. */
  readonly allows: readonly PlainRule[];
  readonly withDefault: boolean;
  /** Names of arguments that some pattern of the question tells apart; a call may have them whether declared or not. */
  readonly names: readonly string[];
  /** Restrictions that the default looks at in sinks: all, or only those that some pattern of the question speaks of. */
  readonly bounds: number;
  /** Rules first; the hazard's own, if it has one, is the last. */
  readonly automata: readonly Automaton[];
  /** For each automaton that a success can unlock, the first that the same successes unlock: it counts for all of them. */
  readonly waits: readonly (number | undefined)[];
};

export function makeWorld(subject: Subject, hazardId: string, core: Iterable<string>): World {
  const { ir } = subject.policy;
  const hazard = ir.hazards.find((one) => one.id === hazardId);
  if (hazard === undefined) throw new Error(`no hazard ${hazardId}`);
  const ids = new Set(core);
  const enforced = ir.rules.filter((rule) => rule.mode === "enforce");
  const plain = enforced.filter((rule): rule is PlainRule => rule.kind === "plain");
  const key = hazard.kind === "temporal" ? hazard.temporal.key : undefined;
  const automata = enforced
    .filter((rule) => ids.has(rule.id))
    .flatMap((rule) => (rule.kind === "temporal" ? automaton(rule.id, rule.temporal) : []))
    // A rule that follows another key than the hazard, or any where the hazard follows none, is in no core.
    .filter((one) => one.key === undefined || sameKey(one.key, key));
  const own = hazard.kind === "temporal" ? automaton(hazard.id, hazard.temporal) : [];
  const all = [...automata, ...own];
  const causes = all.map(({ temporal, key: each }) => JSON.stringify([triggersOf(temporal).unlocks, each]));
  const parts = {
    ir,
    hazard,
    plain: plain.filter((rule) => rule.tier !== "allow" && ids.has(rule.id)),
    allows: plain.filter((rule) => rule.tier === "allow"),
    automata: all,
  };
  return {
    ...parts,
    subject,
    withDefault: ids.has("default"),
    names: [...new Set(dataAtoms(parts).flatMap(({ names }) => names ?? []))],
    bounds: ids.has("bounds") ? ir.lattice.top : spokenOf(parts),
    waits: all.map(({ temporal }, index) =>
      triggersOf(temporal).unlocks === undefined ? undefined : causes.indexOf(causes[index] ?? ""),
    ),
  };
}

function sameKey(left: KeySpec, right: KeySpec | undefined): boolean {
  return (
    right !== undefined &&
    left.argument === right.argument &&
    left.form === right.form &&
    left.foldLocalPart === right.foldLocalPart
  );
}

type Parts = Pick<World, "ir" | "hazard" | "plain" | "allows" | "automata">;

/** Every pattern of the hazard, of the core, and of the allow rules. */
function patternsOf({ hazard, plain, allows, automata }: Parts): readonly Pattern[] {
  const own = hazard.kind === "flow" ? [hazard.to] : hazard.kind === "call" ? [hazard.call] : [];
  const parts = automata.flatMap(({ temporal }) => Object.values(triggersOf(temporal)));
  return [...own, ...parts.flatMap((one) => one ?? []), ...[...plain, ...allows].map(({ when }) => when)];
}

function dataAtoms(parts: Parts): readonly DataAtom[] {
  const { hazard } = parts;
  return [...(hazard.kind === "flow" ? [hazard.from] : []), ...patternsOf(parts).flatMap(({ data }) => data)];
}

/** Restrictions in all atoms; trust always. */
function spokenOf(parts: Parts): number {
  const bits = (atom: LabelAtom): number => (atom.kind === "atLeast" ? atom.bits : atom.forbidden);
  const atoms = patternsOf(parts).flatMap(({ held, stores }) => [
    ...(held === undefined ? [] : [held]),
    ...stores.flatMap(({ label }) => label ?? []),
  ]);
  return joinOf([...dataAtoms(parts).map(({ atom }) => atom), ...atoms].map(bits)) | parts.ir.lattice.untrustedBit;
}

function automaton(id: string, temporal: Temporal): readonly Automaton[] {
  const none = { predicates: [], data: [], stores: [] };
  switch (temporal.kind) {
    case "gate":
    case "absence":
    case "at-most":
      return [{ id, temporal, key: temporal.key }];
    case "immediately":
    case "owed":
      return [{ id, temporal, key: undefined }];
    case "inject": {
      const { before, server, tool } = temporal;
      // Members in the order in which patterns are compiled, since equal patterns are told by their text.
      const need: Pattern = { tools: [{ server, tool }], ...none };
      return [{ id, temporal: { kind: "gate", before, need, relock: before }, key: undefined }];
    }
    case "by-end": {
      const { after, by, action, key } = temporal;
      return action === "hold" ? [{ id, temporal: { kind: "gate", before: after, need: by }, key }] : [];
    }
    case "budget":
      return [];
  }
}

export function widthOf({ temporal }: Automaton): number {
  switch (temporal.kind) {
    case "gate":
    case "absence":
    case "immediately":
      return 1;
    case "at-most":
      return temporal.count;
    case "owed":
      return temporal.within ?? 1;
  }
}

/** The patterns of an automaton by what they do in the table of section 5. */
export type Triggers = {
  readonly fires: Pattern | undefined;
  readonly arms: Pattern | undefined;
  readonly unlocks: Pattern | undefined;
};

export function triggersOf(temporal: Followed): Triggers {
  switch (temporal.kind) {
    case "gate":
      return { fires: temporal.before, arms: temporal.relock, unlocks: temporal.need };
    case "absence":
      return { fires: temporal.never, arms: temporal.after, unlocks: temporal.until };
    case "immediately":
      return { fires: temporal.before, arms: undefined, unlocks: temporal.need };
    case "at-most":
      return { fires: temporal.of, arms: undefined, unlocks: undefined };
    case "owed":
      return { fires: temporal.before, arms: temporal.after, unlocks: temporal.owe };
  }
}

/** Which of an automaton's patterns a move matches. */
export type Touch = {
  readonly fires: boolean;
  readonly arms: boolean;
  readonly unlocks: boolean;
  /** The automaton is keyed and the key of the call cannot be read: no gate was opened for it. */
  readonly keyless?: true;
};

export const untouched: Touch = { fires: false, arms: false, unlocks: false };

export function fires(
  { temporal }: Automaton,
  bits: readonly boolean[],
  touch: Touch,
  consequential: boolean,
): boolean {
  switch (temporal.kind) {
    case "gate":
    case "immediately":
      return touch.fires && (bits[0] !== true || touch.keyless === true);
    case "absence":
      return touch.fires && bits[0] === true;
    case "at-most":
      return touch.fires && (temporal.count === 0 || bits[temporal.count - 1] === true);
    case "owed": {
      const { within } = temporal;
      const late = within !== undefined && (within === 1 || bits[within - 1] === true);
      return bits[0] === true && consequential && !touch.unlocks && (late || touch.fires);
    }
  }
}

/** A thermometer one higher. */
const oneMore = (bits: readonly boolean[]): readonly boolean[] =>
  bits.map((bit, index) => bit || bits[index - 1] !== false);

export function atDispatch(
  { temporal }: Automaton,
  bits: readonly boolean[],
  touch: Touch,
  how: { readonly consequential: boolean; readonly counts: boolean },
): readonly boolean[] {
  switch (temporal.kind) {
    case "gate":
      return [bits[0] === true && !touch.arms];
    case "absence":
      return [bits[0] === true || touch.arms];
    case "immediately":
      return [false];
    case "at-most":
      return touch.fires && how.counts ? oneMore(bits) : bits;
    case "owed": {
      const [owed = false, ...used] = bits;
      return [owed || touch.arms, ...(owed && how.consequential && !touch.unlocks ? oneMore(used) : used)];
    }
  }
}

/** The automaton after a success that unlocks it. */
export function unlocked({ temporal }: Automaton, bits: readonly boolean[]): readonly boolean[] {
  const open = temporal.kind === "gate" || temporal.kind === "immediately";
  return bits.map(() => open);
}

/** An argument of a move, or several that have one label. */
export type MoveArgument = {
  /** Undefined for what no list of names mentions. */
  readonly name: string | undefined;
  readonly contract: ArgumentContract;
  readonly label: number;
};

export type Move = {
  /** With the case of the class applied. */
  readonly contract: ToolContract;
  /** Absent: a truth that favours the match, for the acts of the host. */
  readonly truths: ReadonlyMap<number, boolean> | undefined;
  readonly arguments: readonly MoveArgument[];
};

/** What patterns look at around a move. */
export type Around = { readonly held: number; readonly stores: readonly Store[] };

export const joinOf = (labels: readonly number[]): number => labels.reduce((all, label) => all | label, 0);

export function atomHolds(atom: LabelAtom, label: number): boolean {
  return atom.kind === "atLeast" ? (label & atom.bits) === atom.bits : (label & atom.forbidden) === 0;
}

export function dataLabel(atom: DataAtom, move: Move): number {
  const concerned = move.arguments.filter(
    ({ name, contract }) =>
      (atom.roles === undefined || contract.role === "unsure" || atom.roles.includes(contract.role)) &&
      (atom.names === undefined || (name !== undefined && atom.names.includes(name))) &&
      (atom.audience === undefined || (contract.audience & atom.audience) !== 0),
  );
  return joinOf(concerned.map(({ label }) => label));
}

export function matches(pattern: Pattern, reads: "restrict" | "permit", move: Move, around: Around): boolean {
  const { contract } = move;
  const { effects, flags, server, tool } = contract;
  const named = (one: { readonly server: string; readonly tool: string }): boolean =>
    nameMatches(one.server, server) && nameMatches(one.tool, tool);
  if (pattern.tools !== undefined && !pattern.tools.some(named)) return false;
  if (pattern.flags?.irreversible === true && !flags.irreversible) return false;
  if (pattern.flags?.openWorld === true && !flags.openWorld) return false;
  const done = (prefix: string): boolean =>
    reads === "restrict" ? mayCover(prefix, effects.may) : mustCover(prefix, effects.must);
  if (pattern.effects !== undefined && !pattern.effects.some(done)) return false;
  if (
    move.truths === undefined ? reads === "permit" && pattern.predicates.length > 0 : !predicatesHold(pattern, move)
  ) {
    return false;
  }
  if (!pattern.data.every((atom) => atomHolds(atom.atom, dataLabel(atom, move)))) return false;
  if (pattern.held !== undefined && !atomHolds(pattern.held, around.held)) return false;
  return pattern.stores.every(({ store, label, audience }) => {
    const at = around.stores[store];
    if (at === undefined) return false;
    if (label !== undefined && !atomHolds(label, at.label)) return false;
    return audience === undefined || (at.audience & audience) !== 0;
  });
}

function predicatesHold(pattern: Pattern, { truths }: Move): boolean {
  return pattern.predicates.every(({ index, holds }) => truths?.get(index) === holds);
}
