/**
 * Bytes to message, strictly and once. Order: size, UTF-8, guard (names, depth, numbers), JSON, envelope.
 *
 * The guard runs before `JSON.parse`, so depth and list length are bounded before anything is built.
 */
import { type Json, type JsonObject, isObject, member } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { guard } from "./guard.ts";
import { parseKeepingLexemes } from "./lexemes.ts";
import type { WireLimits } from "../limits.ts";
import type { ErrorMessage, Message, RawSpan, RequestId, ResponseMessage, Revision } from "../message.ts";
import { recover, recoverSample } from "./recover.ts";
import { oversizeSampleBytes } from "./splitter.ts";
import { wireError, type WireError, type WireErrorKind } from "../wire-error.ts";

/**
 * Content of one frame (a line, an HTTP body, an SSE event). The entries of a batch are judged one by one, in order; a
 * bad entry is refused alone, while a fault that makes readers disagree on the text refuses the whole frame.
 */
export type ParsedFrame =
  | { readonly kind: "single"; readonly message: Message }
  | { readonly kind: "batch"; readonly entries: readonly Result<Message, WireError>[] };

/**
 * Parses one frame. `revision` is the negotiated one, undefined before negotiation; it decides whether a batch may be.
 * Expected failures are values; the function never throws on any bytes.
 */
export function parseMessage(
  bytes: Uint8Array,
  limits: WireLimits,
  revision?: Revision,
): Result<ParsedFrame, WireError> {
  if (bytes.length > limits.messageBytesMax) {
    const ends = [bytes.subarray(0, oversizeSampleBytes), bytes.subarray(-oversizeSampleBytes)] as const;
    return err(wireError("too-large", recoverSample(...ends)));
  }
  const text = decode(bytes);
  if (text === undefined) return err(wireError("invalid-utf8", recover(bytes)));
  const verdict = guard(bytes, limits, text);
  if (verdict.kind === "refused") {
    return err(wireError(verdict.reason, { ...recover(bytes), position: verdict.position }));
  }
  const value = parseJson(text, bytes, verdict.inexactNumbers);
  if (value === undefined) return err(wireError("invalid-json", recover(bytes)));
  if (Array.isArray(value)) return parseBatch(value, limits, revision);
  const message = toMessage(value, limits);
  if (!message.ok) return message;
  const whole = withRaw(message.value, bytes, text, verdict.id);
  if (whole.kind !== "response" || verdict.inexactNumbers.length > 0) return ok({ kind: "single", message: whole });
  return ok({ kind: "single", message: withText(whole, bytes, text, verdict.result) });
}

/** Bytes of a result from which its text is worth keeping. */
const writtenBytesMin = 32 * 1024;

/** Escapes that a writer of JSON does not make, or makes for few characters. */
const otherEscapes = ["\\u", "\\/"];

/** Keeps the text of a large result that writing it anew would not change. */
function withText(answer: ResponseMessage, raw: Uint8Array, text: string, span: RawSpan | undefined): ResponseMessage {
  // Offsets of bytes are those of characters where every character is one byte.
  if (span === undefined || span.end - span.start < writtenBytesMin || text.length !== raw.length) return answer;
  if (otherEscapes.some((escape) => text.includes(escape))) return answer;
  return { ...answer, written: { value: answer.result, text: text.slice(span.start, span.end) } };
}

/** Keeps the bytes a message came in, where they may be sent again. */
function withRaw(message: Message, raw: Uint8Array, text: string, id: RawSpan | undefined): Message {
  // Raw bytes with a line break inside would end the line early on stdio and the `data:` field in an SSE stream.
  if (text.includes("\n") || text.includes("\r")) return message;
  if (message.kind === "request" || message.kind === "notification") return { ...message, raw };
  return id === undefined ? message : { ...message, raw, rawId: id };
}

