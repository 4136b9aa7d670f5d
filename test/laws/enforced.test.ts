// Belief that rests on enforcement against servers that give away whatever their reach permits (docs/semantics.md 10): with
// random scopes, tiers and declared memories, no secret comes to others by calls without a question.
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadedPolicy } from "../../src/app/policy/loaded-policy.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";
import { OfflineRun } from "../../src/app/replay/driver.ts";
import { traceJson } from "../../src/core/isolation/effect-record.ts";
import { traceQuestionKind } from "../../src/core/isolation/effect-trace.ts";
import type { IsolationTier } from "../../src/core/isolation/scope.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Answer, Question } from "../../src/core/opinion.ts";
import type { LoadedPolicy } from "../../src/gateway/ports/policy.ts";
import { traceOf } from "../kit/isolation/fake-projection.ts";
import { PlantedWorld, type Reach } from "../kit/policy/planted-world.ts";

const numRuns = Math.ceil(Number(process.env["SLUICEGATE_RUNS"] ?? 200) / 2);
const servers = ["a", "b", "c"] as const;
type Server = (typeof servers)[number];

/** A scope as an operator would write it, and what it lets a process reach. */
type Scoped = { readonly section: JsonObject; readonly reach: Reach };

/** Nothing but perhaps a workspace, as servers without a network have it. */
const closed: fc.Arbitrary<Scoped> = fc.constantFrom("overlay", "none", "none").map((mode) => ({
  section: { files: { workspace: { mode } } },
  reach: { enforced: true, network: false, sockets: false, inPlace: false, workspace: mode, readsPath: false } as Reach,
}));

const open: fc.Arbitrary<Scoped> = fc
  .record({
    workspace: fc.constantFrom(
      ["overlay", { mode: "overlay" }] as const,
      ["overlay", { mode: "overlay", commit: "review" }] as const,
      ["kept", { mode: "overlay", commit: "never" }] as const,
      ["read", { mode: "read" }] as const,
      ["none", { mode: "none" }] as const,
      ["none", { mode: "none" }] as const,
      ["direct", { mode: "direct" }] as const,
    ),
    net: fc.constantFrom(undefined, undefined, undefined, "list", "tool"),
    write: fc.constantFrom(undefined, undefined, undefined, "server", "tool"),
    read: fc.constantFrom(undefined, undefined, undefined, "server", "tool"),
    sockets: fc.constantFrom(false, false, false, true),
    backend: fc.constantFrom(undefined, undefined, undefined, undefined, "learn", "off"),
  })
  .map(({ workspace: [mode, written], net, write, read, sockets, backend }) => {
    const other = { allow: ["a.example.com:443"] };
    // Paths of a scope may lie in the workspace.
    const tool = {
      ...(net === "tool" ? other : {}),
      ...(write === "tool" ? { write: ["./out"] } : {}),
      ...(read === "tool" ? { read: ["./out"] } : {}),
    };
    const section: JsonObject = {
      ...(backend === undefined ? {} : { backend }),
      files: {
        workspace: written,
        ...(write === "server" ? { write: ["./out"] } : {}),
        ...(read === "server" ? { read: ["./out"] } : {}),
      },
      ...(net === "list" ? { net: other } : net === "tool" ? { net: { mode: "list" } } : {}),
      ...(sockets ? { sockets: ["/srv/a.sock"] } : {}),
      tools: { other: tool },
    };
    const reach: Reach = {
      enforced: backend === undefined,
      network: net !== undefined,
      sockets,
      inPlace: write !== undefined,
      workspace: mode,
      readsPath: read !== undefined || write !== undefined,
    };
    return { section, reach };
  });

const scoped = fc.oneof({ weight: 3, arbitrary: closed }, { weight: 2, arbitrary: open });

const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ kind: "secret" } as const) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("call" as const), server: fc.constantFrom(...servers), held: fc.nat() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("post" as const), held: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "run" } as const) },
);

const met = { given: 0, enclosed: 0, posted: 0, refused: 0 };

