import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../../core/contract.ts";
import { callsInFlightMax } from "../../../core/limits.ts";
import type { PolicyModel } from "../../../policy/semantics/model.ts";
import { slotsOf } from "../../../policy/semantics/monitors.ts";
import { relevance } from "../../../policy/semantics/relevance.ts";
import { type Q, initialState, stateOf } from "../../../policy/semantics/state.ts";
import { type Frame, next } from "../../../policy/semantics/transition.ts";
import { openHost } from "../../../../test/kit/regulation/documents.ts";
import { type SmallDocument, compiled, SmallRun } from "../../../../test/kit/regulation/small-run.ts";
import type { Board } from "./exposure.ts";
import { type Exposures, makeExposures } from "./exposures.ts";
import type { Game } from "./state-safety.ts";

/** A board whose game counts how often it is asked, and permits nothing while `closed`. */
class CountingBoard {
  asked = 0;
  closed = false;
  readonly frame: Frame;
  readonly exposures: Exposures;
  readonly run: SmallRun;

  constructor(document: SmallDocument = openHost()) {
    const { ir } = compiled(document);
    this.frame = { ir, slots: slotsOf(ir) };
    this.run = new SmallRun(document);
    const relevant = relevance(this.frame);
    const none = (): never => {
      throw new Error("an exposure asks its model for nothing else");
    };
    const model: PolicyModel = {
      relevant,
      initial: none,
      classify: none,
      unknownLabels: none,
      next: (q, event) => next(this.frame, stateOf(q), event),
    };
    const game: Game = {
      trivial: false,
      looksAtHeld: false,
      looksAtHistory: true,
      risks: [],
      safetyOf: () => {
        this.asked += 1;
        return { verdict: this.closed ? "deny" : "allow", looming: [], lost: [] };
      },
    };
    const board: Board = { frame: this.frame, model, game };
    this.exposures = makeExposures({ ...board, digest: (value) => JSON.stringify(value) });
  }

  state(part: Partial<Q> = {}): Q {
    return { ...initialState(this.frame.ir, this.frame.slots, undefined), ...part };
  }

  verdict(q: Q, contract: ToolContract = this.run.contract("s.read_pub"), at = 0): string {
    return this.exposures.of(q, contract, at).verdict;
  }
}

