/**
 * Answers of a shim while its daemon is away. Loaded only then: a healthy shim never parses a message.
 *
 * Ids are read from samples of lines, so a request may rarely be answered twice (clients drop an answer to an id they
 * no longer wait for) or, if it was huge, not at all (its client's own time-out holds). Neither lets anything through.
 */
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { parseJson } from "../../adapters/daemon/protocol.ts";

/** A request as far as its sample tells. `method` is undefined where the sample lacks it. */
export type RequestSketch = { readonly id: string | number; readonly method: string | undefined };

/** JSON-RPC code of a refusal outside `tools/call` (gateway.md 1). */
const refusedCode = -32010;

/** Requests among these lines, in order. A batch gives all of its requests. */
export function requestsIn(line: Buffer): readonly RequestSketch[] {
  const text = line.toString("utf8");
  const value = parseJson(text);
  if (value === undefined) {
    const id = idFromSample(text);
    const method = /"method"\s*:\s*"([^"\\]{1,128})"/.exec(text)?.[1];
    // An answer of the client to the server has an id but neither method nor, in its sample, anything like one.
    return id === undefined || /^\s*\{[^{]*"(?:result|error)"\s*:/.test(text) ? [] : [{ id, method }];
  }
  const messages: readonly Json[] = isArray(value) ? value : [value];
  return messages.flatMap((message) => {
    const id = member(message, "id");
    const method = stringMember(message, "method");
    return (typeof id === "string" || typeof id === "number") && method !== undefined ? [{ id, method }] : [];
  });
}

/** Ids that lines of the server answer. */
export function answersIn(line: Buffer): readonly (string | number)[] {
  const text = line.toString("utf8");
  const value = parseJson(text);
  if (value === undefined) {
    const id = idFromSample(text);
    return id === undefined ? [] : [id];
  }
  const messages: readonly Json[] = isArray(value) ? value : [value];
  return messages.flatMap((message) => {
    const id = member(message, "id");
    const isAnswer = isObject(message) && stringMember(message, "method") === undefined;
    return isAnswer && (typeof id === "string" || typeof id === "number") ? [id] : [];
  });
}

/** Requests of the tail that no answer of the tail belongs to. A reused id counts as a new request after its answer. */
export function unanswered(requests: readonly Buffer[], answers: readonly Buffer[]): readonly RequestSketch[] {
  const answered = new Map<string, number>();
  for (const id of answers.flatMap(answersIn)) answered.set(key(id), (answered.get(key(id)) ?? 0) + 1);
  return requests.flatMap(requestsIn).filter(({ id }) => {
    const count = answered.get(key(id)) ?? 0;
    if (count > 0) answered.set(key(id), count - 1);
    return count === 0;
  });
}

/** The line that refuses one request: a tool result that the model can read, else a protocol error. */
export function refusalLine(request: RequestSketch, sentence: string, way: string): string {
  const text = `${sentence} ${way}`;
  const body =
    request.method === "tools/call"
      ? { result: { content: [{ type: "text", text }], isError: true } }
      : { error: { code: refusedCode, message: text, data: { way } } };
  return `${JSON.stringify({ jsonrpc: "2.0", id: request.id, ...body })}\n`;
}

const idPattern = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.){0,1024}"|-?\d{1,16})`;
const idFirst = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${idPattern}`);
const idLast = new RegExp(String.raw`${idPattern}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/** The id of a message whose middle is missing: official SDKs write it first or last. */
function idFromSample(text: string): string | number | undefined {
  const lexeme = idFirst.exec(text)?.[1] ?? idLast.exec(text)?.[1];
  const id = lexeme === undefined ? undefined : parseJson(lexeme);
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function key(id: string | number): string {
  return JSON.stringify(id);
}
