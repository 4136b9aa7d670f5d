/**
 * The HTTP headers that repeat parts of a modern request: `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` (2026-07-28,
 * Streamable HTTP). Load balancers route by them, so a difference from the body is a smuggling attempt: incoming ones
 * are checked against the body (-32020), outgoing ones are always made from the body that was judged.
 */
import { type Json, isArray, isObject, isRawNumber, member } from "../core/json.ts";
import { canonicalNumber } from "./canonical.ts";
import { metaKeys } from "./meta.ts";
import type { Message } from "./message.ts";

/** A header parameter of a tool: the chain of `properties` from the schema's root, and the header it goes to. */
export type HeaderParameter = { readonly header: string; readonly path: readonly string[]; readonly type: string };

export type HeaderMismatch = {
  readonly header: string;
  readonly reason: "missing" | "unexpected" | "differs" | "malformed";
};

/** Schema positions visited when looking for annotations; a larger schema is not searched further and refused. */
const schemaNodesMax = 10_000;

/**
 * Reads the `x-mcp-header` annotations of an input schema. Undefined means that the definition breaks a rule of the
 * specification, so the tool must not be offered over HTTP: bad or double header name, a type that is not string,
 * integer or boolean, or an annotation that cannot be reached through `properties` alone.
 */
export function headerParameters(inputSchema: Json | undefined): readonly HeaderParameter[] | undefined {
  const found: HeaderParameter[] = [];
  const names = new Set<string>();
  const open: { readonly schema: Json; readonly path: readonly string[] | undefined }[] = [
    { schema: inputSchema ?? null, path: [] },
  ];
  let visited = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    visited += 1;
    if (visited > schemaNodesMax) return undefined;
    const { schema, path } = next;
    if (isArray(schema)) {
      for (const element of schema) open.push({ schema: element, path: undefined });
      continue;
    }
    if (!isObject(schema)) continue;
    const name = member(schema, "x-mcp-header");
    if (name !== undefined) {
      const parameter = readParameter(name, member(schema, "type"), path);
      if (parameter === undefined || names.has(parameter.header)) return undefined;
      names.add(parameter.header);
      found.push(parameter);
    }
    for (const key of Object.keys(schema)) {
      const value = member(schema, key) ?? null;
      if (key === "properties" && isObject(value)) {
        for (const property of Object.keys(value)) {
          open.push({ schema: member(value, property) ?? null, path: path && [...path, property] });
        }
      } else if (!dataKeywords.has(key)) {
        open.push({ schema: value, path: undefined });
      }
    }
  }
  return found;
}

/** Keywords whose value is an instance, not a schema: an annotation in there is data and means nothing. */
const dataKeywords = new Set(["const", "enum", "default", "examples", "x-mcp-header"]);

function readParameter(
  name: Json,
  type: Json | undefined,
  path: readonly string[] | undefined,
): HeaderParameter | undefined {
  if (typeof name !== "string" || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)) return undefined;
  if (path === undefined || path.length === 0) return undefined;
  if (type !== "string" && type !== "integer" && type !== "boolean") return undefined;
  // Field names have no case (RFC 9110), and Node hands them out in lower case.
  return { header: `mcp-param-${name.toLowerCase()}`, path, type };
}

/** Methods whose target is repeated in `Mcp-Name`, and the member it is taken from. */
const nameMembers: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

type HeaderValue = { readonly text: string; readonly integer: boolean };

/** Header values before encoding, by lower-case name; undefined if something cannot be put in a header. */
function expectedHeaders(
  message: Message,
  parameters: readonly HeaderParameter[],
): ReadonlyMap<string, HeaderValue> | undefined {
  const expected = new Map<string, HeaderValue>();
  if (message.kind !== "request" && message.kind !== "notification") return expected;
  if (!message.method.isWellFormed()) return undefined;
  expected.set("mcp-method", { text: message.method, integer: false });
  const nameMember = nameMembers.get(message.method);
  const name = nameMember === undefined ? undefined : member(message.params, nameMember);
  if (typeof name === "string") {
    if (!name.isWellFormed()) return undefined;
    expected.set("mcp-name", { text: name, integer: false });
  }
  if (message.method !== "tools/call") return expected;
  for (const { header, path } of parameters) {
    let value = member(message.params, "arguments");
    for (const step of path) value = member(value, step);
    if (value === undefined || value === null) continue;
    const text = headerText(value);
    if (text === undefined) return undefined;
    expected.set(header, { text, integer: typeof value !== "string" && typeof value !== "boolean" });
  }
  return expected;
}

