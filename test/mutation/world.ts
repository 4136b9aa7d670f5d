/**
 * Stub servers made from manifests and labels behind the real gateway. Each tool answers with its planted secret and with
 * what the stores hold that it reads; every argument that arrives is kept; an outsider reads the stores that are open.
 */
import { loadedPolicy } from "../../src/app/policy/loaded-policy.ts";
import type { ToolContract } from "../../src/core/contract.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../../src/core/json.ts";
import type { LoadedPolicy } from "../../src/gateway/ports/policy.ts";
import { regulateId } from "../../src/mechanisms/regulate/regulate.ts";
import { workspacePredicate } from "../../src/policy/ir/ir.ts";
import type { Subject } from "../../src/proof/prove/subject.ts";
import type { Manifest } from "../../src/proof/prove/table.ts";
import { type FakeClient, type FakeServer, plain, Stage } from "../kit/gateway/playbook.ts";
import { initialize } from "../kit/client/lines.ts";
import { Arguments } from "./arguments.ts";
import { workspace } from "./candidates.ts";
import type { Act } from "./plan.ts";
import type { Planting } from "./planting.ts";

/** A call that a server got. */
export type Reached = {
  readonly run: number;
  readonly contract: ToolContract;
  readonly arguments: JsonObject;
  readonly truths: ReadonlyMap<number, boolean>;
  /** Label of all planted secrets that the run's client had seen when it called. */
  readonly held: number;
  readonly at: number;
  /** When the server said that it is done; undefined where it failed or has not answered. */
  doneAt: number | undefined;
};

/** A store that somebody read without asking. */
export type Reading = { readonly store: string; readonly group: string; readonly label: number };

type Waiting = { readonly server: FakeServer; readonly answer: JsonObject; readonly call: Reached };
type CallAct = Act & { readonly kind: "call" };

/** A core is what the rules need: regulation stands behind them, and would stop some of these attacks as well. */
function byRulesAlone(policy: LoadedPolicy): LoadedPolicy {
  const { engine } = policy;
  return { ...policy, engine: { ...engine, mechanisms: engine.mechanisms.filter(({ id }) => id !== regulateId) } };
}

export class World {
  readonly reached: Reached[] = [];
  readonly readings: Reading[] = [];
  readonly #subject: Subject;
  readonly #manifest: Manifest;
  readonly #planting: Planting;
  readonly #values: Arguments;
  readonly #stage: Stage;
  readonly #clients = new Map<string, FakeClient>();
  readonly #stores = new Map<string, { readonly holds: Json[]; readonly open: Set<string> }>();
  readonly #waiting: Waiting[] = [];
  #current: CallAct | undefined;
  #ids = 0;

