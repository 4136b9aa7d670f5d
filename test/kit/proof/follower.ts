/**
 * Follows a real run in the explicit model (R3 of formal.md 4.4): for every event it takes the moves of the model that
 * the event is, and checks that they exist and that the model stays at most as restricted as the run. Whoever is more
 * restricted may do less, so whatever the real run is let do, the model has done.
 */
import { expect } from "vitest";
import type { CallOption } from "../../../src/core/moment.ts";
import { contractFor } from "../../../src/policy/ir/ir.ts";
import { slotsOf } from "../../../src/policy/semantics/monitors.ts";
import { type Q, globalKey, stateOf, viewAt } from "../../../src/policy/semantics/state.ts";
import { environment, lateSuccesses, tick, windowOf } from "./explicit-environment.ts";
import { type Automaton, type State, type Store, type World, joinOf } from "./explicit-model.ts";
import {
  type KeyRelation,
  afterDispatch,
  argumentsOf,
  choicesOf,
  joins,
  judge,
  read,
  startOf,
  withHeld,
} from "./explicit-moves.ts";
import { type Explorer, textOf } from "./explicit.ts";
import type { ModelState } from "../../../src/core/run.ts";

/** The one key that the model follows. */
export const followedKey = "v";

export class Follower {
  readonly explorer: Explorer;
  state: State;

  constructor(explorer: Explorer) {
    this.explorer = explorer;
    this.state = startOf(explorer.world);
  }

