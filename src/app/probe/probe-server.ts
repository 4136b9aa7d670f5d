/**
 * Tries a local server out before it is trusted (MCPShield, Security Cognitive Probing; lifecycle.md 1.3): mock calls in a
 * projection that nothing leaves, two starts with the same home folder, and starts that differ in one thing each: the name of
 * the client and a flag that says that it is a trial, the date, the user. What was not run is part of the verdict.
 */
import { randomBytes } from "node:crypto";
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { type JsonObject, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type Canary, canariesIn, tokenCharacters, tokenOf } from "../../mechanisms/probe/canary.ts";
import { type Artifact, type Objection, judgeProbe, textsIn, textsMax } from "../../mechanisms/probe/judge.ts";
import { type Probe, planProbes } from "../../mechanisms/probe/plan.ts";
import { type Judged, type ServerVerdict, verdictOfServer } from "../../mechanisms/probe/verdict.ts";
import { isolationOrder } from "../../policy/ir/isolation-order.ts";
import { inferTool } from "../../policy/contracts/infer.ts";
import { DrivenServer, type ServerCommand } from "../client/driven-server.ts";
import { compiledFrom } from "../policy/named-policy.ts";
import { shown } from "../state/sentences.ts";
import { type Start, type StartId, firstStart, laterStarts } from "./starts.ts";
import { listChanges } from "./list-changes.ts";
import { ordersIn, ordersInEntry, readablePart } from "./orders.ts";
import { ProbeHome, otherUser } from "./probe-home.ts";
import { hostsIn, sightingsOf, textsOf } from "./sightings.ts";

export type ProbeOptions = {
  /** Milliseconds for the whole server. */
  readonly budgetMs: number;
  /** Tools that are run at most; 0 = all. Those that act are always run. */
  readonly toolsMax: number;
};

export type ProbeReport = ServerVerdict & {
  readonly probes: number;
  readonly tier: string;
  /** Hosts that it asked for or connected to, in the sink. */
  readonly hosts: readonly string[];
  /** The list of its first start: what the verdict is about. */
  readonly tools: readonly JsonObject[];
};

/** A probe that is not answered by then counts as not run. */
const answerMsMax = 5_000;

/** Tries a server out; the error says why that was not possible at all. */
export async function probeServer(
  name: string,
  command: ServerCommand,
  options: ProbeOptions,
): Promise<Result<ProbeReport, string>> {
  const homes = { usual: new ProbeHome(token), other: new ProbeHome(token, otherUser) };
  try {
    const trial = new Trial({ name, command, homes, until: performance.now() + options.budgetMs });
    return await trial.run(options);
  } finally {
    homes.usual.remove();
    homes.other.remove();
  }
}

const token = (): string => tokenOf(randomBytes(tokenCharacters));

/** Tier A without any network but the sink: below it a hostile server could not be tried out. */
function orderFor(name: string, pass: readonly string[]): Result<IsolationOrder, string> {
  const scope = { files: { workspace: { mode: "overlay", commit: "allow" } }, env: { pass } } as const;
  const document = { version: 1 as const, isolation: { require: "A" as const, servers: { [name]: scope } } };
  const compiled = compiledFrom({ file: "probe", document });
  if (!compiled.ok) return compiled;
  const order = isolationOrder(compiled.value, name);
  return order === undefined ? err("its name cannot be that of a server") : ok(order);
}

type Setup = {
  readonly name: string;
  readonly command: ServerCommand;
  readonly homes: { readonly usual: ProbeHome; readonly other: ProbeHome };
  /** Monotonic ms at which the time is over. */
  readonly until: number;
};

type Started = {
  readonly server: DrivenServer;
  readonly order: IsolationOrder;
  readonly tools: readonly JsonObject[];
};

/** The trial of one server. */
class Trial {
  readonly #setup: Setup;
  /** Those of arguments; homes have their own. */
  readonly #planned: Canary[] = [];
  readonly #judged: Judged[] = [];
  readonly #further: Objection[] = [];
  readonly #hosts = new Set<string>();
  readonly #answered = new Set<string>();
  /** Tools of which a probe was not answered: none of them is called again. */
  readonly #silent = new Set<string>();
  /** Tools with an answer that was not read whole. */
  readonly #cut = new Set<string>();
  readonly #starts: StartId[] = [];
  readonly #limits: string[] = [];
  #tier = "none";

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** Variables are planted with a start, so all of them are known after the last one alone. */
  get #canaries(): readonly Canary[] {
    const { usual, other } = this.#setup.homes;
    return [...usual.canaries, ...other.canaries, ...this.#planned];
  }

