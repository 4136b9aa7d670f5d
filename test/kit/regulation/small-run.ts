/** One run under a small policy with everything that decides about it, and a clock that only moves when told. */
import { loadedPolicy } from "../../../src/app/policy/loaded-policy.ts";
import type { ToolContract } from "../../../src/core/contract.ts";
import type { Decision } from "../../../src/core/decision.ts";
import type { Grant, RunEvent } from "../../../src/core/event.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { begin } from "../../../src/core/mechanism.ts";
import type { CallMoment, CallOption, Moment, ReleaseMoment } from "../../../src/core/moment.ts";
import type { Answers, Question, Reason } from "../../../src/core/opinion.ts";
import type { Forecast } from "../../../src/core/questions/prediction.ts";
import type { Run } from "../../../src/core/run.ts";
import { evolve, step } from "../../../src/core/step.ts";
import type { LoadedPolicy } from "../../../src/gateway/ports/policy.ts";
import { contractOfTool } from "../../../src/policy/contracts/contracts.ts";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import { loadPolicy } from "../../../src/policy/load.ts";
import type { CompiledPolicy } from "../../../src/policy/compile/compile.ts";
import type { Ir } from "../../../src/policy/ir/ir.ts";
import { resultRange, stateOf, type Q } from "../../../src/policy/semantics/state.ts";
import { digest } from "../../../src/wire/canonical.ts";
import { sha256 } from "../proof/small.ts";

export type SmallDocument = Omit<PolicyDocument, "version">;

/** A policy over two levels and one trusted server `s`, unless it says otherwise. */
export function compiled(document: SmallDocument): CompiledPolicy {
  const whole: PolicyDocument = {
    version: 1,
    lattice: { confidentiality: ["public", "private"] },
    servers: { s: { trust: "trusted" } },
    ...document,
  };
  const { policy, diagnostics } = loadPolicy(
    { file: "small", document: whole },
    { loader: () => undefined, hash: sha256 },
  );
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  return policy;
}

/** A call that was let through and has no result yet. */
export type Sent = { readonly call: string; readonly contract: ToolContract; readonly option: CallOption };

export class SmallRun {
  readonly policy: LoadedPolicy;
  readonly #compiled: CompiledPolicy;
  readonly ir: Ir;
  readonly #required: readonly string[];
  readonly #contracts = new Map<string, ToolContract>();
  run: Run;
  at = 1;
  /** What every model answers to everything; undefined = nobody is asked. */
  answering: Json | undefined = undefined;
  #calls = 0;