function headerText(value: Json): string | undefined {
  // Half a surrogate pair has no UTF-8 form, so a header could only carry another text (found by the fuzzer).
  if (typeof value === "string") return value.isWellFormed() ? value : undefined;
  if (typeof value === "boolean") return String(value);
  const lexeme = typeof value === "number" ? String(value) : isRawNumber(value) ? value.rawJSON : undefined;
  const integer = lexeme === undefined ? Number.NaN : Number(canonicalNumber(lexeme));
  return Number.isSafeInteger(integer) ? String(integer) : undefined;
}

/**
 * Headers for sending a judged modern message, names in lower case. Undefined if an argument that the tool wants in a
 * header has no header form (a list, a fraction, an unsafe integer, half a surrogate pair); such a call must be refused.
 */
export function headersFor(
  message: Message,
  parameters: readonly HeaderParameter[] = [],
): Readonly<Record<string, string>> | undefined {
  const expected = expectedHeaders(message, parameters);
  if (expected === undefined) return undefined;
  const headers: Record<string, string> = {};
  for (const [name, value] of expected) headers[name] = encodeHeaderValue(value.text);
  const version = "params" in message ? member(member(message.params, "_meta"), metaKeys.protocolVersion) : undefined;
  if (typeof version === "string") headers["mcp-protocol-version"] = encodeHeaderValue(version);
  return headers;
}

/**
 * Compares incoming headers (lower-case names) with the body; the first difference, or undefined if there is none.
 * `parameters` are those of the tool called, or undefined when the tool is unknown: then no `Mcp-Param-*` is checked,
 * and the gateway makes its own for the server, so a forged one goes nowhere.
 */
export function checkHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  message: Message,
  parameters: readonly HeaderParameter[] | undefined,
): HeaderMismatch | undefined {
  const expected = expectedHeaders(message, parameters ?? []);
  if (expected === undefined) return { header: "mcp-*", reason: "malformed" };
  for (const [header, wanted] of expected) {
    const given = headers[header];
    if (given === undefined) {
      // Notifications carry no method header before this revision's clients; only requests are held to it.
      if (message.kind === "request") return { header, reason: "missing" };
      continue;
    }
    const text = decodeHeaderValue(given);
    if (text === undefined) return { header, reason: "malformed" };
    if (!sameValue(text, wanted)) return { header, reason: "differs" };
  }
  const known = ["mcp-method", "mcp-name", ...(parameters ?? []).map((parameter) => parameter.header)];
  const extra = known.find((header) => headers[header] !== undefined && !expected.has(header));
  return extra === undefined ? undefined : { header: extra, reason: "unexpected" };
}

function sameValue(given: string, wanted: HeaderValue): boolean {
  if (given === wanted.text) return true;
  // The specification asks for a numerical comparison: `42.0` is 42.
  return wanted.integer && /^-?\d{1,16}(?:\.0{1,16})?$/.test(given) && Number(given) === Number(wanted.text);
}

/** A text as header value: as it is if that is safe and unambiguous, else in the Base64 sentinel form. */
export function encodeHeaderValue(text: string): string {
  const plain = /^[\x21-\x7E](?:[\t\x20-\x7E]*[\x21-\x7E])?$/.test(text) && !isSentinel(text);
  return plain || text === "" ? text : `=?base64?${encodeBase64(text)}?=`;
}

/** The text behind a header value; undefined if it holds forbidden characters or broken Base64. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!/^[\t\x20-\x7E]*$/.test(value)) return undefined;
  if (!isSentinel(value)) return value;
  // Shorter than both markers together they overlap, and readers cut differently.
  return value.length < "=?base64??=".length ? undefined : decodeBase64(value.slice("=?base64?".length, -2));
}

function isSentinel(text: string): boolean {
  return text.startsWith("=?base64?") && text.endsWith("?=");
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function encodeBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let encoded = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const group = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    for (let place = 0; place < 4; place += 1) {
      const beyond = index + place > bytes.length;
      encoded += beyond ? "=" : alphabet.charAt((group >> (18 - 6 * place)) & 63);
    }
  }
  return encoded;
}

/** The text, or undefined for anything but the one canonical encoding of valid UTF-8. */
export function decodeBase64(encoded: string): string | undefined {
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined;
  const symbols = encoded.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((symbols.length * 3) / 4));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (const symbol of symbols) {
    held = ((held << 6) | alphabet.indexOf(symbol)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // Spare bits in the last symbol would give one text several encodings, so a filter could be walked around.
    return encodeBase64(text) === encoded ? text : undefined;
  } catch {
    return undefined;
  }
}
