// What must have happened by the end of a run (docs/semantics.md 5), against the meaning read off the whole history: each
// call of `after` is met by a success of `by` for its key that was sent later. Calls overlap, fail, or have no answer.
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeSequence, openDebts } from "../../src/mechanisms/sequence/sequence.ts";
import type { Temporal } from "../../src/policy/ir/ir.ts";
import type { Q } from "../../src/policy/semantics/state.ts";
import type { Frame } from "../../src/policy/semantics/transition.ts";
import { contract, dispatch, frameOf, must, option, rule, start, tool } from "../kit/policy/scene.ts";

const del = contract("del", { does: ["write.local"] });
const log = contract("log", { does: ["write.local"] });

/** `del`: asked for, and sent where nothing holds it. An ending settles the oldest log that has none yet. */
type Op = { readonly kind: "del" | "log" | "succeeds" | "fails"; readonly keys: readonly string[] };
const keys = fc.uniqueArray(fc.constantFrom("x", "y"), { maxLength: 2 });
const op: fc.Arbitrary<Op> = fc.record({
  kind: fc.constantFrom("del", "log", "log", "succeeds", "succeeds", "fails"),
  keys,
});
const history = fc.array(op, { maxLength: 12 });

const key = { argument: "id", form: "id", foldLocalPart: false } as const;
const frameWith = (action: "report" | "hold", keyed: boolean): Frame => {
  const temporal: Temporal = { kind: "by-end", after: tool("del"), by: tool("log"), action, ...(keyed ? { key } : {}) };
  return frameOf({ rules: [rule("R", { tier: "must", temporal })] });
};

type Asked = { readonly at: number; readonly keys: readonly string[] };
type Logged = Asked & { readonly call: string; success: boolean };

/** What happened: the model plays it, and the reference looks at it as a whole. */
class Played {
  readonly asked: Asked[] = [];
  readonly logged: Logged[] = [];
  readonly #open: Logged[] = [];
  readonly #frame: Frame;
  readonly #keyed: boolean;
  q: Q;

  constructor(frame: Frame, keyed: boolean) {
    this.#frame = frame;
    this.#keyed = keyed;
    this.q = start(frame);
  }

  /** `sends`: a call of `del` is dispatched at once. Gives the place in the state at which one is asked for. */
  play({ kind, keys: own }: Op, at: number, sends: boolean): void {
    const one = { at, keys: this.#keyed ? own : ["all"] };
    const send = (of: typeof del) => dispatch(this.#frame, this.q, option(of, {}, { keys: { R: own } }), at);
    if (kind === "del") {
      this.asked.push(one);
      if (sends) this.q = send(del).q;
    } else if (kind === "log") {
      const sent = send(log);
      this.q = sent.q;
      const logged = { ...one, call: sent.call, success: false };
      this.logged.push(logged);
      this.#open.push(logged);
    } else this.#ends(kind === "succeeds", at);
  }

  #ends(success: boolean, at: number): void {
    const first = this.#open.shift();
    if (first === undefined) return;
    first.success = success;
    const how = success ? ({ kind: "succeeded" } as const) : ({ kind: "failed", noEffect: false } as const);
    this.q = must(this.#frame, this.q, { at, call: first.call, ...how });
  }

  /** Each key of the call has a success that was sent after it; a call without a key has none. */
  isMet({ at, keys: own }: Asked): boolean {
    const has = (one: string): boolean =>
      this.logged.some((logged) => logged.success && logged.at > at && logged.keys.includes(one));
    return own.length > 0 && own.every(has);
  }
}

it("law: a debt is open at the end iff some call that made one was not met since", () => {
  fc.assert(
    fc.property(fc.boolean(), history, (keyed, ops) => {
      const frame = frameWith("report", keyed);
      const played = new Played(frame, keyed);
      for (const [at, one] of ops.entries()) {
        played.play(one, at, true);
        const owes = openDebts(frame, played.q, at).length > 0;
        expect(owes, `after ${at + 1} of ${JSON.stringify(ops)}`).toBe(
          !played.asked.every((each) => played.isMet(each)),
        );
      }
    }),
  );
});

it("law: a held call may leave iff it was met since it was asked for, whatever was sent before", () => {
  fc.assert(
    fc.property(fc.boolean(), history, (keyed, ops) => {
      const frame = frameWith("hold", keyed);
      const sequence = makeSequence(frame);
      const played = new Played(frame, keyed);
      const since: number[] = [];
      const judge = (own: readonly string[], heldSince?: number) => {
        const head = { kind: "call", at: 99, call: "c", method: "tools/call", contract: del } as const;
        const held = heldSince === undefined ? {} : { heldSince };
        const moment = { ...head, ...held, arguments: {}, workspace: [], digest: "d" };
        const x = option(del, {}, { keys: { R: own } });
        const found = sequence.consider(
          { moment, option: x },
          { key: "r", q: played.q, memories: new Map() },
          null,
          new Map(),
        );
        if (found.kind !== "settled") throw new Error("nothing is asked here");
        const duty = found.obligations[0];
        return { denied: found.verdict === "deny", since: duty?.kind === "hold" ? duty.since : undefined };
      };
      for (const [at, one] of ops.entries()) {
        if (one.kind === "del") {
          const { denied, since: began } = judge(one.keys);
          expect(denied).toBe(keyed && one.keys.length === 0);
          expect(began, "a call of the agent never leaves at once").toBeDefined();
          since.push(began ?? 0);
        }
        played.play(one, at, false);
        for (const [index, each] of played.asked.entries()) {
          const own = keyed ? each.keys : [];
          expect(judge(own, since[index]).since === undefined).toBe(played.isMet(each));
        }
      }
    }),
  );
});
