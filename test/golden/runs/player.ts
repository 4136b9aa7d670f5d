/** Plays random conversations of several clients with a gateway that writes to a real log, restarts included. */
import fc from "fast-check";
import { type Json, type JsonObject, stringMember } from "../../../src/core/json.ts";
import type { HostFacts } from "../../../src/gateway/session/gateway.ts";
import { Conversation, type Told } from "../../kit/gateway/real-policy.ts";
import { beginWallMs, DiskLog } from "./disk-log.ts";
import { argumentsOf, type World } from "./worlds.ts";

const value = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 7 }).map((word) => ({ kind: "word" as const, word })) },
  { weight: 3, arbitrary: fc.nat({ max: 9 }).map((of) => ({ kind: "seen" as const, of })) },
  { weight: 1, arbitrary: fc.constant({ kind: "none" as const }) },
);
type Value = typeof value extends fc.Arbitrary<infer One> ? One : never;

const client = fc.nat({ max: 2 });
const operation = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      client,
      tool: fc.nat({ max: 40 }),
      values: fc.tuple(value, value, value),
      ending: fc.constantFrom("answer", "answer", "answer", "answer", "fields", "failed", "silent"),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: "approve" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("host" as const),
      client,
      use: fc.nat({ max: 5 }),
      values: fc.tuple(value),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("prompt" as const), client, values: fc.tuple(value, value) }) },
  { weight: 1, arbitrary: fc.constantFrom(70_000, 700_000).map((ms) => ({ kind: "wait" as const, ms })) },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end" as const), which: client }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;
export const traces = fc.array(operation, { minLength: 26, maxLength: 34 });

const words = [
  "alpha beta",
  "gamma ray",
  "delta plan",
  "bob@friends.example",
  "eve@strangers.example",
  "7.50",
  "all",
  "2",
];
const paths = ["/workspace/notes.txt", "/home/ada/.ssh/id_ed25519", "/workspace/.env", "/etc/hosts"];
const uses: readonly (readonly [string, string])[] = [
  ["Read", "file_path"],
  ["WebFetch", "url"],
  ["Bash", "command"],
  ["Write", "content"],
  ["TodoWrite", "todos"],
  ["Grep", "pattern"],
];

export class Player {
  readonly #world: World;
  readonly #home: string;
  readonly #seen: string[] = [];
  #log: DiskLog | undefined;
  #talk: Conversation | undefined;
  #now = 1_000;
  #results = 0;
  #asked: (() => Promise<Told>) | undefined;

  constructor(world: World, home: string) {
    this.#world = world;
    this.#home = home;
  }

  async play(trace: readonly Operation[]): Promise<void> {
    await this.#start();
    for (const one of trace) await this.#perform(one);
    await this.#talking.end();
    await this.#stop();
  }

  get #talking(): Conversation {
    if (this.#talk === undefined) throw new Error("the gateway runs");
    return this.#talk;
  }

