import { describe, expect, it } from "vitest";
import { exactly, type Label } from "../../core/label.ts";
import type { NeverText } from "../../policy/document/shapes-rules.ts";
import { slotsOf } from "../../policy/semantics/monitors.ts";
import { initialState, type Q } from "../../policy/semantics/state.ts";
import { freshCost } from "../prove/fixpoint.ts";
import { debt, openHost } from "../../../test/kit/regulation/documents.ts";
import { type SmallDocument, compiled, SmallRun } from "../../../test/kit/regulation/small-run.ts";
import { type GoalGame, type GoalsRequest, type Lost, makeGoals } from "./goals.ts";

function request(document: SmallDocument, keeps: GoalsRequest["keeps"] = []): GoalsRequest {
  const policy = compiled(document);
  const run = new SmallRun({ ...document, mode: "enforce" });
  const contracts = Object.keys(document.labels ?? {}).map((name) => run.contract(name));
  return { policy, slots: slotsOf(policy.ir), contracts, keeps };
}

function gameOf(document: SmallDocument, keeps: GoalsRequest["keeps"] = []): GoalGame {
  const found = makeGoals(request(document, keeps));
  if (!found.ok || found.value === undefined) throw new Error("there is a game");
  return found.value;
}

const secret = exactly(1 as Label); // the one level bit of the small lattice

/** A state with the debt open, or with private data held. */
function state(document: SmallDocument, { owed, held }: { owed: boolean; held: boolean }): Q {
  const { ir } = compiled(document);
  const slots = slotsOf(ir);
  const q = initialState(ir, slots, undefined);
  const cell = { bits: [true, false, false], since: 0, times: [], amounts: [] };
  const monitors = slots.map(() => new Map(owed ? [["", cell]] : []));
  return { ...q, held: held ? [secret] : [], monitors: { lo: monitors, hi: monitors } };
}

function lost(
  document: SmallDocument,
  at: { owed: boolean; held: boolean },
  accepted: readonly string[] = [],
): readonly Lost[] {
  const q = state(document, at);
  return gameOf(document).lost({ q, end: "hi", at: 0, held: q.held }, new Set(accepted));
}