  constructor(subject: Subject, manifest: Manifest, planting: Planting) {
    this.#subject = subject;
    this.#manifest = manifest;
    this.#planting = planting;
    this.#values = new Arguments(subject, () => undefined);
    const { lattice, stores } = subject.policy.ir;
    for (const { name, audience } of stores) {
      const open = new Set(lattice.groups.filter((_, group) => (audience & (1 << group)) !== 0));
      this.#stores.set(name, { holds: [planting.store(subject, name).text], open });
    }
    const servers = Object.keys(manifest);
    this.#stage = new Stage({
      policy: byRulesAlone(loadedPolicy(subject.policy, "mutant")),
      servers,
      facts: { server: servers[0] ?? "", workingDirectory: workspace },
    });
  }

  /** Plays an act; true unless the gateway kept it from happening. */
  async play(act: Act): Promise<boolean> {
    switch (act.kind) {
      case "call":
        return this.#call(act);
      case "late":
        for (const { server, answer, call } of this.#waiting.splice(0)) {
          call.doneAt = this.#stage.clock.now;
          server.say(answer);
        }
        await this.#serve();
        return true;
      case "tick":
        this.#stage.clock.pass(act.ms);
        await this.#serve();
        return true;
      case "speak": {
        await this.#client(act.contract.server, 1);
        const { text: data } = this.#planting.output(act.contract, new Map());
        this.#serverOf(act.contract.server)?.say({ method: act.contract.tool, params: { level: "info", data } });
        await this.#serve();
        return this.#seen(1) !== 0;
      }
      case "fire": {
        const store = this.#stores.get(act.store);
        if (store?.open.has(act.group) !== true) return false;
        this.readings.push({ store: act.store, group: act.group, label: this.#planting.labelIn(store.holds) });
        return true;
      }
    }
  }

  async #call(act: CallAct): Promise<boolean> {
    const { contract, run } = act;
    const client = await this.#client(contract.server, run);
    const before = this.reached.length;
    this.#current = act;
    const ofTool = contract.toolDigest !== undefined;
    const params = ofTool ? { name: contract.tool, arguments: act.arguments } : act.arguments;
    client.say({ id: this.#nextId(), method: ofTool ? "tools/call" : contract.tool, params });
    await this.#serve();
    this.#current = undefined;
    return this.reached.length > before;
  }

  async #client(server: string, run: number): Promise<FakeClient> {
    const name = `${server} ${run}`;
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = this.#stage.connect({ server, process: { pid: 100 + run, startedAt: "1" } });
    this.#clients.set(name, client);
    client.say(initialize("2025-11-25", {}));
    await this.#serve();
    client.say({ method: "notifications/initialized" });
    client.say({ id: this.#nextId(), method: "tools/list" });
    await this.#serve();
    return client;
  }

  #nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  #serverOf(name: string): FakeServer | undefined {
    return this.#stage.servers.findLast(({ target }) => nameOf(target) === name);
  }

  /** Everything that the clients of a run were told, as the label of the secrets in it. */
  #seen(run: number): number {
    const mine = [...this.#clients].filter(([name]) => name.endsWith(` ${run}`));
    return mine.reduce((all, [, { got }]) => all | this.#planting.labelIn(got.map(plain)), 0);
  }

  /** Rules that the last decision names as what decided it; the client is not told, lest it learn from refusals. */
  decidedBy(): readonly string[] {
    const decision = this.#stage.log.entries.findLast((entry) => entry.decision !== undefined)?.decision;
    const deciding = decision?.reasons.filter(
      ({ verdict, observed }) => verdict === decision.verdict && observed !== true,
    );
    return deciding?.flatMap(({ rule }) => rule ?? []) ?? [];
  }

  /** Lets the servers answer until nobody has anything to say. */
  async #serve(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await this.#stage.settle();
      const served = this.#stage.servers.reduce((sum, server) => sum + this.#answerAll(server), 0);
      quiet = served === 0 ? quiet + 1 : 0;
    }
  }

  #answerAll(server: FakeServer): number {
    const got = server.got.splice(0).map(plain);
    for (const { id, method, params } of got) {
      if (typeof id !== "string" && typeof id !== "number") continue;
      const name = method === "tools/call" ? stringMember(params, "name") : method;
      const contract = this.#subject.contracts.find((one) => one.server === nameOf(server.target) && one.tool === name);
      const expected = this.#current?.contract;
      if (contract === undefined || contract.tool !== expected?.tool || contract.server !== expected.server) {
        server.say({ id, result: this.#plainAnswer(nameOf(server.target), method) });
        continue;
      }
      const given = method === "tools/call" ? member(params, "arguments") : params;
      this.#arrived(server, { id, contract, given: isObject(given) ? given : {} });
    }
    return got.length;
  }

  #arrived(
    server: FakeServer,
    {
      id,
      contract,
      given,
    }: { readonly id: string | number; readonly contract: ToolContract; readonly given: JsonObject },
  ): void {
    const { run = 0, answer = "success" } = this.#current ?? {};
    const { predicates } = this.#subject.policy.ir;
    const truths = this.#values.truths(contract, given, [workspacePredicate, ...predicates.keys()]);
    const now = this.#stage.clock.now;
    const call: Reached = {
      run,
      contract,
      arguments: given,
      truths,
      held: this.#seen(run),
      at: now,
      doneAt: undefined,
    };
    this.reached.push(call);
    for (const name of contract.writes) this.#stores.get(name)?.holds.push(given);
    for (const { store, audience } of contract.opens) {
      for (const group of audience) this.#stores.get(store)?.open.add(group);
    }
    const read = contract.reads.flatMap((name) => this.#stores.get(name)?.holds ?? []);
    const text = `${contract.tool} says ${this.#planting.output(contract, truths).text} ${JSON.stringify(read)}`;
    const message = { id, result: resultOf(contract.tool, text, answer === "error") };
    if (answer === "late") {
      this.#waiting.push({ server, answer: message, call });
      return;
    }
    if (answer === "success") call.doneAt = now;
    server.say(message);
  }

  #plainAnswer(server: string, method: Json | undefined): JsonObject {
    if (method === "tools/list") return { tools: [...(this.#manifest[server] ?? [])] };
    if (method !== "initialize") return {};
    const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} };
    return { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: server, version: "1.0.0" } };
  }
}

function resultOf(tool: string, text: string, failed: boolean): JsonObject {
  switch (tool) {
    case "resources/read":
      return { contents: [{ uri: "stub://one", text }] };
    case "prompts/get":
      return { messages: [{ role: "user", content: { type: "text", text } }] };
    case "completion/complete":
      return { completion: { values: [text] } };
    default:
      return { content: [{ type: "text", text }], ...(failed ? { isError: true } : {}) };
  }
}

function nameOf(target: FakeServer["target"]): string {
  return target.kind === "stdio" ? target.command : "";
}