  async #start(): Promise<void> {
    const log = await DiskLog.open(this.#home, () => beginWallMs + (this.#talk?.stage.clock.now ?? this.#now));
    log.tokens = this.#log?.tokens ?? 0;
    this.#log = log;
    const { policy, tools, oracle, projection, cards } = this.#world;
    let count = 0;
    const choices = ["once", "value", "refuse"] as const;
    this.#talk = new Conversation(policy, tools, {
      log,
      outside: () => log.settle(),
      ...(oracle === undefined ? {} : { oracle }),
      ...(projection === undefined ? {} : { projection: projection() }),
      ...(cards === undefined
        ? {}
        : { human: async () => ({ choice: choices[(count += 1) % 3] ?? "once", by: "alice" }) }),
    });
    this.#talk.stage.clock.now = this.#now;
    await this.#talk.stage.gateway.restore();
  }

  async #stop(): Promise<void> {
    this.#now = this.#talking.stage.clock.now + 5_000;
    await this.#talking.serve();
    await this.#log?.port.close(this.#now);
    this.#talk = undefined;
  }

  async #perform(one: Operation): Promise<void> {
    const { stage } = this.#talking;
    stage.clock.pass(250);
    switch (one.kind) {
      case "call":
        return this.#call(one);
      case "approve":
        await this.#asked?.();
        return;
      case "host":
        return this.#host(one);
      case "prompt":
        await stage.gateway.hostEvent(this.#facts(one.client), {
          kind: "prompt",
          text: `please use ${one.values.map((each) => this.#text(each, "")).join(" and ")}`,
        });
        return;
      case "wait":
        stage.clock.pass(one.ms);
        return this.#talking.serve();
      case "restart":
        await this.#stop();
        return this.#start();
      case "end":
        return this.#end(one.which);
    }
  }

  async #call({ client: process, tool, values, ending }: Operation & { readonly kind: "call" }): Promise<void> {
    const all = Object.entries(this.#world.tools).flatMap(([server, tools]) => tools.map((one) => ({ server, one })));
    const { server = "", one = "" } = all[tool % all.length] ?? {};
    const name = `${server}.${nameOf(one)}`;
    const given: Record<string, Json> = {};
    argumentsOf(one)
      .slice(0, 3)
      .forEach(([argument, schema], index) => {
        const text = this.#text(values[index] ?? { kind: "none" }, argument);
        if (text !== undefined) given[argument] = shaped(text, schema);
      });
    this.#talking.answer = () => this.#result(ending, given);
    const told = await this.#talking.call(name, given, 7 + process);
    if (told.refused && ending !== "failed") this.#note(told, name, given, process);
  }

  /** A call that waits for the operator is approved and made again when the trace says so. */
  #note({ text }: Told, name: string, given: JsonObject, process: number): void {
    const id = /approve (\S+?)`/.exec(text)?.[1];
    if (id === undefined) return;
    this.#asked = async () => {
      this.#asked = undefined;
      this.#log?.approve(id);
      this.#talking.answer = () => this.#result("answer", given);
      return this.#talking.call(name, given, 7 + process);
    };
  }

  #result(ending: string, given: JsonObject): JsonObject | undefined {
    if (ending === "silent") return undefined;
    this.#results += 1;
    const word = words[this.#results % words.length] ?? "";
    const text = `result ${this.#results} of the season says ${word} to ${Object.values(given).map(String).join(" ").slice(0, 80)}`;
    this.#seen.push(text);
    const content = [{ type: "text", text }];
    if (ending === "failed") return { content, isError: true };
    return ending === "fields" ? { content, structuredContent: { f: text, n: this.#results } } : { content };
  }

  async #host({ client: process, use, values: [first] }: Operation & { readonly kind: "host" }): Promise<void> {
    const { gateway } = this.#talking.stage;
    const facts = this.#facts(process);
    const [tool = "", argument = ""] = uses[use] ?? [];
    const about = {
      tool,
      arguments: { [argument]: this.#text(first, argument) ?? "x" },
      use: `u${(this.#results += 1)}`,
    };
    const { verdict } = await gateway.hostEvent(facts, { kind: "before-tool", ...about });
    await this.#talking.serve();
    if (verdict === "deny") return;
    const result = { content: `page ${this.#results} told by ${words[this.#results % words.length]}` };
    this.#seen.push(result.content);
    await gateway.hostEvent(facts, { kind: "after-tool", ...about, result, failed: use === 5 });
    await this.#talking.serve();
  }

  async #end(which: number): Promise<void> {
    const { runs } = this.#talking.stage.gateway;
    const live = Array.from(runs.all())[which];
    if (live === undefined) return;
    const ending = runs.end(live, "closed");
    await this.#talking.serve();
    await ending;
  }

  #facts(process: number): HostFacts {
    return { client: "claude-code", principal: "os:1000", process: { pid: 7 + process, startedAt: "1" } };
  }

  #text(recipe: Value, argument: string): string | undefined {
    if (recipe.kind === "none") return undefined;
    if (recipe.kind === "seen" && this.#seen.length > 0) return this.#seen.at(-1 - (recipe.of % this.#seen.length));
    const index = recipe.kind === "word" ? recipe.word : recipe.of;
    if (/path|file|source|destination/.test(argument)) return paths[index % paths.length];
    return words[index % words.length];
  }
}

/** A text as the schema of its argument wants it. */
function shaped(text: string, schema: JsonObject): Json {
  const { type, items } = schema;
  if (type === "integer" || type === "number") return Number(/\d+/.exec(text)?.[0] ?? 3) * 100;
  if (type !== "array") return text;
  return stringMember(items, "type") === "string" ? [text] : [];
}

function nameOf(listed: string | JsonObject): string {
  return typeof listed === "string" ? listed : (stringMember(listed, "name") ?? "");
}
