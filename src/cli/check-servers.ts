/** `gateway --check`: asks every server through the gateway what it offers, as a client would. */
import type { Json, JsonObject } from "../core/json.ts";
import { isArray, member } from "../core/json.ts";
import type { ClientConnection, ConnectionFacts } from "../gateway/ports.ts";
import type { SchemaCheck } from "../wire/schema-check.ts";
import type { Composition } from "./composition.ts";
import type { GatewayConfig } from "./config.ts";
import { shown } from "./output.ts";

/** A server that has not answered by then counts as absent. */
export const checkWaitMsMax = 30_000;

const unanswered = `no answer within ${checkWaitMsMax / 1000} s: start it by hand, and look at what it prints`;

const checkPrincipal = "check";

/** What else is asked of a server that says it has it, by the name of the capability. */
const furtherLists: readonly (readonly [string, string])[] = [
  ["resources", "resources/list"],
  ["resources", "resources/templates/list"],
  ["prompts", "prompts/list"],
];

type Asked = { readonly result: Json } | { readonly fault: string };
type Ask = (method: string, params: JsonObject) => Promise<Asked>;
type Line = { readonly answered: boolean; readonly text: string };

/** Tells a line for each server; resolves with 0 if all answered, else 1. */
export async function checkServers(
  composition: Composition,
  config: GatewayConfig,
  tell: (line: string) => void,
): Promise<0 | 1> {
  const { loadSchemaCheck } = await import("../wire/schema-check.ts");
  const schemas = await loadSchemaCheck();
  const lines = await Promise.all([...config.servers.keys()].map((name) => checkOne(composition, name, schemas)));
  for (const { text } of lines) tell(text);
  // Nobody continues a check, and a run left open would stand in the list of runs until its time is over.
  for (const live of composition.gateway.runs.all())
    if (live.principal === checkPrincipal) await composition.gateway.runs.end(live, "closed");
  return lines.every((line) => line.answered) ? 0 : 1;
}

async function checkOne(composition: Composition, server: string, schemas: SchemaCheck): Promise<Line> {
  const facts: ConnectionFacts = {
    transport: "stdio",
    server,
    principal: checkPrincipal,
    workingDirectory: process.cwd(),
  };
  const connection: ClientConnection = {
    facts,
    send: () => undefined,
    drained: () => undefined,
    close: () => undefined,
  };
  const handler = composition.gateway.accept(connection);
  let id = 0;
  const ask: Ask = (method, params) =>
    new Promise((resolve) => {
      setTimeout(() => resolve({ fault: unanswered }), checkWaitMsMax).unref();
      handler.request({
        request: { kind: "request", id: (id += 1), method, params },
        send: () => undefined,
        respond: (answer) =>
          resolve(answer.kind === "response" ? { result: answer.result } : { fault: answer.error.message }),
        onAbandoned: () => undefined,
      });
    });
  const clientInfo = { name: "sluicegate-check", version: "1" };
  const hello = await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  if ("fault" in hello) return { answered: false, text: `${server}: ${shown(hello.fault)}` };
  handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
  const listed = await ask("tools/list", {});
  const isolation = composition.gateway.shared.projections.all(server)[0]?.[1];
  const tier = isolation === undefined ? "" : `, isolated in tier ${isolation.tier}`;
  const answers = [
    ["initialize", hello],
    ["tools/list", listed],
    ...(await furtherAnswers(hello.result, ask)),
  ] as const;
  handler.closed("the check is over");
  const tools = "result" in listed ? member(listed.result, "tools") : undefined;
  if (!isArray(tools))
    return { answered: false, text: `${server}: ${"fault" in listed ? shown(listed.fault) : "no list of tools"}` };
  const notes = [...(isolation?.notes ?? []), ...answers.flatMap(([method, asked]) => misfit(schemas, method, asked))];
  return { answered: true, text: [`${server}: ${tools.length} tools${tier}`, ...notes].join("\n  ") };
}

async function furtherAnswers(hello: Json, ask: Ask): Promise<readonly (readonly [string, Asked])[]> {
  const offered = furtherLists.filter(
    ([capability]) => member(member(hello, "capabilities"), capability) !== undefined,
  );
  return Promise.all(offered.map(async ([, method]) => [method, await ask(method, {})] as const));
}

/** What a client that holds the answer against the protocol's schema would find. */
function misfit(schemas: SchemaCheck, method: string, asked: Asked): readonly string[] {
  if ("fault" in asked) return [`${method}: ${shown(asked.fault)}`];
  const verdict = schemas(method, asked.result);
  if (verdict.kind !== "misfit") return [];
  const at = verdict.at === "" ? "as a whole" : `at ${shown(verdict.at, 100)}`;
  return [`its answer to ${method} does not fit the protocol ${at} (${verdict.problem}): clients may refuse it`];
}
