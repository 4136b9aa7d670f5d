/**
 * What really happened in one run, with true labels: whether a hazard has come about (R4). It knows nothing of what the
 * gateway computed; labels are those of the secrets that were planted, and time and successes are real.
 */
import { type Around, type Automaton, type Move, type Store, type World, untouched } from "./explicit-model.ts";
import { isBadAct, hostActs } from "./explicit-environment.ts";
import { type KeyRelation, isBad, touchOf } from "./explicit-moves.ts";

/** Truth about the automaton of a temporal hazard: when it was armed, opened, or counted. */
type Record = { since: number | undefined; readonly times: number[] };

export class TrueHistory {
  readonly #world: World;
  readonly #automaton: Automaton | undefined;
  readonly #record: Record = { since: undefined, times: [] };

  constructor(world: World) {
    this.#world = world;
    this.#automaton = world.automata.find(({ id }) => id === world.hazard.id);
  }

  /** Whether this dispatch is a bad move; it is taken into account for later ones. `counts`: it has an effect at all. */
  dispatch(
    move: Move,
    around: Around,
    how: { readonly key: KeyRelation; readonly at: number; readonly counts: boolean },
  ): boolean {
    const automaton = this.#automaton;
    if (automaton === undefined) return isBad(this.#world, move, around);
    const { key, at } = how;
    // Which key an unreadable one was is not known: it is taken for another.
    const touch =
      key === "unreadable" && automaton.key !== undefined ? untouched : touchOf(automaton, key, move, around);
    const bad = how.counts && touch.fires && this.#refuses(automaton, at);
    if (touch.arms) this.#record.since = at;
    if (touch.fires && automaton.temporal.kind === "at-most" && how.counts) this.#record.times.push(at);
    return bad;
  }

  /** The call has succeeded. */
  succeeded(move: Move, around: Around, how: { readonly key: KeyRelation; readonly at: number }): void {
    const automaton = this.#automaton;
    if (automaton === undefined || how.key === "unreadable") return;
    if (!touchOf(automaton, how.key, move, around).unlocks) return;
    this.#record.since = automaton.temporal.kind === "absence" ? undefined : how.at;
  }

  /** What readers of opened stores, and an open host, can do now that would be bad. */
  actsBadly(around: Around & { readonly stores: readonly Store[] }, at: number): boolean {
    const automaton = this.#automaton;
    const bits = automaton === undefined ? [] : this.#bits(automaton, at);
    return hostActs(this.#world, around).some((act) => isBadAct(this.#world, act, { around, bits }));
  }

  #refuses(automaton: Automaton, at: number): boolean {
    const { temporal } = automaton;
    const bits = this.#bits(automaton, at);
    if (temporal.kind === "gate") return bits[0] !== true;
    return temporal.kind === "at-most" ? bits[temporal.count - 1] === true : bits[0] === true;
  }

  #bits({ temporal }: Automaton, at: number): readonly boolean[] {
    const window = "withinMs" in temporal ? (temporal.withinMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    const { since, times } = this.#record;
    if (temporal.kind !== "at-most") return [since !== undefined && at - since < window];
    const recent = times.filter((time) => at - time < window).length;
    return Array.from({ length: temporal.count }, (_, index) => index < recent);
  }
}