  get #world(): World {
    return this.explorer.world;
  }

  /** A call that the gateway has let through, and the labels that its result may bring. That it will fail without effect is chosen here, though it shows later. */
  dispatch(option: CallOption, observed: boolean, counts: boolean): readonly number[] {
    this.#hostReads();
    const world = this.#world;
    const contract = contractFor(option.contract, option.class.truths);
    const choices = choicesOf(world, this.state.held);
    const known = argumentsOf(world, contract).map(({ name }) => name);
    const given = argumentsOf(world, contract).map((argument) => ({
      ...argument,
      label: joinOf(
        [...option.arguments].flatMap(([name, { range }]) => {
          const mine = argument.name === undefined ? !known.includes(name) : name === argument.name;
          return mine ? [range.hi] : [];
        }),
      ),
    }));
    // R1: the agent of the model can give these very labels.
    for (const argument of given) expect(choices).toContain(argument.label);
    const one = { contract, truths: option.class.truths, key: relationOf(world, option), observed };
    const reading = read(world, one, given, this.state);
    expect(judge(world, reading, this.state).permitted, `the model permits ${contract.tool}`).toBe(true);
    this.state = afterDispatch(world, reading, this.state, { counts, succeeds: false, labels: [] });
    return [...reading.whole, ...reading.fields];
  }

  /** A success: what the gateway itself had to call first keeps no state in the run, so the model moves here. */
  succeeded({ contract }: CallOption): void {
    const world = this.#world;
    for (const rule of world.ir.rules) {
      if (rule.kind !== "temporal" || rule.temporal.kind !== "inject") continue;
      if (rule.temporal.server !== contract.server || rule.temporal.tool !== contract.tool) continue;
      const index = world.automata.findIndex(({ id }) => id === rule.id);
      this.state = lateSuccesses(world, world.waits[index] ?? index, this.state).at(-1) ?? this.state;
    }
  }

  /** The result of a call, with what it could bring when it was decided, however late it comes. */
  result(brings: readonly number[]): void {
    this.state = { ...this.state, held: withHeld(this.state.held, brings) };
  }

  /** A release outside of any call. */
  speak(): void {
    const spoken = environment(this.#world, this.state)[0];
    if (spoken !== undefined) this.state = spoken;
  }

  /** Another run changed the stores: one of its calls can have done so. */
  others(stores: readonly Store[]): void {
    const found = this.explorer.otherRuns(this.state);
    const texts = found?.map((one) => textOf({ held: [], stores: one, automata: [] }));
    const text = textOf({ held: [], stores, automata: [] });
    const same = text === textOf({ ...this.state, held: [], automata: [] });
    if (texts !== undefined && !same) expect(texts).toContain(text);
    this.state = { ...this.state, stores };
  }

  /** The label of something released is one that the model holds the parts of (R2). */
  covers(label: number): boolean {
    const { untrustedBit } = this.#world.ir.lattice;
    const { held } = this.state;
    const tainted = (joinOf(held) & untrustedBit) !== 0;
    if ((label & untrustedBit) !== 0 && !tainted) return false;
    return joins(held.map((one) => one & ~untrustedBit)).includes(label & ~untrustedBit);
  }

  /** Lets time and late successes happen until the model is at most as restricted as the run; they must suffice. */
  catchUp(state: ModelState, at: number): void {
    const q = stateOf(state);
    const world = this.#world;
    for (let round = 0; round < 20; round += 1) {
      const ahead = world.automata.findIndex((automaton, index) => this.#isAhead(automaton, index, q, at));
      const automaton = world.automata[ahead];
      if (automaton === undefined) break;
      const late = lateSuccesses(world, world.waits[ahead] ?? ahead, this.state).at(-1);
      const ticked = windowOf(automaton) === undefined ? undefined : tick(world, automaton, ahead, this.state);
      const next =
        automaton.temporal.kind === "at-most" || this.#expired(automaton) ? (ticked ?? late) : (late ?? ticked);
      if (next === undefined) break;
      this.state = next;
    }
    world.automata.forEach((automaton, index) => {
      expect(this.#isAhead(automaton, index, q, at), `${automaton.id} is ahead of the run`).toBe(false);
    });
    expect(q.stores.map(({ label, audience, open }) => ({ label: label.hi, audience, open }))).toEqual(
      this.state.stores,
    );
    // The client reads an open store whenever it likes, so also after another call has changed it.
    if (q.held.some(({ hi }) => !this.covers(hi))) this.#hostReads();
    for (const { hi } of q.held) expect(this.covers(hi), `the model can hold ${hi}`).toBe(true);
  }

  /** An absence that only time can end: nothing is on its way that would. */
  #expired({ temporal }: Automaton): boolean {
    return temporal.kind === "absence" && temporal.until === undefined;
  }

  /** The model's automaton is more restricted than the run's. */
  #isAhead(automaton: Automaton, index: number, q: Q, at: number): boolean {
    const model = this.state.automata[index]?.bits ?? [];
    const real = this.#realBits(automaton, q, at);
    if (real === undefined) return false;
    const opens = automaton.temporal.kind === "gate" || automaton.temporal.kind === "immediately";
    return model.some((bit, place) => (opens ? !bit && real[place] === true : bit && real[place] !== true));
  }

  /** Bits of the run's own automaton in the model's form; undefined where the run has none of its own. */
  #realBits(automaton: Automaton, q: Q, at: number): readonly boolean[] | undefined {
    const { ir } = this.#world;
    const slots = slotsOf(ir);
    const slot = slots.find(({ id }) => id === automaton.id);
    if (slot === undefined || slot.temporal.kind === "inject") return undefined;
    const see = (key: string): readonly boolean[] =>
      viewAt(ir, slots, q, { end: "hi", at, key: () => key }).monitors[slot.index] ?? [];
    if (slot.temporal.kind === "by-end")
      return [see(automaton.key === undefined ? globalKey : followedKey)[1] === true];
    if (automaton.key === undefined) return see(globalKey);
    const own = see(followedKey);
    // A lock that was armed without a readable key may be meant for this one.
    return automaton.temporal.kind === "absence" ? own.map((bit, place) => bit || see(globalKey)[place] === true) : own;
  }

  /** What an open `host.read` reads is held before anything is decided. */
  #hostReads(): void {
    const { read: reads } = this.#world.ir.host;
    const found = reads === "gated" ? undefined : environment(this.#world, this.state)[1];
    if (found !== undefined) this.state = found;
  }
}

export function relationOf(world: World, option: CallOption): KeyRelation {
  const keyed = world.automata.filter(({ key }) => key !== undefined).map(({ id }) => option.class.keys.get(id));
  const known = keyed.find((keys) => keys !== undefined);
  if (known === undefined || known.includes(followedKey)) return known === undefined ? "other" : "same";
  return known.length === 0 ? "unreadable" : "other";
}
