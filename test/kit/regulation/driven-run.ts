/**
 * One run of a random policy, driven through the real engine: calls whose arguments repeat what the run has seen, results
 * that come, fail or never come, also for calls that a person had to consent to, so that unsafe states are met as well.
 */
import fc from "fast-check";
import { engineOf } from "../../../src/app/policy/loaded-policy.ts";
import { sha256 } from "../../../src/app/policy/policy-source.ts";
import { type Regulation, makeRegulation } from "../../../src/app/policy/regulator.ts";
import type { ToolContract } from "../../../src/core/contract.ts";
import type { Decision } from "../../../src/core/decision.ts";
import type { Grant, RunEvent } from "../../../src/core/event.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { type Engine, begin } from "../../../src/core/mechanism.ts";
import type { CallMoment, CallOption } from "../../../src/core/moment.ts";
import type { Run } from "../../../src/core/run.ts";
import { evolve, step } from "../../../src/core/step.ts";
import type { Board } from "../../../src/mechanisms/regulate/game/exposure.ts";
import { closedGame, makeGame } from "../../../src/mechanisms/regulate/game/state-safety.ts";
import { contractOfTool } from "../../../src/policy/contracts/contracts.ts";
import { slotsOf } from "../../../src/policy/semantics/monitors.ts";
import { resultRange, stateOf, type Q } from "../../../src/policy/semantics/state.ts";
import type { Frame } from "../../../src/policy/semantics/transition.ts";
import { makeGoals } from "../../../src/proof/game/goals.ts";
import { watchesOf } from "../../../src/proof/game/watch.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { digest } from "../../../src/wire/canonical.ts";
import { documents } from "../proof/random-policy.ts";
import { hazardDocuments } from "../proof/game/random-hazards.ts";

const valueDigest = (value: Json): string => digest(value, sha256);

const value = fc.oneof(
  fc.constantFrom("v", "w", "a@example.com"),
  fc.nat({ max: 6 }).map((of) => `seen ${of}`),
);

/** A call with arguments, what becomes of it, or time that passes. */
export const operations = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      tool: fc.nat({ max: 3 }),
      given: fc.record({ x: fc.option(value, { nil: undefined }), y: fc.option(value, { nil: undefined }) }),
      ending: fc.constantFrom("succeeded", "succeeded", "failed", "open"),
      consents: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(70_000, 700_000).map((ms) => ({ kind: "wait" as const, ms })) },
);
export type Operation = typeof operations extends fc.Arbitrary<infer One> ? One : never;

/** Policies of every kind, half of them with hosts and channels that act by themselves. */
export const policies = fc.oneof(documents, hazardDocuments);

/** The subject with tools whose every declared argument is required, so that list entries have labels to look at. */
export function requiring(subject: Subject): Subject {
  const contracts = subject.contracts.map((one) => {
    const names = [...one.arguments.keys()];
    const inputSchema = { type: "object", required: names };
    return contractOfTool(subject.policy.table, one.server, { name: one.tool, inputSchema }, valueDigest);
  });
  return { ...subject, contracts };
}

export class DrivenRun {
  readonly board: Board;
  readonly contracts: readonly ToolContract[];
  readonly #rules: Engine;
  readonly #engine: Engine;
  readonly #port: Regulation["port"];
  readonly #seen: string[] = [];
  run: Run;
  at = 1;
  #calls = 0;