/** The byte order mark stays in the text and is refused with it: not every reader skips it. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function parseJson(text: string, bytes: Uint8Array, inexactNumbers: readonly number[]): Json | undefined {
  try {
    // `JSON.parse` returns JSON by definition.
    return inexactNumbers.length === 0 ? (JSON.parse(text) as Json) : parseKeepingLexemes(text, bytes, inexactNumbers);
  } catch {
    return undefined;
  }
}

function parseBatch(
  values: readonly Json[],
  limits: WireLimits,
  revision: Revision | undefined,
): Result<ParsedFrame, WireError> {
  if (revision !== "2025-03-26") return err(wireError("batch-not-allowed", { among: answeredIn(values, limits) }));
  if (values.length === 0 || values.length > limits.batchLengthMax) {
    return err(wireError("batch-length", { among: answeredIn(values, limits) }));
  }
  return ok({ kind: "batch", entries: values.map((value) => toMessage(value, limits)) });
}

/** The ids that the answers of a refused batch carry. */
function answeredIn(values: readonly Json[], limits: WireLimits): readonly RequestId[] {
  return values.flatMap((value) => {
    if (!isObject(value) || member(value, "method") !== undefined) return [];
    if (member(value, "result") === undefined && member(value, "error") === undefined) return [];
    return readId(value, limits) ?? [];
  });
}

const envelopeNames = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);
const errorNames = new Set(["code", "message", "data"]);

/** Reads the JSON-RPC envelope of one parsed value. */
export function toMessage(value: Json, limits: WireLimits): Result<Message, WireError> {
  if (!isObject(value)) return err(wireError("invalid-envelope"));
  return readEnvelope(value, limits);
}

function readEnvelope(value: JsonObject, limits: WireLimits): Result<Message, WireError> {
  const asks = value["method"] !== undefined;
  const answers = value["result"] !== undefined;
  const fails = value["error"] !== undefined;
  const id = readId(value, limits);
  const about = asks ? (value["id"] === undefined ? "notification" : "request") : "response";
  const refuse = (kind: WireErrorKind): Result<Message, WireError> =>
    err(wireError(kind, { about: asks && (answers || fails) ? "unknown" : about, id: id ?? undefined }));
  for (const name of Object.keys(value)) if (!envelopeNames.has(name)) return refuse("unknown-envelope-name");
  if (value["jsonrpc"] !== "2.0") return refuse("invalid-envelope");
  if (Number(asks) + Number(answers) + Number(fails) !== 1) return refuse("invalid-envelope");
  if (!asks && value["params"] !== undefined) return refuse("invalid-envelope");
  if (asks) {
    const method = value["method"];
    const params = value["params"];
    if (typeof method !== "string" || method.length === 0) return refuse("invalid-method");
    if (method.length > limits.methodLengthMax) return refuse("invalid-method");
    if (params !== undefined && !isObject(params)) return refuse("invalid-envelope");
    if (value["id"] === undefined) return ok({ kind: "notification", method, params });
    return id === undefined || id === null ? refuse("invalid-id") : ok({ kind: "request", id, method, params });
  }
  if (answers) {
    const result = value["result"];
    if (!isObject(result)) return refuse("invalid-envelope");
    return id === undefined || id === null ? refuse("invalid-id") : ok({ kind: "response", id, result });
  }
  // An error without id, or with null, answers something that could not be read; any other bad id is refused.
  if (id === undefined && value["id"] !== undefined) return refuse("invalid-id");
  const error = readError(value["error"]);
  return error === undefined ? refuse("invalid-envelope") : ok({ kind: "error", id: id ?? null, error });
}

/** The id, null for a JSON null, undefined when absent or not acceptable. */
function readId(envelope: JsonObject, limits: WireLimits): RequestId | null | undefined {
  const id = envelope["id"];
  if (id === null) return null;
  if (typeof id === "string") return id.length <= limits.idLengthMax ? id : undefined;
  return typeof id === "number" && Number.isSafeInteger(id) ? id : undefined;
}

function readError(value: Json | undefined): ErrorMessage["error"] | undefined {
  if (!isObject(value)) return undefined;
  for (const name of Object.keys(value)) if (!errorNames.has(name)) return undefined;
  const code = member(value, "code");
  const message = member(value, "message");
  const data = member(value, "data");
  if (typeof code !== "number" || !Number.isSafeInteger(code) || typeof message !== "string") return undefined;
  return data === undefined ? { code, message } : { code, message, data };
}
