/**
 * Tries a local server out before it is trusted (MCPShield, Security Cognitive Probing; lifecycle.md 1.3): mock calls in a
 * projection that nothing leaves, two starts with the same home folder, and one more under another name and with a flag that
 * says so. What was not run is part of the verdict.
 */
import { randomBytes } from "node:crypto";
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import { type JsonObject, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { groundsOf } from "../../mechanisms/projection/grounds.ts";
import { judgeTrace } from "../../mechanisms/projection/judgement.ts";
import { type Canary, canariesIn, tokenCharacters, tokenOf } from "../../mechanisms/probe/canary.ts";
import { type Artifact, type Objection, type Sighting, judgeProbe } from "../../mechanisms/probe/judge.ts";
import { type Probe, planProbes } from "../../mechanisms/probe/plan.ts";
import { type Judged, type ServerVerdict, verdictOfServer } from "../../mechanisms/probe/verdict.ts";
import { isolationOrder } from "../../policy/ir/isolation-order.ts";
import { inferTool } from "../../policy/contracts/infer.ts";
import { ownMetaPrefix } from "../../wire/meta.ts";
import { DrivenServer, type DriveOptions, type ServerCommand } from "../client/driven-server.ts";
import { compiledFrom } from "../policy/named-policy.ts";
import { shown } from "../state/sentences.ts";
import { listChanges } from "./list-changes.ts";
import { ordersIn } from "./orders.ts";
import { ProbeHome } from "./probe-home.ts";

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
};

/** A probe that is not answered by then counts as not run. */
const answerMsMax = 5_000;

/** Tries a server out; the error says why that was not possible at all. */
export async function probeServer(
  name: string,
  command: ServerCommand,
  options: ProbeOptions,
): Promise<Result<ProbeReport, string>> {
  const home = new ProbeHome(() => tokenOf(randomBytes(tokenCharacters)));
  try {
    const target = home.target(command);
    const order = orderFor(
      name,
      Object.keys(target.env).filter((variable) => variable !== "PATH"),
    );
    if (!order.ok) return order;
    const trial = new Trial({ target, order: order.value, home, until: performance.now() + options.budgetMs });
    return await trial.run(options);
  } finally {
    home.remove();
  }
}

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
  readonly target: ServerCommand;
  readonly order: IsolationOrder;
  readonly home: ProbeHome;
  /** Monotonic ms at which the time is over. */
  readonly until: number;
};

type Started = { readonly server: DrivenServer; readonly tools: readonly JsonObject[] };

