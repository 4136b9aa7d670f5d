/**
 * The whole gateway with servers in their projections and a client before each: the composition that the daemon runs, the
 * system's own connector, a planted home and workspace. What a test learns is what a client or an operator would.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemConnector } from "../../../src/adapters/connector.ts";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import { compose, type Composition } from "../../../src/app/gateway/composition.ts";
import { readLogOf } from "../../../src/app/state/log-files.ts";
import { type Json, type JsonObject, isArray, member, stringMember } from "../../../src/core/json.ts";
import { viewsOf, recordPages } from "../../../src/gateway/log/record.ts";
import type { ClientHandler } from "../../../src/gateway/ports/transport.ts";
import type { LogView } from "../../../src/gateway/ports/store.ts";
import { compiledFrom } from "../../../src/app/policy/named-policy.ts";
import { isolationOrder } from "../../../src/policy/ir/isolation-order.ts";

/** Tier that this machine gives a server with the usual scope; the best one is what most of these tests are about. */
export const machineTier = await offered();
export const best = machineTier === "A";
if (!best) console.log(`skipped: this machine offers tier ${machineTier}, not A`);

async function offered(): Promise<string> {
  const compiled = compiledFrom({ file: "probe", document: { version: 1, isolation: {} } });
  const order = compiled.ok ? isolationOrder(compiled.value, "probe") : undefined;
  if (order === undefined) throw new Error("the built-in scope is no order");
  return tierOf(await probeSupport(), order.scope).tier;
}

export type StageServer = {
  readonly command: readonly string[];
  /** Variables beside PATH and HOME, made for the planted home. */
  readonly env?: (home: string) => Readonly<Record<string, string>>;
};

export type StageSetup = {
  readonly policy: JsonObject;
  readonly servers: Readonly<Record<string, StageServer>>;
  /** Home of the user whom the servers would betray; a folder of its own by default. */
  readonly home?: string;
  readonly workspace?: string;
  /** Folder of all others, for a gateway that starts again where another one ended. Its owner removes it. */
  readonly root?: string;
};

export type Said = {
  readonly text: string;
  readonly isError: boolean;
  /** The whole answer, for what is no text. */
  readonly value: Json | undefined;
};

/** Longer than what any test waits for on a busy machine: tests have limits of their own. */
const answerMsMax = 120_000;

export class Stage {
  readonly home: string;
  readonly workspace: string;
  /** State folder of the gateway. */
  readonly state: string;
  /** Lines for the operator. */
  readonly told: string[] = [];
  /** What servers wrote to their stderr, and what was skipped of their output. */
  readonly diagnostics: string[] = [];
  readonly #root: string;
  /** Given by whoever looks at what is left. */
  readonly #kept: boolean;
  readonly #homeBefore = process.env["HOME"];
  readonly #handlers = new Map<string, ClientHandler>();
  readonly #composition: Composition;
  #count = 0;

  private constructor(places: Places, composition: Composition, lines: Lines) {
    this.#root = places.root;
    this.#kept = places.kept;
    this.home = places.home;
    this.workspace = places.workspace;
    this.state = places.state;
    this.told = lines.told;
    this.diagnostics = lines.diagnostics;
    this.#composition = composition;
  }