  /** `required` are arguments that every tool that has them must be given. */
  constructor(document: SmallDocument, required: readonly string[] = []) {
    this.#compiled = compiled(document);
    this.ir = this.#compiled.ir;
    this.#required = required;
    this.policy = loadedPolicy(this.#compiled, "small");
    this.run = begin(this.policy.engine, "run", undefined);
    this.fold({ kind: "begun", at: this.at, principal: "p" });
  }

  get q(): Q {
    return stateOf(this.run.q);
  }

  /** The run goes on from its state with other parts. */
  become(parts: Partial<Q>): void {
    this.run = { ...this.run, q: { ...this.q, ...parts } };
  }

  contract(name: string): ToolContract {
    const [server = "", tool = ""] = name.split(".");
    const inputSchema = { type: "object", required: [...this.#required] };
    const hash = (value: Json): string => digest(value, sha256);
    const made =
      this.#contracts.get(name) ?? contractOfTool(this.#compiled.table, server, { name: tool, inputSchema }, hash);
    this.#contracts.set(name, made);
    return made;
  }

  /** The entry of the list. */
  expose(name: string, answers: Answers = new Map()): Decision {
    return this.judge({ kind: "expose", at: this.at, contract: this.contract(name) }, answers);
  }

  /** Those of the tools that are listed. */
  listed(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.expose(name).verdict !== "deny");
  }

  decide(name: string, given: JsonObject = {}, answers: Answers = new Map()): Decision {
    return this.judge(this.moment(name, given), answers);
  }

  /** What has to be asked before the call can be decided. */
  questions(name: string, given: JsonObject = {}): readonly Question[] {
    const found = step(this.policy.engine, this.run, this.moment(name, given), new Map());
    return found.kind === "asking" ? found.questions : [];
  }

  moment(name: string, given: JsonObject = {}): CallMoment {
    return {
      kind: "call",
      at: this.at,
      call: `c${this.#calls}`,
      method: "tools/call",
      contract: this.contract(name),
      arguments: given,
      workspace: [],
      digest: digest([name, given], sha256),
    };
  }

  /** Lets a call through as a person would who consents to everything that is not refused, and takes the risks named. */
  send(name: string, given: JsonObject = {}, forecast?: Forecast): Sent {
    this.#calls += 1;
    const moment = this.moment(name, given);
    const { verdict, option, reasons } = this.judge(moment, new Map());
    if (verdict === "deny" || option === undefined) throw new Error(`${name}: ${JSON.stringify(reasons)}`);
    if (verdict === "confirm")
      for (const { facts } of reasons) for (const risk of namesIn(facts, "risks")) this.accept(risk);
    const { call, method, contract, arguments: all, digest: of } = moment;
    const expected = forecast === undefined ? {} : { forecast };
    this.fold({ kind: "dispatched", at: this.at, call, method, option, arguments: all, digest: of, ...expected });
    return { call, contract, option };
  }

  succeed({ call }: Sent): void {
    this.fold({ kind: "succeeded", at: this.at, call });
  }

  fail({ call }: Sent): void {
    this.fold({ kind: "failed", at: this.at, call, noEffect: false });
  }

  /** What is decided about the result of a call. */
  releasing({ call, contract, option }: Sent, text = "text"): Decision {
    const value: JsonObject = { content: [{ type: "text", text }] };
    const head = { kind: "release", at: this.at, call, contract, option, outcome: "succeeded" } as const;
    const moment: ReleaseMoment = { ...head, value };
    return this.judge(moment, new Map());
  }

  /** What is decided about something that a server says outside any call. */
  unasked(contract: ToolContract): Decision {
    const head = { kind: "release", at: this.at, call: undefined, option: undefined, outcome: "succeeded" } as const;
    return this.judge({ ...head, contract, value: "text" }, new Map());
  }

  pass({ call, contract, option }: Sent, text = "text"): void {
    const { server, tool } = contract;
    const label = resultRange(this.ir, this.q, option);
    const value: JsonObject = { content: [{ type: "text", text }] };
    this.fold({ kind: "released", at: this.at, call, server, tool, how: "pass", label, fields: [], value });
  }

  /** A whole round: sent, succeeded, passed on. */
  call(name: string, given: JsonObject = {}): void {
    const sent = this.send(name, given);
    this.succeed(sent);
    this.pass(sent);
  }

  /** A whole round of which a model expected something. */
  callExpecting(name: string, forecast: Forecast): void {
    const sent = this.send(name, {}, forecast);
    this.succeed(sent);
    this.pass(sent);
  }

  accept(risk: string, expiresAt = Number.MAX_SAFE_INTEGER): void {
    const [hazard = "", ...move] = risk.split(" ");
    const said = { purpose: "test", principal: "p", expiresAt };
    const grant: Grant = { kind: "accept", hazard, move: move.join(" "), ...said };
    this.fold({ kind: "granted", at: this.at, grant });
  }

  fold(event: RunEvent): void {
    const moved = evolve(this.policy.engine, this.run, event);
    if (!moved.ok) throw new Error(moved.error);
    this.run = moved.value;
  }

  /** Decides any moment; a question that nobody answers fails the test. */
  judge(moment: Moment, answers: Answers = new Map()): Decision {
    let found = step(this.policy.engine, this.run, moment, answers);
    if (found.kind === "asking" && this.answering !== undefined) {
      const value = this.answering;
      const all = found.questions.map((question) => [question.key, { kind: "known", question, value }] as const);
      found = step(this.policy.engine, this.run, moment, new Map(all));
    }
    if (found.kind !== "decided") throw new Error(`asks: ${JSON.stringify(found.questions)}`);
    return found.decision;
  }
}

export function namesIn(facts: Reason["facts"], name: string): readonly string[] {
  const found = facts[name];
  return Array.isArray(found) ? found : [];
}

/** The verdict and the codes of what decided it, in a line. */
export function told({ verdict, reasons }: Decision): string {
  return [verdict, ...new Set(reasons.map(({ code }) => code))].join(" ");
}
