/**
 * Runs of the real engine with the real mechanisms, against tools that are played here: they return planted secrets and
 * echoes, their stores keep what they are sent, opened stores are read by outsiders. Every event is followed in the
 * explicit model, and every arrival is judged by what was planted.
 */
import { expect } from "vitest";
import { loadedPolicy } from "../../../src/app/policy/loaded-policy.ts";
import { sha256 } from "../../../src/app/policy/policy-source.ts";
import type { Decision } from "../../../src/core/decision.ts";
import type { RunEvent } from "../../../src/core/event.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { begin } from "../../../src/core/mechanism.ts";
import type { CallMoment, CallOption, ReleaseMoment } from "../../../src/core/moment.ts";
import { evolve, step } from "../../../src/core/step.ts";
import { releaseLabel } from "../../../src/gateway/decision/release-label.ts";
import { contractFor } from "../../../src/policy/ir/ir.ts";
import { stateOf } from "../../../src/policy/semantics/state.ts";
import { isObserved, type Subject } from "../../../src/proof/prove/subject.ts";
import { digest } from "../../../src/wire/canonical.ts";
import { type Around, type Move, type Store, joinOf, makeWorld } from "./explicit-model.ts";
import { Explorer } from "./explicit.ts";
import { Follower, relationOf } from "./follower.ts";
import { type Ending, type Member, type Operation, type Sent, mixed } from "./operations.ts";
import { type Value, cook, Planter } from "./planted.ts";
import { coreOf, hazardId } from "./random-policy.ts";
import { TrueHistory } from "./true-history.ts";

const valueDigest = (value: Json): string => digest(value, sha256);

export class Household {
  readonly met = { allowed: 0, refused: 0, released: 0, bad: 0 };
  readonly #subject: Subject;
  readonly #loaded: ReturnType<typeof loadedPolicy>;
  readonly #planter = new Planter();
  readonly #members: readonly Member[];
  /** What the stores really hold, who can really see them, and who really reads on. */
  readonly #texts: { all: number; text: string; initial: string; audience: number; open: number }[];
  #sent: Sent[] = [];
  #at = 1;
  #calls = 0;

