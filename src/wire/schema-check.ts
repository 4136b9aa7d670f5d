/**
 * Checks what servers answer against the schemas of `@modelcontextprotocol/core`. A check and nothing else: the parsed
 * output of a schema is thrown away, because it drops members that it does not know (ran: Tool keys, `input_required`).
 *
 * A misfit is a finding to report; it stops nothing. The schemas and zod are loaded on first use, as they cost a
 * start-up of about 100 ms and memory that a gateway need not pay.
 */
import { isArray, isObject, isRawNumber, type Json } from "../core/json.ts";
import { readInputRequired, resultTypeOf } from "./modern.ts";
import { pointerOf } from "../core/pointer.ts";

export type SchemaVerdict =
  | { readonly kind: "fits" }
  /** No schema for this method or result type: nothing was checked. */
  | { readonly kind: "unchecked" }
  /** `at` is a JSON Pointer into the result; `problem` is the schema's rule, without the peer's values. */
  | { readonly kind: "misfit"; readonly at: string; readonly problem: string };

/** Holds the result of a request against its schema, dispatching on `resultType` first. */
export type SchemaCheck = (method: string, result: Json) => SchemaVerdict;

type Issue = { readonly path: readonly PropertyKey[]; readonly code?: string };
type Schema = {
  safeParse(value: unknown): { readonly success: boolean; readonly error?: { readonly issues: readonly Issue[] } };
};

/** Loads the schemas. Fails only if the package is missing, which is a broken installation. */
export async function loadSchemaCheck(): Promise<SchemaCheck> {
  const core = await import("@modelcontextprotocol/core");
  const schemas = new Map<string, Schema>([
    ["initialize", core.InitializeResultSchema],
    ["server/discover", core.DiscoverResultSchema],
    ["tools/call", core.CallToolResultSchema],
    ["tasks/result", core.CallToolResultSchema],
    ["tools/list", core.ListToolsResultSchema],
    ["resources/list", core.ListResourcesResultSchema],
    ["resources/templates/list", core.ListResourceTemplatesResultSchema],
    ["resources/read", core.ReadResourceResultSchema],
    ["prompts/list", core.ListPromptsResultSchema],
    ["prompts/get", core.GetPromptResultSchema],
    ["completion/complete", core.CompleteResultSchema],
  ]);
  return (method, result) => {
    const type = resultTypeOf(result);
    if (type === "input_required") {
      const fits = readInputRequired(result) !== undefined;
      return fits ? { kind: "fits" } : { kind: "misfit", at: "/inputRequests", problem: "malformed questions" };
    }
    const schema = type === "complete" ? schemas.get(method) : undefined;
    return schema === undefined ? { kind: "unchecked" } : check(schema, result);
  };
}

function check(schema: Schema, result: Json): SchemaVerdict {
  const first = schema.safeParse(result);
  if (first.success) return { kind: "fits" };
  // A kept lexeme is an object to zod; `"size": 1.0` is a number all the same.
  if (hasLexeme(result) && schema.safeParse(plain(result)).success) return { kind: "fits" };
  const issue = first.error?.issues[0];
  const at = pointerOf((issue?.path ?? []).map(String));
  return { kind: "misfit", at, problem: issue?.code ?? "invalid" };
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
