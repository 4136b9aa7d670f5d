import type { IncomingHttpHeaders } from "node:http";
import { isObject, member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import type { Board } from "./board.ts";
import { codes, RpcFailure } from "./json-rpc.ts";
import { findByName, toolsOf } from "./lists.ts";
import { modernRevision } from "./modern.ts";

const localNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Host and Origin must name this machine: a page of another site must not reach a local server (DNS rebinding). */
export function isLocal(headers: IncomingHttpHeaders): boolean {
  const hostName = /^(.*?)(?::\d+)?$/.exec(headers.host ?? "")?.[1] ?? "";
  if (!localNames.has(hostName)) return false;
  return (
    headers.origin === undefined || (URL.canParse(headers.origin) && localNames.has(new URL(headers.origin).hostname))
  );
}

function mismatch(header: string): RpcFailure {
  return new RpcFailure(codes.headerMismatch, `Header ${header} does not match the body`, { status: 400 });
}

/** Value of a header after SEP-2243 decoding, or undefined where the encoding is broken. */
function decoded(value: string): string | undefined {
  const wrapped = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (wrapped === undefined) return value;
  const bytes = Buffer.from(wrapped, "base64");
  return bytes.toString("base64") === wrapped ? bytes.toString() : undefined;
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value.trim() : undefined;
}

function nameInBody(method: string, params: JsonObject): string | undefined {
  if (method === "tools/call" || method === "prompts/get") return stringMember(params, "name");
  return method === "resources/read" ? stringMember(params, "uri") : undefined;
}

function checkParameters(headers: IncomingHttpHeaders, params: JsonObject, board: Board): void {
  const schema = member(findByName(toolsOf(board), member(params, "name"))?.listed, "inputSchema");
  const properties = member(schema, "properties");
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const suffix = stringMember(property, "x-mcp-header");
    const inBody: Json | undefined = member(member(params, "arguments"), name);
    if (suffix === undefined || inBody === undefined) continue;
    const given = header(headers, `Mcp-Param-${suffix}`);
    if (given === undefined || decoded(given) !== (typeof inBody === "string" ? inBody : JSON.stringify(inBody)))
      throw mismatch(`Mcp-Param-${suffix}`);
  }
}

/** Compares the headers that SEP-2243 duplicates from the body; a difference is how a message smuggles past a proxy. */
export function checkHeaders(headers: IncomingHttpHeaders, method: string, params: JsonObject, board: Board): void {
  const version = member(member(params, "_meta"), "io.modelcontextprotocol/protocolVersion");
  const announced = header(headers, "MCP-Protocol-Version");
  if (version !== undefined && announced !== version) throw mismatch("MCP-Protocol-Version");
  // Whoever speaks another revision is answered about that first.
  if (version !== modernRevision) return;
  if (header(headers, "Mcp-Method") !== method) throw mismatch("Mcp-Method");
  const name = nameInBody(method, params);
  const given = header(headers, "Mcp-Name");
  if (name !== undefined && (given === undefined || decoded(given) !== name)) throw mismatch("Mcp-Name");
  if (method === "tools/call") checkParameters(headers, params, board);
}