  static async open(setup: StageSetup): Promise<Stage> {
    const places = placesFor(setup);
    const lines: Lines = { told: [], diagnostics: [] };
    const policy = join(places.root, "policy.json");
    writeFileSync(policy, JSON.stringify(setup.policy));
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: places.home };
    const composition = await compose({
      home: places.state,
      policies: [policy],
      connector: systemConnector({
        home: places.state,
        diagnostic: (_target, line) => void lines.diagnostics.push(line),
      }),
      servers: Object.entries(setup.servers).map(([name, server]) => ({
        name,
        target: () => {
          const [command = "", ...args] = server.command;
          const workingDirectory = places.workspace;
          return { kind: "stdio", command, args, env: { ...env, ...server.env?.(places.home) }, workingDirectory };
        },
      })),
      tagOf: () => undefined,
      tell: (text) => void lines.told.push(text),
    });
    if (!composition.ok) throw new Error(composition.error);
    return new Stage(places, composition.value, lines);
  }

  /** Connects a client; the first answer is there when this resolves. */
  async connect(server: string, name = "some-agent"): Promise<readonly string[]> {
    // What `~` means is asked of the system when a server starts.
    process.env["HOME"] = this.home;
    const facts = { transport: "stdio", server, principal: "user", workingDirectory: this.workspace } as const;
    const handler = this.#composition.gateway.accept({
      facts,
      send: () => undefined,
      drained: () => undefined,
      close: () => undefined,
    });
    this.#handlers.set(server, handler);
    const clientInfo = { name, version: "1.0.0" };
    await this.ask(server, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
    const listed = await this.ask(server, "tools/list", {});
    const tools = member(listed, "tools");
    if (!isArray(tools)) {
      throw new Error(`${server}: ${JSON.stringify(listed)} ${[...this.told, ...this.diagnostics].join("\n")}`);
    }
    return tools.flatMap((tool) => stringMember(tool, "name") ?? []);
  }

  /** The client goes, and with it its run. */
  disconnect(server: string): void {
    this.#handlers.get(server)?.closed("the test is over");
    this.#handlers.delete(server);
  }

  tierOf(server: string): string | undefined {
    return this.#composition.gateway.state.projections.all(server)[0]?.[1].tier;
  }

  notesOf(server: string): readonly string[] {
    return this.#composition.gateway.state.projections.all(server)[0]?.[1].notes ?? [];
  }

  async call(server: string, tool: string, given: JsonObject = {}): Promise<Said> {
    const value = await this.ask(server, "tools/call", { name: tool, arguments: given });
    const content = member(value, "content");
    const parts = isArray(content) ? content.map((part) => stringMember(part, "text") ?? "") : [];
    const text = typeof value === "string" ? `refused by protocol: ${value}` : parts.join("\n");
    return { text, isError: typeof value === "string" || member(value, "isError") === true, value };
  }

  /** The result of a request, or the message of its error. */
  ask(server: string, method: string, params: JsonObject): Promise<Json | undefined> {
    this.#count += 1;
    const id = this.#count;
    const handler = this.#handlers.get(server);
    if (handler === undefined) throw new Error(`${server} has no client`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${server}: no answer to ${method}`)), answerMsMax);
      handler.request({
        request: { kind: "request", id, method, params },
        send: () => undefined,
        respond: (answer) => {
          clearTimeout(timer);
          resolve(answer.kind === "response" ? answer.result : answer.error.message);
        },
        onAbandoned: () => undefined,
      });
    });
  }

  /** All that is on record so far, oldest first. */
  async records(): Promise<readonly LogView[]> {
    const opened = readLogOf(this.state);
    if (!opened.ok || opened.value === undefined) throw new Error("there is no log to read");
    const { store, keys } = opened.value;
    const views: LogView[] = [];
    for await (const page of recordPages(store, {})) {
      if (!page.ok) throw new Error(page.error.sentence);
      for (const record of page.value) views.push(...viewsOf(keys, record));
    }
    await store.close(false);
    return views;
  }

  async close(): Promise<void> {
    for (const server of this.#handlers.keys()) this.disconnect(server);
    await this.#composition.close();
    if (this.#homeBefore === undefined) delete process.env["HOME"];
    else process.env["HOME"] = this.#homeBefore;
    if (!this.#kept) rmSync(this.#root, { recursive: true, force: true });
  }
}

type Lines = { readonly told: string[]; readonly diagnostics: string[] };
type Places = {
  readonly root: string;
  readonly kept: boolean;
  readonly home: string;
  readonly workspace: string;
  readonly state: string;
};

function placesFor({ home, workspace, root: given }: StageSetup): Places {
  const root = given ?? mkdtempSync(join(tmpdir(), "sluicegate-stage-"));
  chmodSync(root, 0o755);
  const places = {
    root,
    kept: given !== undefined,
    home: home ?? join(root, "user"),
    workspace: workspace ?? join(root, "workspace"),
    state: join(root, "state"),
  };
  mkdirSync(places.home, { recursive: true });
  mkdirSync(places.workspace, { recursive: true });
  mkdirSync(places.state, { recursive: true, mode: 0o700 });
  return places;
}

/** What this gateway itself refused, rejected or held back, by the words that its answers begin with. */
export function ownWord({ text, isError }: Said): "refused" | "rejected" | "held" | undefined {
  if (!isError) return undefined;
  if (text.startsWith("Not executed")) return "refused";
  if (/sluicegate approve/.test(text)) return "held";
  return /was executed|withheld|do not repeat/i.test(text) ? "rejected" : undefined;
}

/** Whatever a decision on record holds against a server or a call: `mechanism code rule`, with the tool. */
export function objectionsIn(records: readonly LogView[]): readonly string[] {
  return records.flatMap(({ server, tool, clear }) => {
    const reasons = member(member(clear, "decision"), "reasons");
    if (!isArray(reasons)) return [];
    return reasons
      .filter((reason) => stringMember(reason, "verdict") !== "allow")
      .map((reason) => {
        const words = ["mechanism", "code", "rule"].map((name) => stringMember(reason, name) ?? "-");
        return `${server ?? "-"}.${tool ?? "-"}: ${words.join(" ")}`;
      });
  });
}
