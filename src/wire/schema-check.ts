/**
 * Checks known messages against the schemas of `@modelcontextprotocol/core`. A check and nothing else: the parsed
 * output of a schema is thrown away, because it drops members that it does not know (ran: Tool keys, `input_required`).
 *
 * Lenient on purpose. A misfit is a finding for log and scan; whether it stops a message is the caller's decision. The
 * schemas and zod are loaded on first use, as they cost a start-up of about 100 ms that most runs need not pay.
 */
import { isArray, isObject, isRawNumber, type Json } from "../core/json.ts";
import { readInputRequired, resultTypeOf } from "./modern.ts";
import { escapeToken } from "./pointer.ts";

export type SchemaVerdict =
  | { readonly kind: "fits" }
  /** No schema for this method or result type: nothing was checked. */
  | { readonly kind: "unchecked" }
  /** `at` is a JSON Pointer into params or result; `problem` is the schema's rule, without the peer's values. */
  | { readonly kind: "misfit"; readonly at: string; readonly problem: string };

export type SchemaCheck = {
  /** Checks the params of a request or notification. */
  readonly params: (method: string, params: Json | undefined) => SchemaVerdict;
  /** Checks the result of a request, dispatching on `resultType` first. */
  readonly result: (method: string, result: Json) => SchemaVerdict;
};

type Core = typeof import("@modelcontextprotocol/core");
type Issue = { readonly path: readonly PropertyKey[]; readonly code?: string };
type Schema = {
  safeParse(value: unknown): { readonly success: boolean; readonly error?: { readonly issues: readonly Issue[] } };
};

/** Loads the schemas. Fails only if the package is missing, which is a broken installation. */
export async function loadSchemaCheck(): Promise<SchemaCheck> {
  const core = await import("@modelcontextprotocol/core");
  return {
    params: (method, params) => {
      const schema = paramsSchema(core, method);
      return schema === undefined ? { kind: "unchecked" } : check(schema, params, { method, params });
    },
    result: (method, result) => checkResult(core, method, result),
  };
}

function checkResult(core: Core, method: string, result: Json): SchemaVerdict {
  const type = resultTypeOf(result);
  if (type === "input_required") {
    const fits = readInputRequired(result) !== undefined;
    return fits ? { kind: "fits" } : { kind: "misfit", at: "/inputRequests", problem: "malformed questions" };
  }
  if (type !== "complete") return { kind: "unchecked" };
  const schema = resultSchema(core, method);
  return schema === undefined ? { kind: "unchecked" } : check(schema, result, result);
}

/** Runs a schema over `whole`; `part` is what the caller gave, to look for lexemes in. */
function check(schema: Schema, part: Json | undefined, whole: unknown): SchemaVerdict {
  const first = schema.safeParse(whole);
  if (first.success) return { kind: "fits" };
  // A kept lexeme is an object to zod; `"progress": 1.0` is a number all the same.
  if (part !== undefined && hasLexeme(part)) {
    const second = schema.safeParse(whole === part ? plain(part) : plainMembers(whole));
    if (second.success) return { kind: "fits" };
  }
  const issue = first.error?.issues[0];
  const path = (issue?.path ?? []).map((step) => `/${escapeToken(String(step))}`).join("");
  return { kind: "misfit", at: path.replace(/^\/params(?=\/|$)/, ""), problem: issue?.code ?? "invalid" };
}

function plainMembers(whole: unknown): unknown {
  // `whole` is the `{method, params}` object made above.
  const { method, params } = whole as { readonly method: string; readonly params: Json };
  return { method, params: plain(params) };
}

function hasLexeme(value: Json): boolean {
  if (isRawNumber(value)) return true;
  if (isArray(value)) return value.some(hasLexeme);
  return isObject(value) && Object.values(value).some((member: Json) => hasLexeme(member));
}

/** A copy with the nearest doubles in place of lexemes, for checking only. */
function plain(value: Json): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: readonly [string, Json]) => [name, plain(member)]),
  );
}

function paramsSchema(core: Core, method: string): Schema | undefined {
  switch (method) {
    case "initialize":
      return core.InitializeRequestSchema;
    case "server/discover":
      return core.DiscoverRequestSchema;
    case "tools/call":
      return core.CallToolRequestSchema;
    case "tools/list":
      return core.ListToolsRequestSchema;
    case "resources/list":
      return core.ListResourcesRequestSchema;
    case "resources/templates/list":
      return core.ListResourceTemplatesRequestSchema;
    case "resources/read":
      return core.ReadResourceRequestSchema;
    case "resources/subscribe":
      return core.SubscribeRequestSchema;
    case "resources/unsubscribe":
      return core.UnsubscribeRequestSchema;
    case "subscriptions/listen":
      return core.SubscriptionsListenRequestSchema;
    case "prompts/list":
      return core.ListPromptsRequestSchema;
    case "prompts/get":
      return core.GetPromptRequestSchema;
    case "completion/complete":
      return core.CompleteRequestSchema;
    case "logging/setLevel":
      return core.SetLevelRequestSchema;
    case "sampling/createMessage":
      return core.CreateMessageRequestSchema;
    case "elicitation/create":
      return core.ElicitRequestSchema;
    case "notifications/cancelled":
      return core.CancelledNotificationSchema;
    case "notifications/progress":
      return core.ProgressNotificationSchema;
    case "notifications/message":
      return core.LoggingMessageNotificationSchema;
    case "notifications/resources/updated":
      return core.ResourceUpdatedNotificationSchema;
  }
  return undefined;
}

function resultSchema(core: Core, method: string): Schema | undefined {
  switch (method) {
    case "initialize":
      return core.InitializeResultSchema;
    case "server/discover":
      return core.DiscoverResultSchema;
    case "tools/call":
    case "tasks/result":
      return core.CallToolResultSchema;
    case "tools/list":
      return core.ListToolsResultSchema;
    case "resources/list":
      return core.ListResourcesResultSchema;
    case "resources/templates/list":
      return core.ListResourceTemplatesResultSchema;
    case "resources/read":
      return core.ReadResourceResultSchema;
    case "prompts/list":
      return core.ListPromptsResultSchema;
    case "prompts/get":
      return core.GetPromptResultSchema;
    case "completion/complete":
      return core.CompleteResultSchema;
    case "sampling/createMessage":
      return core.CreateMessageResultWithToolsSchema;
    case "elicitation/create":
      return core.ElicitResultSchema;
    case "roots/list":
      return core.ListRootsResultSchema;
  }
  return undefined;
}