/** The default policy, with only its rules about flow left to stop anything. */
function policyOf(
  scopes: Readonly<Record<Server, Scoped>>,
  remembered: readonly Server[],
  usual: boolean,
): LoadedPolicy {
  const named = Object.entries(scopes).map(([server, { section }]) => [server, section] as const);
  const stores = remembered.map((server) => [`proc:${server}`, { label: { confidentiality: "public" } }] as const);
  const compiled = compiledFrom({
    file: "world",
    document: {
      version: 1,
      extends: ["default"],
      rules: [{ id: "ALL", tier: "allow", when: { tool: "*" }, why: "only flow decides" }],
      labels: {
        "vault.read": { effects: ["read.local"], output: { confidentiality: "private", trust: "untrusted" } },
        "mail.post": { effects: ["write.external.send"], args: { text: { role: "content" } } },
      },
      stores: Object.fromEntries(stores),
      // The servers of the oracle are all that there are.
      isolation: {
        ...(usual ? { backend: "where-possible" } : {}),
        servers: { ...Object.fromEntries(named), vault: { files: { workspace: { mode: "none" } } } },
      },
    } as never,
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
  return loadedPolicy(compiled.value, "world");
}

class Agent {
  readonly #policy: LoadedPolicy;
  readonly #world: PlantedWorld;
  readonly #tier: IsolationTier;
  readonly #run: OfflineRun;
  #held: string[] = [];
  #count = 0;

  constructor(policy: LoadedPolicy, world: PlantedWorld, tier: IsolationTier) {
    this.#policy = policy;
    this.#world = world;
    this.#tier = tier;
    const answer = (question: Question): Answer =>
      question.kind === traceQuestionKind
        ? { kind: "known", question, value: traceJson(traceOf([], { tier })) }
        : { kind: "unavailable", question, cause: "nobody is asked" };
    this.#run = new OfflineRun(policy.engine, answer, { key: "first", principal: "p", at: 1 });
  }

  /** The call and its result, if neither raises a question. */
  #call(server: string, tool: string, given: JsonObject, result: () => string): string | undefined {
    this.#count += 1;
    this.#run.at += 1;
    const order = this.#policy.isolation(server)?.digest ?? "";
    const contract = this.#policy.contractOfTool(server, { name: tool }, undefined, { tier: this.#tier, order });
    const call = `call-${this.#count}`;
    const { moment, decision, answers } = this.#run.ask({ call, contract, arguments: given, digest: call });
    if (decision.verdict !== "allow" || decision.option === undefined) {
      met.refused += 1;
      return undefined;
    }
    if (contract.process !== undefined && Object.keys(given).length > 0) met.enclosed += 1;
    this.#run.dispatch(moment, decision.option, answers);
    const value = result();
    const content = { content: [{ type: "text", text: value }] };
    const handing = (verdict: string) => (verdict === "allow" ? ("pass" as const) : ("reject" as const));
    const verdict = this.#run.settle(moment, decision.option, { value: content, handing });
    return verdict === "allow" ? value : undefined;
  }

  #chosen(number: number): string | undefined {
    return this.#held.length === 0 ? undefined : this.#held[number % this.#held.length];
  }

  secret(): void {
    const made = `secret-${this.#count}-of-the-vault`;
    if (this.#call("vault", "read", {}, () => made) !== undefined) this.#held.push(made);
  }

  call(server: Server, number: number): void {
    const text = this.#chosen(number);
    const result = (): string => {
      if (text !== undefined) met.given += 1;
      return [...this.#world.call(server, text === undefined ? [] : [text])].join(" ") || "nothing";
    };
    const found = this.#call(server, "frob", text === undefined ? {} : { text }, result);
    for (const one of found?.split(" ") ?? []) if (one.startsWith("secret-")) this.#held.push(one);
  }

  post(number: number): void {
    const text = this.#chosen(number) ?? "hello";
    const sent = this.#call("mail", "post", { text }, () => "sent");
    if (sent === undefined) return;
    met.posted += 1;
    if (text.startsWith("secret-")) this.#world.public.add(text);
  }

  anotherRun(): void {
    this.#held = [];
    this.#run.beginAnother(`run-${this.#count}`);
  }
}

it(
  "law: no secret comes to others unasked, whatever servers without labels do",
  () => {
    const scopes = fc.record({ a: scoped, b: scoped, c: scoped });
    const tier = fc.constantFrom<IsolationTier>("A", "A", "A", "A-", "B", "none");
    const steps = fc.array(step, { minLength: 4, maxLength: 24 });
    fc.assert(
      fc.property(
        scopes,
        fc.subarray([...servers]),
        fc.tuple(tier, fc.boolean()),
        steps,
        (drawn, remembered, [tierNow, usual], script) => {
          const enforces = tierNow === "A" || tierNow === "A-";
          const reach = Object.entries(drawn).map(
            ([server, one]) => [server, { ...one.reach, enforced: enforces && one.reach.enforced }] as const,
          );
          const world = new PlantedWorld(new Map(reach));
          const agent = new Agent(policyOf(drawn, remembered, usual), world, tierNow);
          for (const one of script) {
            if (one.kind === "secret") agent.secret();
            else if (one.kind === "run") agent.anotherRun();
            else if (one.kind === "post") agent.post(one.held);
            else agent.call(one.server, one.held);
            expect([...world.public]).toEqual([]); // each secret is private
          }
        },
      ),
      { numRuns },
    );
    // Otherwise the law would hold of a gateway that refuses everything.
    for (const count of [met.enclosed, met.given, met.posted, met.refused]) expect(count).toBeGreaterThan(numRuns / 8);
  },
  numRuns * 200,
);
