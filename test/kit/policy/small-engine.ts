// The smallest engine: a tool without effects, one call of it, a model that counts events, and mechanisms made of one function.
import type { ToolContract } from "../../../src/core/contract.ts";
import type { Label } from "../../../src/core/label.ts";
import { type Engine, type Mechanism, type Model, begin, seal } from "../../../src/core/mechanism.ts";
import type { CallMoment, Moment } from "../../../src/core/moment.ts";
import { type Answer, type Answers, type Question, type Reason, noObjection } from "../../../src/core/opinion.ts";
import { err, ok } from "../../../src/core/result.ts";
import { type Step, step } from "../../../src/core/step.ts";
import type { ModelState } from "../../../src/core/run.ts";

const nothing = 0 as Label;

export const contract: ToolContract = {
  server: "s",
  tool: "t",
  toolDigest: undefined,
  source: "operator",
  effects: { must: [], may: [] },
  flags: { irreversible: false, openWorld: false },
  arguments: new Map(),
  rest: { role: "content", sink: false, audience: 0, forbidden: nothing, schemaValues: [] },
  output: { label: { lo: nothing, hi: nothing }, fields: [] },
  cases: [],
  reads: [],
  writes: [],
  opens: [],
  consequential: false,
};

export const call: CallMoment = {
  kind: "call",
  at: 1,
  call: "c1",
  method: "tools/call",
  contract,
  arguments: { a: 1 },
  workspace: [],
  digest: "d",
};

type Counted = ModelState & { readonly count: number };

/** A state of the smallest model: how many events there were. */
export function counted(count: number): ModelState {
  return { count } as Counted;
}

export const model: Model = {
  initial: (shared) => shared ?? counted(0),
  classify: () => ({ server: "s", tool: "t", truths: new Map(), keys: new Map(), amounts: new Map() }),
  unknownLabels: () => new Map([["a", { range: { lo: nothing, hi: nothing }, digest: "x", path: [] }]]),
  next: (q, event) => (event.kind === "ended" ? err("no move") : ok(counted((q as Counted).count + 1))),
};

export function question(id: string, asks: "required" | "advisory"): Question {
  const common = { key: `q:${id}`, mechanism: id, kind: "test", content: null };
  return asks === "required"
    ? { ...common, mode: "required", unavailable: "deny" }
    : { ...common, mode: "advisory", without: "confirm" };
}

/** A mechanism that objects to nothing, but for what is said otherwise. */
export function mechanism(id: string, part: Partial<Mechanism<number>> = {}): Mechanism<number> {
  return {
    id,
    version: 1,
    initial: () => 0,
    remember: (memory) => memory,
    consider: () => noObjection,
    ...part,
  };
}

export function engineOf(...mechanisms: readonly Mechanism<number>[]): Engine {
  return { model, mechanisms: mechanisms.map((one) => seal(one)) };
}

export function stepOf(engine: Engine, answers: Answers = new Map(), moment: Moment = call): Step {
  return step(engine, begin(engine, "r", undefined), moment, answers);
}

export function reason(part: Partial<Reason> = {}): Reason {
  return { mechanism: "m", code: "SG-TEST", verdict: "deny", facts: {}, ...part };
}

/** Answers to questions, all known or all unavailable. */
export function answersTo(questions: readonly Question[], kind: Answer["kind"]): Answers {
  return new Map(
    questions.map((asked): [string, Answer] => [
      asked.key,
      kind === "known" ? { kind, question: asked, value: null } : { kind, question: asked, cause: "down" },
    ]),
  );
}