/** The trial of one server. */
class Trial {
  readonly #setup: Setup;
  readonly #judged: Judged[] = [];
  readonly #further: Objection[] = [];
  readonly #hosts = new Set<string>();
  readonly #answered = new Set<string>();
  #tier = "none";

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  async run({ toolsMax }: ProbeOptions): Promise<Result<ProbeReport, string>> {
    const first = await this.#start({});
    if (!first.ok) return first;
    const { server } = first.value;
    const tools = [...first.value.tools];
    const plan = planOf(tools, toolsMax, 0);
    const canaries = [...this.#setup.home.canaries, ...plan.canaries];
    const plain = new Map(await this.#probe(server, plan.probes, canaries));
    const after = await server.list();
    if (after.ok) {
      this.#compare(tools, after.value, "after calls of its tools");
      // Tools that come later are tried out as well.
      const later = planOf(
        after.value.filter((tool) => !has(tools, tool)),
        toolsMax,
        plan.probes.length,
      );
      await this.#probe(server, later.probes, [...canaries, ...later.canaries]);
      tools.push(...after.value.filter((tool) => !has(tools, tool)));
    }
    await this.#idle(server, canaries);
    await server.close();
    await this.#again(first.value.tools, plan.probes, plain, canaries);
    this.#look(canaries);
    const names = tools.map((tool) => stringMember(tool, "name") ?? "");
    const skipped = new Map(plan.notRun.map(({ tool, reason }) => [tool, reason]));
    const notRun = names
      .filter((name) => !this.#answered.has(name))
      .map((tool) => ({ tool, reason: skipped.get(tool) ?? "no probe of it was answered" }));
    const coverage = { listed: names.length, run: names.length - notRun.length, notRun };
    const verdict = verdictOfServer(this.#judged, coverage, this.#further);
    return ok({ ...verdict, probes: this.#judged.length, tier: this.#tier, hosts: [...this.#hosts].toSorted() });
  }

  async #start(more: DriveOptions): Promise<Result<Started, string>> {
    const { target, order, home } = this.#setup;
    const trial = { home: home.path("home"), temporary: home.path("temporary") };
    const started = await DrivenServer.start(target, order, { trial, waitMsMax: answerMsMax, ...more });
    if (!started.ok) return err(shown(started.error, 200));
    this.#tier = started.value.tier;
    const tools = await started.value.list();
    if (tools.ok) return ok({ server: started.value, tools: tools.value });
    await started.value.close();
    return err(shown(tools.error, 200));
  }

  /** Makes and judges probes one after the other; gives the plain one of each tool. */
  async #probe(
    server: DrivenServer,
    probes: readonly Probe[],
    canaries: readonly Canary[],
    meta?: JsonObject,
  ): Promise<ReadonlyMap<string, Artifact>> {
    const plain = new Map<string, Artifact>();
    for (const probe of probes) {
      if (performance.now() > this.#setup.until) break;
      const called = await server.call(probe.tool, probe.arguments, meta);
      if (!called.ok) continue;
      this.#answered.add(probe.tool);
      const { value, failed, trace } = called.value;
      const artifact = { ...probe, output: value, failed, seen: this.#seenIn(trace), traces: textsOf(trace) };
      const { kind, tool, number } = probe;
      const before = kind === "repeat" || kind === "again" ? plain.get(tool) : undefined;
      if (kind === "plain") plain.set(tool, artifact);
      this.#judged.push({ tool, ...judgeProbe(artifact, { canaries, number, before, ordersIn }) });
    }
    return plain;
  }

  /** A second start with the same home folder, and a third under another name with a flag that says that it is a trial. */
  async #again(
    tools: readonly JsonObject[],
    probes: readonly Probe[],
    plain: ReadonlyMap<string, Artifact>,
    canaries: readonly Canary[],
  ): Promise<void> {
    const starts = [
      { when: "at its second start", options: {}, meta: undefined },
      {
        when: "for a client of another name, or told that it is tried out",
        options: { clientInfo: { name: "inspector", version: "0.1.0" } },
        meta: { [`${ownMetaPrefix}probe`]: { mock: true } },
      },
    ];
    for (const { when, options, meta } of starts) {
      if (performance.now() > this.#setup.until) return;
      const started = await this.#start(options);
      if (!started.ok) {
        this.#further.push({
          code: "changed-answer",
          hard: false,
          reason: `${when} it did not start: ${started.error}`,
        });
        continue;
      }
      const { server, tools: listed } = started.value;
      this.#compare(tools, listed, when);
      const once = probes.filter(({ kind }) => kind === "plain");
      const found = await this.#probe(server, once, canaries, meta);
      for (const [tool, artifact] of found) this.#differs(plain.get(tool), artifact, when);
      await this.#idle(server, canaries);
      await server.close();
    }
  }

  #compare(before: readonly JsonObject[], after: readonly JsonObject[], when: string): void {
    for (const { what, kind } of listChanges(before, after)) {
      // What is added is tried out by itself.
      if (kind !== "added")
        this.#further.push({ code: "changed-list", hard: kind === "rewritten", reason: `${when} ${what}` });
    }
  }

  /** What a tool did in one start and not in the other tells that it knows where it runs. */
  #differs(before: Artifact | undefined, after: Artifact, when: string): void {
    if (before === undefined) return;
    const known = new Set(before.seen.map(({ rule }) => rule));
    const rules = after.seen.map(({ rule }) => rule).filter((rule) => !known.has(rule));
    const missing = [...known].filter((rule) => !after.seen.some((one) => one.rule === rule));
    if (rules.length + missing.length === 0) return;
    const reason = `${after.tool}: ${when} it did something else (${[...rules, ...missing].join(", ")})`;
    this.#further.push({ code: "changed-answer", hard: false, reason });
  }

  /** What it did outside of calls. */
  async #idle(server: DrivenServer, canaries: readonly Canary[]): Promise<void> {
    const trace = await server.background();
    const artifact = { tool: "(start)", kind: "plain", arguments: {}, output: undefined, failed: false } as const;
    const seen = { ...artifact, seen: this.#seenIn(trace), traces: textsOf(trace) };
    const { objections } = judgeProbe(seen, { canaries, number: -1, before: undefined, ordersIn });
    this.#further.push(...objections);
  }

  /** Canaries in files that it left behind. */
  #look(canaries: readonly Canary[]): void {
    const found = canariesIn(this.#setup.home.leftovers().join("\n"), canaries);
    for (const { place } of found) {
      if (place.kind === "argument") continue;
      this.#further.push({ code: "canary-leak", hard: true, reason: `it copied ${place.name} into a file of its own` });
    }
  }

  #seenIn(trace: EffectTrace | undefined): readonly Sighting[] {
    if (trace === undefined) return [];
    for (const { domain, address } of trace.events) {
      // An address of the sink stands for a name that was asked for before.
      const host = domain ?? (address?.startsWith("198.18.") === true ? undefined : address);
      if (host !== undefined && this.#hosts.size < hostsMax) this.#hosts.add(shown(host, 100));
    }
    const { places } = trace;
    // Its home is its own, and yet keys in it are those of a user.
    const scratch = places.scratch.filter((folder) => folder !== places.home);
    const grounds = groundsOf(this.#setup.order, { ...trace, places: { ...places, scratch } }, undefined);
    const ordinary = new Set(["file.read", "file.write", "file.link-target"]);
    // What it writes into its own package or home is a matter of its scope.
    const own = [places.home, ...places.code.filter((folder) => !isSystem(folder))];
    const isOwn = (what: string): boolean =>
      trace.events.some(
        ({ path }) =>
          path !== undefined && own.some((folder) => isWithin(path, folder)) && what.includes(path.slice(0, 60)),
      );
    const { violations } = judgeTrace(grounds);
    const seen = violations
      .map(({ rule, what }) => ({ rule, what }))
      .filter(({ rule, what }) => !(ordinary.has(rule) && isOwn(what)));
    seen.push(...programsIn(trace));
    const metadata = trace.events.find(({ address }) => address === "169.254.169.254" || address === "fd00:ec2::254");
    if (metadata === undefined) return seen;
    return [...seen, { rule: "metadata.address", what: "asked the metadata service of the machine for its keys" }];
  }
}

const isSystem = (folder: string): boolean => /^\/(?:usr|bin|sbin|lib|lib32|lib64|etc)(?:\/|$)/.test(folder);

const hostsMax = 64;

/** Shells that it started: no runtime does so by itself, and what they are for is not seen from outside. */
function programsIn({ events }: EffectTrace): readonly Sighting[] {
  const shells = events.filter(({ action, program }) => action === "process-spawn" && shell.test(program ?? ""));
  return shells.slice(0, 4).map(({ commandLine, program }) => {
    return { rule: "process.shell", what: `started a shell: ${shown(commandLine ?? program ?? "", 100)}` };
  });
}

const shell = /\/(?:sh|bash|dash|zsh|ash|busybox|powershell|pwsh)$/;

/** Texts of all events, in which canaries are looked for. */
function textsOf(trace: EffectTrace | undefined): readonly string[] {
  if (trace === undefined) return [];
  return trace.events.flatMap(({ action, domain, path, target, commandLine, detail }) => {
    // The path of a planted file is no content of it.
    const texts = action === "file-read" ? [] : [path, target];
    return [domain, commandLine, detail, ...texts].filter((text) => text !== undefined);
  });
}

function planOf(tools: readonly JsonObject[], toolsMax: number, first: number): ReturnType<typeof planProbes> {
  const tokens = (): string => tokenOf(randomBytes(tokenCharacters));
  return planProbes({ tools, tokens, toolsMax, always: acting(tools), first });
}

function has(tools: readonly JsonObject[], tool: JsonObject): boolean {
  return tools.some((one) => stringMember(one, "name") === stringMember(tool, "name"));
}

/** Tools whose names and schemas say that they do more than read. */
function acting(tools: readonly JsonObject[]): ReadonlySet<string> {
  const reads = (tool: JsonObject): boolean => inferTool(tool).may.every((effect) => effect.startsWith("read."));
  return new Set(tools.filter((tool) => !reads(tool)).map((tool) => stringMember(tool, "name") ?? ""));
}