  constructor(subject: Subject, runs: number) {
    this.#subject = subject;
    this.#loaded = loadedPolicy(subject.policy, "law");
    const world = makeWorld(subject, hazardId, coreOf(subject));
    const explorer = new Explorer(world);
    this.#members = Array.from({ length: runs }, () => ({
      run: begin(this.#loaded.engine, "law", undefined),
      follower: new Follower(explorer),
      seen: [],
      history: new TrueHistory(world),
    }));
    this.#texts = subject.policy.ir.stores.map(({ initial, audience }) => {
      const { text, all } = this.#planter.plant(initial.hi);
      return { all, text: "", initial: text, audience, open: 0 };
    });
  }

  perform(operation: Operation): void {
    this.#at += 1_000;
    switch (operation.kind) {
      case "call":
        this.#call(operation);
        break;
      case "advance": {
        const sent = this.#sent[operation.which % Math.max(1, this.#sent.length)];
        if (sent !== undefined) this.#advance(sent);
        break;
      }
      case "say":
        this.#say(this.#member(operation.run));
        break;
      case "wait":
        this.#at += operation.ms;
        break;
    }
    for (const { run, follower, seen, history } of this.#members) {
      follower.catchUp(run.q, this.#at);
      if (history.actsBadly(this.#around(seen), this.#at)) this.met.bad += 1;
    }
  }

  #member(index: number): Member {
    const found = this.#members[index % this.#members.length];
    if (found === undefined) throw new Error("there is at least one run");
    return found;
  }

  #call({ run, tool, given, ending, atOnce }: Operation & { readonly kind: "call" }): void {
    const member = this.#member(run);
    const contract = this.#subject.contracts[tool % this.#subject.contracts.length];
    if (contract === undefined) return;
    const values = new Map(
      Object.entries(given).flatMap(([name, recipe]) =>
        recipe === undefined ? [] : [[name, cook(recipe, member.seen, this.#planter)] as const],
      ),
    );
    const text = Object.fromEntries([...values].map(([name, value]) => [name, value.text]));
    const sent = this.#dispatch(member, contract.server, contract.tool, { text, values, ending });
    if (sent === undefined) return;
    for (let stage = 0; atOnce && stage < 3; stage += 1) this.#advance(sent);
  }

  /** Asks the engine; what it lets through is on its way from then on. */
  #dispatch(
    member: Member,
    server: string,
    tool: string,
    {
      text,
      values,
      ending,
    }: { readonly text: JsonObject; readonly values: ReadonlyMap<string, Value>; readonly ending: Ending },
  ): Sent | undefined {
    const contract = this.#subject.contracts.find((one) => one.server === server && one.tool === tool);
    if (contract === undefined) return undefined;
    const call = `c${(this.#calls += 1)}`;
    const head = { kind: "call" as const, at: this.#at, call, method: "tools/call", contract, arguments: text };
    const waiting = `${member.run.key} ${server}.${tool}`;
    const digest = valueDigest([server, tool, text]);
    const moment: CallMoment = { ...head, ...this.#waiting.get(waiting), workspace: [], digest };
    const observed = isObserved(this.#subject, contract);
    let { verdict, option, obligations } = this.#decide(member, moment);
    for (const duty of obligations) if (duty.kind === "hold") this.#waiting.set(waiting, { heldSince: duty.since });
    const mayGo = (): boolean => verdict === "allow" && !obligations.some(({ kind }) => kind === "hold");
    if (!observed && mayGo() && obligations.some(({ kind }) => kind === "perform")) {
      // What had to come first may have changed what this call may do: it is decided again, as the gateway does.
      if (this.#performFirst(member, obligations)) ({ verdict, option, obligations } = this.#decide(member, moment));
      else verdict = "deny";
    }
    const sends = { at: this.#at, call, method: "tools/call", arguments: text, digest };
    const allowed: RunEvent | undefined = option && { kind: "dispatched", option, ...sends };
    if (
      option === undefined ||
      allowed === undefined ||
      (!observed && !(mayGo() && this.#othersStand(member, allowed)))
    ) {
      this.met.refused += 1;
      return undefined;
    }
    this.met.allowed += 1;
    this.#waiting.delete(waiting);
    this.#checkArguments(option, values);
    const move = this.#trueMove(option, values);
    const how = {
      key: relationOf(member.follower.explorer.world, option),
      at: this.#at,
      counts: ending !== "no-effect",
    };
    if (member.history.dispatch(move, this.#around(member.seen), how)) this.met.bad += 1;
    member.follower.catchUp(member.run.q, this.#at);
    const brings = member.follower.dispatch(option, observed, ending !== "no-effect");
    this.#fold(member, allowed);
    const asked = { run: member, call, option, brings, given: text, values, move, ending };
    const sent: Sent = { ...asked, stage: 0, result: undefined };
    this.#sent.push(sent);
    return sent;
  }

  #decide(member: Member, moment: CallMoment): Decision {
    const found = step(this.#loaded.engine, member.run, moment, new Map());
    if (found.kind !== "decided") throw new Error("nothing is asked here");
    return found.decision;
  }

  /** What all runs share may only become what every other run can live with. */
  #othersStand(member: Member, event: RunEvent): boolean {
    const moved = evolve(this.#loaded.engine, member.run, event);
    if (!moved.ok || !this.#loaded.sharedChanged(member.run.q, moved.value.q)) return true;
    return this.#members.every(
      (other) => other === member || this.#loaded.sharedVerdict(moved.value.q, other.run.q).verdict === "allow",
    );
  }

  /** What the gateway itself must call first; false where that is refused. */
  #performFirst(member: Member, obligations: readonly { readonly kind: string }[]): boolean {
    for (const obligation of obligations) {
      if (obligation.kind !== "perform" || !("server" in obligation) || !("tool" in obligation)) continue;
      const { server, tool } = obligation;
      if (typeof server !== "string" || typeof tool !== "string") return false;
      const first = this.#injected(member, server, tool);
      if (!first) return false;
    }
    return true;
  }

  #injected(member: Member, server: string, tool: string): boolean {
    // An injected call that would itself need one is left out: depth 1.
    if (this.#injecting) return false;
    this.#injecting = true;
    const sent = this.#dispatch(member, server, tool, { text: {}, values: new Map(), ending: "succeeded" });
    this.#injecting = false;
    if (sent === undefined) return false;
    for (let stage = 0; stage < 2; stage += 1) this.#advance(sent);
    // The agent did not ask for it and does not get to see it.
    this.#sent = this.#sent.filter((one) => one !== sent);
    const label = sent.option.contract.output.label;
    const head = { at: this.#at, call: sent.call, server, tool, label, fields: [] };
    this.#fold(member, { ...head, kind: "released", how: "reject" });
    member.follower.catchUp(member.run.q, this.#at);
    return true;
  }

  #injecting = false;
  /** Where calls that a rule holds began to wait, by run and tool. */
  readonly #waiting = new Map<string, { readonly heldSince: number }>();

  /** R1: the range of every argument reaches up to what really shaped it. */
  #checkArguments(option: CallOption, values: ReadonlyMap<string, Value>): void {
    for (const [name, value] of values) {
      const range = option.arguments.get(name)?.range;
      expect((range?.hi ?? 0) & this.#truth(value), `label of ${name}`).toBe(this.#truth(value));
    }
  }

  /** What a label must contain: everything in `strict`; in `provenance` trust, and secrets that stand there in clear. */
  #truth({ text, all }: Value): number {
    const { flow, lattice } = this.#subject.policy.ir;
    return flow === "strict" ? all : (all & lattice.untrustedBit) | (this.#planter.clear(text) & ~lattice.untrustedBit);
  }

  #trueMove(option: CallOption, values: ReadonlyMap<string, Value>): Move {
    const contract = contractFor(option.contract, option.class.truths);
    const given = [...values].map(([name, value]) => ({
      name,
      contract: contract.arguments.get(name) ?? contract.rest,
      label: this.#truth(value),
    }));
    return { contract, truths: option.class.truths, arguments: given };
  }

  #around(seen: readonly Value[]): Around & { readonly stores: readonly Store[] } {
    return {
      held: joinOf(seen.map((value) => this.#truth(value))),
      stores: this.#texts.map(({ all, text, initial, audience, open }) => ({
        label: this.#truth({ all, text: `${initial} ${text}` }),
        audience,
        open,
      })),
    };
  }

  #fold(member: Member, event: RunEvent): void {
    const moved = evolve(this.#loaded.engine, member.run, event);
    if (!moved.ok) throw new Error(moved.error);
    const before = member.run.q;
    member.run = moved.value;
    if (!this.#loaded.sharedChanged(before, moved.value.q)) return;
    const known = stateOf(moved.value.q).stores;
    const stores = known.map(({ label, audience, open }) => ({ label: label.hi, audience, open }));
    for (const other of this.#members) {
      if (other === member) continue;
      other.run = { ...other.run, q: this.#loaded.withShared(other.run.q, moved.value.q) };
      other.follower.others(stores);
    }
  }

  #advance(sent: Sent): void {
    const { call, ending, run } = sent;
    const at = this.#at;
    sent.stage += 1;
    if (sent.stage === 1) {
      if (ending !== "no-effect") this.#happen(sent);
      else sent.result = { whole: { text: "no", all: 0 }, field: { text: "no", all: 0 } };
    } else if (sent.stage === 2) {
      if (ending === "succeeded") {
        this.#fold(run, { kind: "succeeded", at, call });
        run.follower.succeeded(sent.option);
        const key = relationOf(run.follower.explorer.world, sent.option);
        run.history.succeeded(sent.move, this.#around(run.seen), { key, at });
      } else if (ending === "failed" || ending === "no-effect") {
        this.#fold(run, { kind: "failed", at, call, noEffect: ending === "no-effect" });
      } else this.#fold(run, { kind: "unknown", at, call, cause: "lost" });
    } else {
      this.#sent = this.#sent.filter((one) => one !== sent);
      if (ending !== "lost") this.#release(sent);
    }
  }

  /** The tool does what it does, and thinks of an answer: its own secrets, what it read, and everything it was sent. */
  #happen(sent: Sent): void {
    const { ir } = this.#subject.policy;
    const contract = contractFor(sent.option.contract, sent.option.class.truths);
    const echo = [...sent.values.values()];
    const sentText = echo.map(({ text }) => text).join(" ");
    const sentLabel = joinOf(echo.map(({ all }) => all));
    const read: Value[] = [];
    const grown: Value[] = [];
    const written: Value[] = [];
    ir.stores.forEach(({ name }, index) => {
      const store = this.#texts[index];
      if (store === undefined) return;
      if (contract.writes.includes(name)) {
        store.text += ` ${sentText}`;
        store.all |= sentLabel;
      }
      const groups = contract.opens.filter((open) => open.store === name).flatMap((open) => open.audience);
      const bits = joinOf(groups.map((group) => 1 << ir.lattice.groups.indexOf(group)));
      store.audience |= bits;
      store.open |= bits;
      if (!contract.reads.includes(name)) return;
      read.push({ text: store.initial, all: ir.stores[index]?.initial.hi ?? 0 });
      grown.push({ text: store.text, all: store.all });
      // The label of a field speaks of how the store began, so that is not in it; what was written since may be.
      written.push(...this.#planter.tokensIn(store.text));
    });
    const own = this.#planter.plant(contract.output.label.hi);
    const [field] = contract.output.fields;
    const inField = field === undefined ? [] : [this.#planter.plant(field.label.hi)];
    sent.result = { whole: mixed([own, ...read, ...grown, ...echo]), field: mixed([...inField, ...written, ...echo]) };
  }

  #release(sent: Sent): void {
    const { option, result, run, call } = sent;
    if (result === undefined) return;
    const { contract } = option;
    const failed = sent.ending === "failed" || sent.ending === "no-effect";
    const content = { content: [{ type: "text", text: result.whole.text }] };
    const value: Json = failed
      ? { ...content, isError: true }
      : { ...content, structuredContent: { f: result.field.text } };
    const outcome = failed ? ("failed" as const) : ("succeeded" as const);
    const moment: ReleaseMoment = { kind: "release", at: this.#at, call, contract, option, outcome, value };
    const label = this.#judged(run, moment);
    const { server, tool } = contract;
    if (label === undefined) {
      const shown = { label: contract.output.label, fields: [] };
      this.#fold(run, { kind: "released", at: this.#at, call, server, tool, how: "reject", ...shown });
      return;
    }
    this.#checkLabel(result.whole, label.range.hi);
    const fields = label.fields.map(({ range }) => range.hi);
    if (!failed) this.#checkLabel(result.field, fields.length === 0 ? label.range.hi : joinOf(fields));
    const event: RunEvent = {
      kind: "released",
      at: this.#at,
      call,
      server,
      tool,
      how: "pass",
      label: label.range,
      fields: label.fields,
      value,
    };
    if (!evolve(this.#loaded.engine, run.run, event).ok) {
      // Others have written meanwhile to what it read: the gateway shows a constant text instead.
      this.#fold(run, { ...event, how: "reject" });
      return;
    }
    run.follower.result(sent.brings);
    this.#fold(run, event);
    run.seen.push(result.whole, ...(failed ? [] : [result.field]));
    this.met.released += 1;
  }

  /** R2: what is released is labelled with all that is in it. */
  #checkLabel(value: Value, hi: number): void {
    expect(hi & this.#truth(value), "label of a result").toBe(this.#truth(value));
  }

  #judged(member: Member, moment: ReleaseMoment): ReturnType<typeof releaseLabel> | undefined {
    const found = step(this.#loaded.engine, member.run, moment, new Map());
    if (found.kind !== "decided") throw new Error("nothing is asked here");
    if (found.decision.verdict !== "allow") return undefined;
    return releaseLabel(found.decision.obligations, moment.contract, moment.option);
  }

  /** A server says something that nobody asked for. */
  #say(member: Member): void {
    const contract = this.#loaded.contractOfMethod("s", "notifications/message");
    const said = this.#planter.plant(contract.output.label.hi);
    const value: Json = { level: "info", data: said.text };
    const moment: ReleaseMoment = {
      kind: "release",
      at: this.#at,
      call: undefined,
      contract,
      option: undefined,
      outcome: "succeeded",
      value,
    };
    const label = this.#judged(member, moment);
    if (label === undefined) return;
    this.#checkLabel(said, label.range.hi);
    member.follower.speak();
    const { server, tool } = contract;
    this.#fold(member, {
      kind: "released",
      at: this.#at,
      call: undefined,
      server,
      tool,
      how: "pass",
      label: label.range,
      fields: label.fields,
      value,
    });
    member.seen.push(said);
  }
}
