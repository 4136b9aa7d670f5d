/** The real policy engine behind the real gateway, with scripted servers that answer by themselves. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPolicyFor } from "../../../src/app/policy/named-policy.ts";
import { type JsonObject, isObject, member, stringMember } from "../../../src/core/json.ts";
import type { LoadedPolicy } from "../../../src/gateway/ports/policy.ts";
import { type FakeClient, type FakeServer, type StageOptions, plain, Stage } from "./playbook.ts";

/** A policy from its text, which extends nothing unless it begins with that; one that does not load fails the test. */
export function policyOf(text: string): LoadedPolicy {
  const folder = mkdtempSync(join(tmpdir(), "sluicegate-policy-"));
  const file = join(folder, "policy.yaml");
  writeFileSync(file, `version: 1\n${text.startsWith("extends:") ? "" : "extends: []\n"}${text}`);
  const loaded = loadPolicyFor(file);
  rmSync(folder, { recursive: true });
  if (!loaded.ok) throw new Error(loaded.error);
  return loaded.value;
}

/** What a server answers to a call; undefined = nothing for now. */
export type Answering = (tool: string, given: JsonObject) => JsonObject | undefined;

export type Told = { readonly refused: boolean; readonly text: string };

const plainText = (text: string): JsonObject => ({ content: [{ type: "text", text }] });

export type ConversationOptions = Pick<StageOptions, "log" | "oracle" | "human" | "projection"> & {
  readonly answer?: Answering;
  /** What happens outside the conversation, which each of its turns waits for. */
  readonly outside?: () => Promise<unknown>;
};

/** Tools by server: names, or entries as a server lists them. */
type ToolsOf = Readonly<Record<string, readonly (string | JsonObject)[]>>;

/** The client process whose run its key names; every further one gets a run that its user began. */
const first = 7;

/** Tools by server name; every connection of the conversation belongs to one client process, so to one run. */
export class Conversation {
  readonly stage: Stage;
  /** Calls that reached a server, as `server.tool`, in order. */
  readonly reached: string[] = [];
  answer: Answering;
  readonly #tools: ToolsOf;
  readonly #clients = new Map<string, FakeClient>();
  readonly #tokens = new Map<number, string>();
  readonly #outside: () => Promise<unknown>;
  #ids = 0;

  constructor(text: string, tools: ToolsOf, options: ConversationOptions = {}) {
    this.#tools = tools;
    this.answer = options.answer ?? ((tool) => plainText(`${tool} done`));
    const { answer: _answer, outside, ...stage } = options;
    this.#outside = outside ?? (() => Promise.resolve());
    this.stage = new Stage({ policy: policyOf(text), servers: Object.keys(tools), ...stage });
  }

  /** Calls a tool and gives what the client got. `process` = another client, in a run that its user began. */
  async call(name: string, given: JsonObject = {}, process = first): Promise<Told> {
    const [server = "", tool = ""] = name.split(".");
    const client = await this.#client(server, process);
    this.#ids += 1;
    client.say({ id: this.#ids, method: "tools/call", params: { name: tool, arguments: given } });
    await this.serve();
    const answer = client.got.map(plain).find((message) => message["id"] === this.#ids);
    const result = member(answer, "result");
    const content = member(result, "content");
    const first = Array.isArray(content) ? content[0] : undefined;
    const text = stringMember(first, "text") ?? stringMember(member(answer, "error"), "message") ?? "";
    return { refused: member(result, "isError") === true, text };
  }

  /** Names of the tools that the client is shown of a server. */
  async list(server: string, process = first): Promise<readonly string[]> {
    const client = await this.#client(server, process);
    this.#ids += 1;
    client.say({ id: this.#ids, method: "tools/list" });
    await this.serve();
    const answer = client.got.map(plain).find((message) => message["id"] === this.#ids);
    const tools = member(member(answer, "result"), "tools");
    return Array.isArray(tools) ? tools.map((tool) => stringMember(tool, "name") ?? "") : [];
  }

  /** Lets the servers answer until nobody has anything to say. */
  async serve(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await this.stage.settle();
      await this.#outside();
      const served = this.stage.servers.reduce((sum, server) => sum + this.#serveOne(server), 0);
      quiet = served === 0 ? quiet + 1 : 0;
    }
  }

  async end(): Promise<readonly string[]> {
    const owed: string[] = [];
    for (const live of Array.from(this.stage.gateway.runs.all())) {
      const ending = this.stage.gateway.runs.end(live, "closed");
      await this.serve();
      owed.push(...(await ending));
    }
    return owed;
  }

  async #client(server: string, process: number): Promise<FakeClient> {
    const key = `${server} ${process}`;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const token = process === first ? undefined : await this.#token(process);
    const facts = { server, process: { pid: process, startedAt: "1" } };
    const client = this.stage.connect(token === undefined ? facts : { ...facts, runToken: token });
    this.#clients.set(key, client);
    return client;
  }

  async #token(process: number): Promise<string> {
    const known = this.#tokens.get(process);
    if (known !== undefined) return known;
    const begun = await this.stage.gateway.beginRun({ principal: "os:1000", urlBase: "http://127.0.0.1" });
    if (!begun.ok) throw new Error(begun.error);
    this.#tokens.set(process, begun.value.token);
    return begun.value.token;
  }

  #serveOne(server: FakeServer): number {
    const { target } = server;
    const name = target.kind === "stdio" ? target.command : "";
    const got = server.got.splice(0).map(plain);
    for (const { id, method, params } of got) {
      if (typeof id !== "string" && typeof id !== "number") continue;
      if (method === "tools/list") {
        const tools = (this.#tools[name] ?? []).map((tool) => ({
          inputSchema: { type: "object" },
          ...(typeof tool === "string" ? { name: tool } : tool),
        }));
        server.say({ id, result: { tools } });
        continue;
      }
      const tool = stringMember(params, "name") ?? "";
      const given = member(params, "arguments");
      this.reached.push(`${name}.${tool}`);
      const result = this.answer(tool, isObject(given) ? given : {});
      if (result !== undefined) server.say({ id, result });
    }
    return got.length;
  }
}
