/** `gateway --check`: asks every server through the gateway what it offers, as a client would. */
import { isArray, member } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { SchemaCheck } from "../../wire/schema-check.ts";
import type { Composition } from "../gateway/composition.ts";
import type { GatewayConfig } from "../gateway/config.ts";
import { shown } from "../state/sentences.ts";
import { type Answer, gatewayClient, textOf } from "./mcp-client.ts";

/** A server that has not answered by then counts as absent. */
export const checkWaitMsMax = 30_000;

const unanswered = `no answer within ${checkWaitMsMax / 1000} s: start it by hand, and look at what it prints`;

const checkPrincipal = "check";

/** Further lists that the check requests from a server, by the name of the declared capability. */
const furtherLists: readonly (readonly [string, string])[] = [
  ["resources", "resources/list"],
  ["resources", "resources/templates/list"],
  ["prompts", "prompts/list"],
];

type Asked = Result<Answer, string>;
type Line = { readonly answered: boolean; readonly text: string };

/** Tells a line for each server; resolves with 0 if all answered, else 1. */
export async function checkServers(
  composition: Composition,
  config: GatewayConfig,
  tell: (line: string) => void,
): Promise<0 | 1> {
  const { loadSchemaCheck } = await import("../../wire/schema-check.ts");
  const schemas = await loadSchemaCheck();
  const lines = await Promise.all([...config.servers.keys()].map((name) => checkOne(composition, name, schemas)));
  for (const { text } of lines) tell(text);
  // No client continues a check, and a run left open would stand in the list of runs until its time is over.
  for (const live of composition.gateway.runs.all())
    if (live.principal === checkPrincipal) await composition.gateway.runs.end(live, "closed");
  return lines.every((line) => line.answered) ? 0 : 1;
}

async function checkOne(composition: Composition, server: string, schemas: SchemaCheck): Promise<Line> {
  const facts = {
    transport: "stdio",
    server,
    principal: checkPrincipal,
    workingDirectory: process.cwd(),
  } as const;
  const clientInfo = { name: "sluicegate-check", version: "1" };
  const options = { clientInfo, waitMsMax: checkWaitMsMax, silence: unanswered };
  const { client, handler } = gatewayClient(composition.gateway, facts, options);
  const hello = await client.hello();
  const noHello = faultIn(hello);
  if (noHello !== undefined || !hello.ok) return { answered: false, text: `${server}: ${shown(noHello ?? "")}` };
  const listed = await client.ask("tools/list", {});
  const isolation = composition.gateway.state.projections.all(server)[0]?.[1];
  const tier = isolation === undefined ? "" : `, isolated in tier ${isolation.tier}`;
  const capabilities = member(hello.value.value, "capabilities");
  const offered = furtherLists.filter(([capability]) => member(capabilities, capability) !== undefined);
  const answers: readonly (readonly [string, Asked])[] = [
    ["initialize", hello],
    ["tools/list", listed],
    ...(await Promise.all(offered.map(async ([, method]) => [method, await client.ask(method, {})] as const))),
  ];
  handler.closed("the check is over");
  const tools = listed.ok ? member(listed.value.value, "tools") : undefined;
  if (!isArray(tools)) return { answered: false, text: `${server}: ${shown(faultIn(listed) ?? "no list of tools")}` };
  const notes = [...(isolation?.notes ?? []), ...answers.flatMap(([method, asked]) => misfit(schemas, method, asked))];
  return { answered: true, text: [`${server}: ${tools.length} tools${tier}`, ...notes].join("\n  ") };
}

/** Why there is no result. */
function faultIn(asked: Asked): string | undefined {
  if (!asked.ok) return asked.error;
  return asked.value.failed ? textOf(asked.value) : undefined;
}

/** The faults that a client finds when it checks the answer against the protocol's schema. */
function misfit(schemas: SchemaCheck, method: string, asked: Asked): readonly string[] {
  if (!asked.ok || asked.value.failed) return [`${method}: ${shown(faultIn(asked) ?? "")}`];
  const verdict = schemas(method, asked.value.value);
  if (verdict.kind !== "misfit") return [];
  const at = verdict.at === "" ? "as a whole" : `at ${shown(verdict.at, 100)}`;
  return [`its answer to ${method} does not fit the protocol ${at} (${verdict.problem}): clients may refuse it`];
}
