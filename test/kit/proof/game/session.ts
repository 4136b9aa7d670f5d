/** A policy with its tools and some runs, through the real engine: what is shown, what a call is told, what a result is. */
import { loadedPolicy } from "../../../../src/app/policy/loaded-policy.ts";
import { sha256 } from "../../../../src/app/policy/policy-source.ts";
import type { ToolContract } from "../../../../src/core/contract.ts";
import type { Decision } from "../../../../src/core/decision.ts";
import type { RunEvent } from "../../../../src/core/event.ts";
import type { Json, JsonObject } from "../../../../src/core/json.ts";
import { begin } from "../../../../src/core/mechanism.ts";
import type { CallMoment, CallOption, ReleaseMoment } from "../../../../src/core/moment.ts";
import type { Run } from "../../../../src/core/run.ts";
import { evolve, step } from "../../../../src/core/step.ts";
import { releaseLabel } from "../../../../src/gateway/decision/release-label.ts";
import type { LoadedPolicy } from "../../../../src/gateway/ports/policy.ts";
import type { PolicyDocument } from "../../../../src/policy/canonical/policy-document.ts";
import { type Q, stateOf } from "../../../../src/policy/semantics/state.ts";
import { digest } from "../../../../src/wire/canonical.ts";
import { subjectOf } from "../random-policy.ts";

/** A tool whose arguments are all required, so that its entry in a list is judged with what they would carry. */
function listed(name: string, labels: { readonly args?: object } | undefined): JsonObject & { readonly name: string } {
  const names = Object.keys(labels?.args ?? {});
  const properties = Object.fromEntries(names.map((one) => [one, { type: "string" }]));
  return { name, inputSchema: { type: "object", properties, required: names } };
}

export class Session {
  readonly policy: LoadedPolicy;
  readonly #contracts = new Map<string, ToolContract>();
  readonly #runs = new Map<string, Run>();
  readonly #sent = new Map<string, CallOption>();
  #at = 1;
  #calls = 0;

  constructor(document: PolicyDocument) {
    const tools = Object.keys(document.labels ?? {});
    const subject = subjectOf(document, tools);
    if (subject === undefined) throw new Error("the policy of the example does not load");
    this.policy = loadedPolicy(subject.policy, "example");
    for (const selector of tools) {
      const [server = "", name = ""] = selector.split(".");
      this.#contracts.set(name, this.policy.contractOfTool(server, listed(name, document.labels?.[selector])));
    }
    this.begin("run");
  }

  begin(run: string): this {
    const [other] = this.#runs.values();
    this.#runs.set(run, begin(this.policy.engine, run, other?.q));
    return this;
  }

  /** The run is closed; what it shared stays. */
  end(run: string): void {
    this.#runs.delete(run);
  }