  async run({ toolsMax }: ProbeOptions): Promise<Result<ProbeReport, string>> {
    const first = await this.#start(firstStart);
    if (!first.ok) return first;
    const { server, tools: listed } = first.value;
    const tools = [...listed];
    const plan = planOf(tools, toolsMax, 0);
    this.#planned.push(...plan.canaries);
    const plain = new Map(await this.#probe(first.value, plan.probes));
    const after = await server.list();
    if (after.ok) {
      this.#compare(tools, after.value, "after calls of its tools");
      // Tools that come later are tried out as well.
      const later = after.value.filter((tool) => !has(tools, tool));
      const more = planOf(later, toolsMax, plan.probes.length);
      this.#planned.push(...more.canaries);
      await this.#probe(first.value, more.probes);
      tools.push(...later);
    }
    await this.#idle(first.value);
    await server.close();
    for (const start of laterStarts) await this.#again(start, { tools: listed, probes: plan.probes, plain });
    this.#look();
    const coverage = this.#coverage(tools, plan.notRun);
    const verdict = verdictOfServer(this.#judged, coverage, this.#further);
    const hosts = [...this.#hosts].toSorted();
    return ok({ ...verdict, probes: this.#judged.length, tier: this.#tier, hosts, tools: listed });
  }

  #coverage(tools: readonly JsonObject[], skipped: ReturnType<typeof planOf>["notRun"]): ServerVerdict["coverage"] {
    const names = tools.map((tool) => stringMember(tool, "name") ?? "");
    const why = new Map(skipped.map(({ tool, reason }) => [tool, reason]));
    const unanswered = names.filter((name) => !this.#answered.has(name));
    const notRun = unanswered.map((tool) => ({ tool, reason: why.get(tool) ?? "no probe of it was answered" }));
    const halted = [...this.#silent].filter((tool) => this.#answered.has(tool));
    notRun.push(...halted.map((tool) => ({ tool, reason: "it stopped answering before its last probe" })));
    const cut = [...this.#cut].map((tool) => ({ tool, reason: "the middle of a long answer was not read" }));
    return {
      listed: names.length,
      run: names.length - unanswered.length,
      notRun: [...notRun, ...cut],
      starts: this.#starts,
      limits: this.#limits,
    };
  }

  async #start(start: Start): Promise<Result<Started, string>> {
    const { name, command, homes } = this.#setup;
    const home = homes[start.home];
    const target = start.changed(home.target(command), home);
    const order = orderFor(
      name,
      Object.keys(target.env).filter((variable) => variable !== "PATH"),
    );
    if (!order.ok) return order;
    const trial = { home: home.path("home"), temporary: home.path("temporary") };
    const options = { trial, waitMsMax: answerMsMax, ...start.options };
    const started = await DrivenServer.start(target, order.value, options);
    if (!started.ok) return err(shown(started.error, 200));
    this.#tier = started.value.tier;
    const tools = await started.value.list();
    if (tools.ok) return ok({ server: started.value, order: order.value, tools: tools.value });
    await started.value.close();
    return err(shown(tools.error, 200));
  }

  /** Makes and judges probes one after the other; gives the plain one of each tool. */
  async #probe(
    { server, order }: Started,
    probes: readonly Probe[],
    meta?: JsonObject,
  ): Promise<ReadonlyMap<string, Artifact>> {
    const plain = new Map<string, Artifact>();
    for (const probe of probes) {
      if (performance.now() > this.#setup.until) break;
      // A tool that hangs costs its time once.
      if (this.#silent.has(probe.tool)) continue;
      const until = performance.now() + answerMsMax;
      const called = await server.call(probe.tool, probe.arguments, meta);
      if (!called.ok) {
        if (performance.now() >= until) this.#silent.add(probe.tool);
        continue;
      }
      this.#answered.add(probe.tool);
      const { value, failed, trace } = called.value;
      const texts = textsIn(value);
      if (texts.length > textsMax || !readablePart(texts.join("\n")).whole) this.#cut.add(probe.tool);
      const artifact = { ...probe, output: value, failed, ...this.#seenIn(order, trace, probe.tool) };
      const { kind, tool, number } = probe;
      const before = kind === "repeat" || kind === "again" ? plain.get(tool) : undefined;
      if (kind === "plain") plain.set(tool, artifact);
      this.#judged.push({ tool, ...judgeProbe(artifact, { canaries: this.#canaries, number, before, ordersIn }) });
    }
    return plain;
  }

  /** A later start, its list and plain calls compared with those of the first one. */
  async #again(
    start: Start,
    {
      tools,
      probes,
      plain,
    }: {
      readonly tools: readonly JsonObject[];
      readonly probes: readonly Probe[];
      readonly plain: ReadonlyMap<string, Artifact>;
    },
  ): Promise<void> {
    const { id, when, meta, isItself } = start;
    if (performance.now() > this.#setup.until) {
      this.#limits.push(`It was not started ${when}: the time of the trial was over.`);
      return;
    }
    const started = await this.#start(start);
    if (!started.ok) {
      this.#further.push({
        code: "changed-answer",
        hard: false,
        reason: `${when} it did not start: ${started.error}`,
      });
      return;
    }
    const { server, tools: listed } = started.value;
    this.#compare(tools, listed, when, isItself);
    const once = probes.filter(({ kind }) => kind === "plain");
    const found = await this.#probe(started.value, once, meta);
    for (const [tool, artifact] of found) this.#differs(plain.get(tool), artifact, when);
    const trace = await this.#idle(started.value);
    await server.close();
    if (start.isInForce(trace)) this.#starts.push(id);
    else this.#limits.push(start.limit);
  }

  /** `isItself`: every user of the server gets the same list, so that a rewritten tool rejects it. */
  #compare(before: readonly JsonObject[], after: readonly JsonObject[], when: string, isItself = true): void {
    for (const { what, kind } of listChanges(before, after)) {
      // What is added is tried out by itself.
      if (kind !== "added")
        this.#further.push({
          code: "changed-list",
          hard: kind === "rewritten" && isItself,
          reason: `${when} ${what}`,
        });
    }
    const names = after.map((tool) => stringMember(tool, "name") ?? "");
    for (const tool of after.filter((one) => !has(before, one))) {
      const name = stringMember(tool, "name") ?? "";
      const orders = ordersInEntry(tool, names);
      if (orders === undefined) continue;
      const says = `${when} it lists \`${shown(name, 60)}\`, which says "${orders.excerpt}" (${orders.rule})`;
      this.#further.push({ code: "text-in-list", hard: orders.certain, reason: says });
    }
  }

  /** What a tool did in one start and not in the other tells that it knows where it runs. */
  #differs(before: Artifact | undefined, after: Artifact, when: string): void {
    if (before === undefined) return;
    const known = new Set(before.seen.map(({ rule }) => rule));
    const rules = new Set(after.seen.map(({ rule }) => rule).filter((rule) => !known.has(rule)));
    const missing = [...known].filter((rule) => !after.seen.some((one) => one.rule === rule));
    if (rules.size + missing.length === 0) return;
    const reason = `${after.tool}: ${when} it did something else (${[...rules, ...missing].join(", ")})`;
    this.#further.push({ code: "changed-answer", hard: false, reason });
  }

  /** What it did outside of calls. */
  async #idle({ server, order }: Started): Promise<EffectTrace | undefined> {
    const trace = await server.background();
    const artifact = { tool: "(start)", kind: "plain", arguments: {}, output: undefined, failed: false } as const;
    const seen = { ...artifact, ...this.#seenIn(order, trace, undefined) };
    const context = { canaries: this.#canaries, number: -1, before: undefined, ordersIn };
    this.#further.push(...judgeProbe(seen, context).objections);
    return trace;
  }

  /** Canaries in files that it left behind. */
  #look(): void {
    const { usual, other } = this.#setup.homes;
    const text = [...usual.leftovers(), ...other.leftovers()].join("\n");
    for (const { place } of canariesIn(text, this.#canaries)) {
      if (place.kind === "argument" || place.kind === "name") continue;
      this.#further.push({ code: "canary-leak", hard: true, reason: `it copied ${place.name} into a file of its own` });
    }
  }

  #seenIn(
    order: IsolationOrder,
    trace: EffectTrace | undefined,
    tool: string | undefined,
  ): Pick<Artifact, "seen" | "traces"> {
    for (const host of hostsIn(trace)) if (this.#hosts.size < hostsMax) this.#hosts.add(host);
    return { seen: sightingsOf(order, trace, tool), traces: textsOf(trace) };
  }
}

const hostsMax = 64;

function planOf(tools: readonly JsonObject[], toolsMax: number, first: number): ReturnType<typeof planProbes> {
  return planProbes({ tools, tokens: token, toolsMax, always: acting(tools), first });
}

function has(tools: readonly JsonObject[], tool: JsonObject): boolean {
  return tools.some((one) => stringMember(one, "name") === stringMember(tool, "name"));
}

/** Tools whose names and schemas say that they do more than read. */
function acting(tools: readonly JsonObject[]): ReadonlySet<string> {
  const reads = (tool: JsonObject): boolean => inferTool(tool).may.every((effect) => effect.startsWith("read."));
  return new Set(tools.filter((tool) => !reads(tool)).map((tool) => stringMember(tool, "name") ?? ""));
}