  constructor({ policy, contracts }: Subject) {
    const frame: Frame = { ir: policy.ir, slots: slotsOf(policy.ir) };
    const plain = engineOf(frame);
    const watches = watchesOf(policy, frame.slots);
    const goals = makeGoals({ policy, slots: frame.slots, contracts, keeps: [] });
    const game = watches.ok && goals.ok ? makeGame(watches.value, goals.value) : closedGame;
    this.board = { frame, model: plain.model, game };
    this.contracts = contracts;
    this.#rules = plain;
    const { mechanism, port } = makeRegulation(policy, frame, plain.model);
    this.#engine = { ...plain, mechanisms: [...plain.mechanisms, mechanism] };
    this.#port = port;
    this.run = begin(this.#engine, "law", undefined);
  }

  get q(): Q {
    return stateOf(this.run.q);
  }

  /** The call with the arguments that the tool must have, and what the other mechanisms and the core make of it. */
  moment(contract: ToolContract, given: { readonly [name: string]: string | undefined }): CallMoment {
    const text: Record<string, string> = {};
    for (const name of contract.arguments.keys()) text[name] = this.#text(given[name] ?? "v");
    this.#calls += 1;
    return {
      kind: "call",
      at: this.at,
      call: `c${this.#calls}`,
      method: "tools/call",
      contract,
      arguments: text,
      workspace: [],
      digest: valueDigest([contract.tool, text]),
    };
  }

  /** The decision without regulation. */
  ruled(moment: CallMoment): Decision {
    return decided(step(this.#rules, this.run, moment, new Map()));
  }

  /** The list as the whole engine gives it. */
  listed(): readonly string[] {
    const moments = this.contracts.map((contract) => ({ kind: "expose", at: this.at, contract }) as const);
    return moments.map((moment) => decided(step(this.#engine, this.run, moment, new Map())).verdict);
  }

  digest(): string {
    return this.#port.stateDigest(this.run, this.at);
  }

  perform(operation: Operation): void {
    if (operation.kind === "wait") {
      this.at += operation.ms;
      return;
    }
    this.at += 1_000;
    const contract = this.contracts[operation.tool % this.contracts.length];
    if (contract === undefined) return;
    const moment = this.moment(contract, operation.given);
    const decision = decided(step(this.#engine, this.run, moment, new Map()));
    const { option, verdict } = decision;
    if (option === undefined || verdict === "deny") return;
    if (verdict === "confirm") {
      if (!operation.consents) return;
      for (const { facts } of decision.reasons) for (const risk of namesIn(facts["risks"])) this.#accept(risk);
    }
    this.#settle(moment, option, operation.ending);
  }

  #text(one: string): string {
    const [word, index] = one.split(" ");
    return word === "seen" ? (this.#seen[Number(index) % Math.max(1, this.#seen.length)] ?? "v") : one;
  }

  #accept(risk: string): void {
    const space = risk.indexOf(" ");
    const [hazard, move] = [risk.slice(0, space), risk.slice(space + 1)];
    const said = { purpose: "law", principal: "law", expiresAt: Number.MAX_SAFE_INTEGER };
    this.#fold({ kind: "granted", at: this.at, grant: { kind: "accept", hazard, move, ...said } satisfies Grant });
  }

  #settle(moment: CallMoment, option: CallOption, ending: string): void {
    const { call, method, arguments: given, digest: of, contract } = moment;
    this.#fold({ kind: "dispatched", at: this.at, call, method, option, arguments: given, digest: of });
    if (ending === "open") return;
    if (ending === "failed") this.#fold({ kind: "failed", at: this.at, call, noEffect: false });
    else this.#fold({ kind: "succeeded", at: this.at, call });
    const text = `r${sha256(call).slice(0, 20)} ${Object.values(given).map(String).join(" ")}`;
    const content: JsonObject = { content: [{ type: "text", text }] };
    const outcome = ending === "failed" ? ("failed" as const) : ("succeeded" as const);
    const release = { kind: "release", at: this.at, call, contract, option, outcome, value: content } as const;
    const passes = decided(step(this.#engine, this.run, release, new Map())).verdict === "allow";
    const label = resultRange(this.board.frame.ir, this.q, option);
    const { server, tool } = contract;
    const event = { kind: "released", at: this.at, call, server, tool, label, fields: [] } as const;
    if (!passes) return this.#fold({ ...event, how: "reject" });
    this.#fold({ ...event, how: "pass", value: content });
    this.#seen.push(text);
  }

  #fold(event: RunEvent): void {
    const moved = evolve(this.#engine, this.run, event);
    if (moved.ok) this.run = moved.value;
  }
}

function namesIn(fact: string | number | readonly string[] | undefined): readonly string[] {
  return Array.isArray(fact) ? fact : [];
}

function decided(found: ReturnType<typeof step>): Decision {
  if (found.kind !== "decided") throw new Error("nothing is asked here");
  return found.decision;
}