  q(run = "run"): Q {
    return stateOf(this.#run(run).q);
  }

  /** Puts a run into a state that its calls need not have led to. */
  become(change: (q: Q) => Q, run = "run"): this {
    const before = this.#run(run);
    this.#runs.set(run, { ...before, q: change(stateOf(before.q)) });
    return this;
  }

  fold(event: RunEvent, run = "run"): void {
    const before = this.#run(run);
    const moved = evolve(this.policy.engine, before, event);
    if (!moved.ok) throw new Error(moved.error);
    this.#runs.set(run, moved.value);
    if (!this.policy.sharedChanged(before.q, moved.value.q)) return;
    for (const [name, other] of this.#runs) {
      if (name !== run) this.#runs.set(name, { ...other, q: this.policy.withShared(other.q, moved.value.q) });
    }
  }

  /** Verdicts of a list, by tool. */
  list(run = "run"): Readonly<Record<string, string>> {
    const verdicts = [...this.#contracts].map(
      ([name, contract]) => [name, this.#entry(run, contract).verdict] as const,
    );
    return Object.fromEntries(verdicts);
  }

  #entry(run: string, contract: ToolContract): Decision {
    return decided(step(this.policy.engine, this.#run(run), { kind: "expose", at: this.#at, contract }, new Map()));
  }

  /** What a call would be told; every argument of the tool is given. `others`: what the other runs say is in it. */
  ask(tool: string, run = "run"): Decision {
    const moment = this.#moment(tool);
    const decision = decided(step(this.policy.engine, this.#run(run), moment, new Map()));
    if (decision.verdict !== "allow" || decision.option === undefined) return decision;
    const moved = evolve(this.policy.engine, this.#run(run), this.#allowed(moment, decision.option));
    if (!moved.ok) throw new Error(moved.error);
    for (const [name, other] of this.#runs) {
      if (name === run || !this.policy.sharedChanged(this.#run(run).q, moved.value.q)) continue;
      const { verdict } = this.policy.sharedVerdict(moved.value.q, other.q);
      if (verdict !== "allow") return { ...decision, verdict };
    }
    return decision;
  }

  /** Verdicts of all calls, by tool. */
  calls(run = "run"): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#contracts.keys()].map((tool) => [tool, this.ask(tool, run).verdict]));
  }

  /** Sends a call on its way, whatever is said of it. */
  dispatch(tool: string, run = "run"): string {
    this.#at += 1_000;
    const moment = this.#moment(tool);
    const { option } = decided(step(this.policy.engine, this.#run(run), moment, new Map()));
    if (option === undefined) throw new Error("a call has an option");
    this.fold(this.#allowed(moment, option), run);
    this.#sent.set(moment.call, option);
    return moment.call;
  }

  /** The call ends; the verdict on its result, which is passed on if it is allowed and rejected if not. */
  settle(call: string, run = "run", failed = false): string {
    const option = this.#sent.get(call);
    if (option === undefined) throw new Error(`no call ${call}`);
    const at = this.#at;
    this.fold(failed ? { kind: "failed", at, call, noEffect: false } : { kind: "succeeded", at, call }, run);
    const value: Json = { content: [{ type: "text", text: `result of ${call}, and nothing else at all` }] };
    const { contract } = option;
    const outcome = failed ? ("failed" as const) : ("succeeded" as const);
    const moment: ReleaseMoment = { kind: "release", at: this.#at, call, contract, option, outcome, value };
    const decision = decided(step(this.policy.engine, this.#run(run), moment, new Map()));
    const label = releaseLabel(decision.obligations, contract, option);
    const { server, tool } = contract;
    const event = {
      kind: "released",
      at: this.#at,
      call,
      server,
      tool,
      label: label.range,
      fields: label.fields,
    } as const;
    this.fold(decision.verdict === "allow" ? { ...event, how: "pass", value } : { ...event, how: "reject" }, run);
    return decision.verdict;
  }

  /** A whole call that succeeds. */
  perform(tool: string, run = "run"): string {
    return this.settle(this.dispatch(tool, run), run);
  }

  #run(name: string): Run {
    const run = this.#runs.get(name);
    if (run === undefined) throw new Error(`no run ${name}`);
    return run;
  }

  #moment(tool: string): CallMoment {
    const contract = this.#contracts.get(tool);
    if (contract === undefined) throw new Error(`no tool ${tool}`);
    this.#calls += 1;
    const given: JsonObject = Object.fromEntries([...contract.arguments.keys()].map((name) => [name, "some text"]));
    const call = `c${this.#calls}`;
    const head = { kind: "call" as const, at: this.#at, call, method: "tools/call", contract, arguments: given };
    return { ...head, workspace: [], digest: digest([tool, given], sha256) };
  }

  #allowed({ call, at, method, arguments: given, digest: of }: CallMoment, option: CallOption): RunEvent {
    return { kind: "dispatched", at, call, method, option, arguments: given, digest: of };
  }
}

function decided(found: ReturnType<typeof step>): Decision {
  if (found.kind !== "decided") throw new Error("nothing is asked here");
  return found.decision;
}