describe("exposures of a state", () => {
  it("are worked out once for each entry while the state stays the same", () => {
    const board = new CountingBoard();
    const q = board.state();
    for (let time = 0; time < 3; time += 1) expect(board.verdict({ ...q }, undefined, time)).toBe("allow");
    expect(board.asked).toBe(1);
    board.verdict(q, board.run.contract("s.mail_out"));
    expect(board.asked).toBe(2);
    board.verdict({ ...q, held: [...q.held] });
    expect(board.asked).toBe(3);
  });

  it("stay known after a step that touches no automaton, and not after one that does", () => {
    const board = new CountingBoard({
      ...openHost(),
      rules: [{ id: "r", tier: "block", atMost: { of: { tool: "s.none" }, count: 1 }, why: "once" }],
    });
    const q = board.state();
    const stepped = { ...q, monitors: { lo: [...q.monitors.lo], hi: [...q.monitors.hi] } };
    board.verdict(q);
    board.verdict(stepped);
    expect(board.asked).toBe(1);
    board.verdict({ ...stepped, monitors: { ...stepped.monitors, hi: [new Map()] } });
    board.verdict({ ...stepped, monitors: { ...stepped.monitors, lo: [] } });
    expect(board.asked).toBe(3);
  });

  it("of a run that has ended, or lost its history, are not those of another", () => {
    const board = new CountingBoard();
    board.closed = true;
    const q = board.state();
    expect(board.verdict(q)).toBe("deny");
    // Nothing is a move of a run that has ended, so there is nothing to stand against.
    expect(board.verdict({ ...q, ended: true })).toBe("allow");
    expect(board.verdict({ ...q, lost: true })).toBe("deny");
    // Both truths of what the policy asks of its arguments were tried, in two of the three.
    expect(board.asked).toBe(4);
  });

  it("are worked out anew where time, a grant, or calls under way may matter", () => {
    const board = new CountingBoard();
    const said = { purpose: "", principal: "p", expiresAt: 10 };
    const granted = board.state({ grants: [{ kind: "accept", hazard: "h", move: "m", ...said }] });
    board.verdict(granted);
    board.verdict(granted);
    board.verdict(granted, undefined, 1);
    board.verdict({ ...granted, grants: [...granted.grants] }, undefined, 1);
    expect(board.asked).toBe(3);
    // A consent to one call says nothing of any list.
    const consented = new CountingBoard();
    const after = consented.state({ grants: [{ kind: "consent", digest: "d", ...said }] });
    consented.verdict(after);
    consented.verdict(after);
    expect(consented.asked).toBe(1);
    const { contract, option } = board.run.send("s.read_any");
    const flight = (count: number): Q["inFlight"] =>
      new Map(
        Array.from({ length: count }, (_, index) => [
          `c${index}`,
          { option, at: 1, number: 1, settled: false, locks: [], overtakenBy: [], brings: contract.output.label },
        ]),
      );
    const waiting = board.state({ inFlight: flight(1) });
    board.verdict(waiting);
    board.verdict(waiting, undefined, 1);
    board.verdict({ ...waiting, inFlight: flight(1) });
    expect(board.asked).toBe(5);
    board.closed = true;
    // One call more would be no move, so nothing can be said of it; nothing of that is remembered.
    const full = board.state({ inFlight: flight(callsInFlightMax), held: [option.contract.output.label] });
    expect(board.verdict(full)).toBe("allow");
    expect(board.verdict({ ...full, inFlight: new Map() })).toBe("deny");
    const timed = new CountingBoard({
      ...openHost(),
      rules: [{ id: "r", tier: "block", atMost: { of: { tool: "s.none" }, count: 1, within: "1m" }, why: "slowly" }],
    });
    const q = timed.state();
    timed.verdict(q);
    timed.verdict(q);
    timed.verdict(q, undefined, 1);
    expect(timed.asked).toBe(2);
  });

  it("regression: are not those of a run in which what locks is under way, which keeps a call from unlocking", () => {
    const gate = { before: { tool: "s.none" }, need: { tool: "s.read_pub" }, unless: { tool: "s.read_any" } };
    const board = new CountingBoard({ ...openHost(), rules: [{ id: "r", tier: "must", gate, why: "first" }] });
    const { contract, option } = board.run.send("s.read_any");
    const held = [contract.output.label];
    const sent = { option, at: 1, number: 1, overtakenBy: [], brings: contract.output.label };
    const flying = (settled: boolean): Q["inFlight"] =>
      new Map([["c", { ...sent, settled, locks: [{ slot: 0, keys: [""] }] }]]);
    const still = board.state({ held });
    for (const inFlight of [new Map(), flying(true), flying(false), flying(false)])
      board.verdict({ ...still, inFlight });
    expect(board.asked).toBe(3);
  });

  it("of old states, and of more entries than any list has, are forgotten", () => {
    const board = new CountingBoard();
    const states = Array.from({ length: 17 }, () => board.state({ held: [] }));
    for (const q of states) board.verdict(q);
    expect(board.asked).toBe(17);
    board.verdict(states[16] ?? board.state());
    expect(board.asked).toBe(17);
    board.verdict(states[0] ?? board.state());
    expect(board.asked).toBe(18);
    const contract = board.run.contract("s.read_pub");
    const q = states[0] ?? board.state();
    for (let made = 0; made < 4_096; made += 1) board.verdict(q, { ...contract, required: [`r${made}`] });
    const before = board.asked;
    board.verdict(q);
    expect(board.asked).toBe(before + 1);
  });
});