describe("goals at run time", () => {
  it("there are none where nothing is owed or kept, or the policy only observes", () => {
    expect(makeGoals(request(openHost()))).toEqual({ ok: true, value: undefined });
    expect(makeGoals(request({ ...debt(), mode: "observe" }))).toEqual({ ok: true, value: undefined });
    const watched = debt().rules?.map((rule) => ({ ...rule, mode: "observe" as const })) ?? [];
    expect(makeGoals(request({ ...debt(), rules: watched }))).toEqual({ ok: true, value: undefined });
    const gate = { id: "g", tier: "must", gate: { before: "s.pay", need: "s.notify" }, why: "order" } as const;
    expect(makeGoals(request({ ...debt(), rules: [gate] }))).toEqual({ ok: true, value: undefined });
  });

  it("a debt is out of reach once what it needs is refused for good", () => {
    expect(lost(debt(), { owed: true, held: false })).toEqual([]);
    expect(lost(debt(), { owed: false, held: true })).toEqual([]);
    expect(lost(debt(), { owed: true, held: true })).toEqual([{ names: ["debt say-so"], consentable: false }]);
    expect(lost(debt("may"), { owed: true, held: true })).toEqual([]);
  });

  it("a risk that was accepted is no longer in the way of anything", () => {
    const sending: SmallDocument = { ...debt("may"), host: { send: { open: "anyone" } } };
    const at = { owed: true, held: true };
    expect(lost(sending, at)).toEqual([{ names: ["debt say-so"], consentable: true }]);
    expect(lost(sending, at, ["leak host.send"])).toEqual([]);
    const firm: SmallDocument = { ...debt(), host: { send: { open: "anyone" } } };
    expect(lost(firm, at)).toEqual([{ names: ["debt say-so"], consentable: false }]);
  });

  it("a firm keep names its tool, and one that is not there is out of reach from the start", () => {
    const q = state(debt(), { owed: false, held: false });
    const look = { q, end: "hi", at: 0, held: [] } as const;
    const rules = (debt().rules ?? []).filter(({ tier }) => tier === "allow");
    const document = { ...debt(), rules };
    expect(gameOf(document, [{ server: "s", tool: "notify" }]).lost(look, new Set())).toEqual([]);
    expect(gameOf(document, [{ server: "s", tool: "none" }]).lost(look, new Set())).toEqual([
      { names: ["keep s.none"], consentable: false },
    ]);
  });

  it("rules that block, and what must come first, count; who may be asked does not", () => {
    const block = { id: "no", tier: "block" as const, when: { tool: "s.notify" }, why: "never" };
    const with_ = (rule: NonNullable<SmallDocument["rules"]>[number]): SmallDocument => ({
      ...debt(),
      rules: [...(debt().rules ?? []), rule],
    });
    expect(lost(with_(block), { owed: true, held: false })).toHaveLength(1);
    expect(lost(with_({ ...block, tier: "confirm" }), { owed: true, held: false })).toEqual([]);
    expect(lost(with_({ ...block, mode: "observe" }), { owed: true, held: false })).toEqual([]);
    const keyed = { before: { tool: "s.notify" }, need: { tool: "s.read_medical" }, key: "text" };
    expect(
      lost(with_({ id: "key", tier: "must", gate: keyed, why: "order" }), { owed: true, held: false }),
    ).toHaveLength(1);
  });

  it("no call is counted on that arms a keyed hazard which others can bring about then", () => {
    const sequence = { after: { tool: "s.notify" }, never: { effect: "execute" }, key: "text" };
    const unless = { call: { effect: "execute" }, need: { tool: "s.pay" }, key: "amount" };
    const keyed = (never: NeverText, host: SmallDocument["host"] = {}): SmallDocument => ({
      ...debt(),
      host,
      hazards: { h: { consent: "never", why: "order", never } },
    });
    const at = { owed: true, held: false };
    expect(lost(keyed({ sequence }), at)).toEqual([]);
    expect(lost(keyed({ sequence }, { execute: "open" }), at)).toHaveLength(1);
    expect(lost(keyed({ unless }, { execute: "open" }), at)).toEqual([]);
  });

  it("a result is counted on with the least that it can bring, in its fields as well", () => {
    const check = {
      effects: "read.local",
      rest: { role: "content", sink: false },
      output: { confidentiality: "unsure", trust: "trusted", fields: { "/note": { confidentiality: "unsure" } } },
    } as const;
    const gate = { before: { tool: "s.notify" }, need: { tool: "s.check" } };
    const document: SmallDocument = {
      ...debt(),
      labels: { ...debt().labels, "s.check": check },
      rules: [...(debt().rules ?? []), { id: "checked", tier: "must", gate, why: "checked first" }],
    };
    const q = { ...state(document, { owed: false, held: false }) };
    const cell = { bits: [true, false, false], since: 0, times: [], amounts: [] };
    const monitors = slotsOf(compiled(document).ir).map(({ temporal }) =>
      temporal.kind === "owed" ? new Map([["", cell]]) : new Map<string, typeof cell>(),
    );
    const owing = { ...q, monitors: { lo: monitors, hi: monitors } };
    const look = { q: owing, end: "hi", at: 0, held: [] } as const;
    expect(gameOf(document).lost(look, new Set())).toEqual([]);
    const private_ = { ...check, output: { confidentiality: "private", trust: "trusted" } } as const;
    const surely: SmallDocument = { ...document, labels: { ...document.labels, "s.check": private_ } };
    expect(gameOf(surely).lost(look, new Set())).toHaveLength(1);
  });

  it("a game that is too large is an error when the policy is loaded", () => {
    const small = { ...request(debt()), cost: () => ({ nodesMax: 50, effort: { left: 1_000_000 } }) };
    expect(makeGoals(small)).toMatchObject({ ok: false, error: expect.stringMatching(/limit/) });
    const counting = {
      id: "many",
      tier: "block" as const,
      atMost: { of: { tool: "s.pay" }, count: 1_000 },
      why: "a lot",
    };
    const wide = request({ ...debt(), rules: [...(debt().rules ?? []), counting] });
    expect(makeGoals(wide)).toMatchObject({ ok: false, error: expect.stringMatching(/limit of 1000 bits of state/) });
  });

  it("is solved once for a set of accepted risks, however many sets there were before", () => {
    let made = 0;
    const cost = () => {
      made += 1;
      return freshCost();
    };
    const game = makeGoals({ ...request(debt()), cost });
    if (!game.ok || game.value === undefined) throw new Error("there is a game");
    const look = { q: state(debt(), { owed: false, held: false }), end: "hi", at: 0, held: [] } as const;
    const sets = Array.from({ length: 70 }, (_, index) => new Set([`leak ${index}`]));
    for (const accepted of sets) {
      game.value.lost(look, accepted);
      game.value.lost(look, accepted);
    }
    game.value.lost(look, new Set());
    expect(made).toBe(71);
    // The first of them was forgotten, and is solved again.
    game.value.lost(look, sets[0] ?? new Set());
    expect(made).toBe(72);
  });

  it("what becomes too large with an accepted risk is lost, and is not tried again", () => {
    let made = 0;
    const cost = () => {
      made += 1;
      return made === 1 ? freshCost() : { nodesMax: 50, effort: { left: 1_000_000 } };
    };
    const game = makeGoals({ ...request(debt()), cost });
    if (!game.ok || game.value === undefined) throw new Error("there is a game");
    const q = state(debt(), { owed: false, held: false });
    const look = { q, end: "hi", at: 0, held: [] } as const;
    const accepted = new Set(["leak host.send"]);
    const gone = [{ names: ["debt say-so"], consentable: false }];
    expect(game.value.lost(look, accepted)).toEqual(gone);
    expect(game.value.lost(look, accepted)).toEqual(gone);
    expect(made).toBe(2);
    expect(game.value.lost(look, new Set())).toEqual([]);
  });
});
