/** `gateway --check`: asks every server through the gateway what it offers, as a client would. */
import type { Json } from "../core/json.ts";
import { isArray, member } from "../core/json.ts";
import type { ClientConnection, ConnectionFacts } from "../gateway/ports.ts";
import type { JsonObject } from "../core/json.ts";
import type { Composition } from "./composition.ts";
import type { GatewayConfig } from "./config.ts";

/** A server that has not answered by then counts as absent. */
export const checkWaitMsMax = 30_000;

const checkPrincipal = "check";

/** Tells a line for each server; resolves with 0 if all answered, else 1. */
export async function checkServers(
  composition: Composition,
  config: GatewayConfig,
  tell: (line: string) => void,
): Promise<0 | 1> {
  const lines = await Promise.all([...config.servers.keys()].map((name) => checkOne(composition, name)));
  for (const { text } of lines) tell(text);
  // Nobody continues a check, and a run left open would stand in the list of runs until its time is over.
  for (const live of composition.gateway.runs.all())
    if (live.principal === checkPrincipal) await composition.gateway.runs.end(live, "closed");
  return lines.every((line) => line.answered) ? 0 : 1;
}

async function checkOne(composition: Composition, server: string): Promise<{ answered: boolean; text: string }> {
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
  const ask = (id: number, method: string, params: JsonObject): Promise<Json | string> =>
    new Promise((resolve) => {
      setTimeout(() => resolve("no answer in time"), checkWaitMsMax).unref();
      handler.request({
        request: { kind: "request", id, method, params },
        send: () => undefined,
        respond: (answer) => resolve(answer.kind === "response" ? answer.result : answer.error.message),
        onAbandoned: () => undefined,
      });
    });
  const clientInfo = { name: "sluicegate-check", version: "1" };
  const hello = await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  if (typeof hello === "string") return { answered: false, text: `${server}: ${hello}` };
  handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
  const listed = await ask(2, "tools/list", {});
  const isolation = composition.gateway.shared.projections.all(server)[0]?.[1];
  const tier = isolation === undefined ? "" : `, isolated in tier ${isolation.tier}`;
  const missing = isolation?.notes.map((note) => `\n  ${note}`).join("") ?? "";
  handler.closed("the check is over");
  const tools = typeof listed === "string" ? undefined : member(listed, "tools");
  if (!isArray(tools))
    return { answered: false, text: `${server}: ${typeof listed === "string" ? listed : "no list of tools"}` };
  return { answered: true, text: `${server}: ${tools.length} tools${tier}${missing}` };
}
