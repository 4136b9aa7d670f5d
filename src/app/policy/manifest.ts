/**
 * Reads what a server lists from a file: a `tools/list` result, the whole JSON-RPC answer, a bare list of tools, or
 * several servers as in a trace. The file is as hostile as the server that wrote it, so it passes the same guard as a
 * message, and numbers keep their lexemes, or digests of tools would not be those that the gateway makes.
 */
import { basename } from "node:path";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Manifests } from "../../policy/canonical/canonical.ts";
import type { ToolLists } from "../../policy/contracts/contracts.ts";
import { guard } from "../../wire/parse/guard.ts";
import { reviveLexemes } from "../../wire/parse/lexemes.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import { wireError } from "../../wire/wire-error.ts";
import { shortPath } from "../state/sentences.ts";
import { serverRule, serverShape } from "./names.ts";
import { fileBytes } from "../state/text-file.ts";

/** A manifest beyond this is refused before it is read; real ones have kilobytes. */
export const manifestBytesMax = 16 * 1024 * 1024;
export const manifestToolsMax = 10_000;

/** Reads `FILE` or `NAME=FILE`. Without a name the server is called like the file, or as `server` says. */
export function readManifest(word: string, named?: string): Result<ToolLists, string> {
  const pair = /^([A-Za-z0-9][\w.-]{0,63})=(.+)$/s.exec(word);
  const file = pair?.[2] ?? word;
  if (pair?.[1] !== undefined && !serverShape.test(pair[1])) {
    return err(`The server of \`${pair[1]}=\` ${serverRule}. Write \`-\` for a dot, as \`run\` does.`);
  }
  const value = readValue(file);
  if (!value.ok) return value;
  const servers = member(value.value, "servers");
  if (isObject(servers)) {
    const lists: [string, readonly JsonObject[]][] = [];
    for (const [name, listed] of Object.entries(servers)) {
      const tools = toolsOf(listed);
      if (tools === undefined) return err(malformed(file, `servers.${name.slice(0, 40)}`));
      lists.push([name, tools]);
    }
    return ok(Object.fromEntries(lists));
  }
  const tools = toolsOf(value.value);
  if (tools === undefined) return err(malformed(file, "it"));
  const server = named ?? pair?.[1] ?? stringMember(value.value, "server") ?? stem(file);
  return ok({ [server]: tools });
}

/** Several manifests as one; the same server twice is refused, because one list would hide the other. */
export function readManifests(words: readonly string[]): Result<ToolLists, string> {
  const all = new Map<string, readonly JsonObject[]>();
  for (const word of words) {
    const read = readManifest(word);
    if (!read.ok) return read;
    for (const [server, tools] of Object.entries(read.value)) {
      if (all.has(server)) {
        return err(`Two manifests name the server \`${server.slice(0, 40)}\`: write NAME=FILE to tell them apart.`);
      }
      all.set(server, tools);
    }
  }
  return ok(Object.fromEntries(all));
}

/** Only the names, as the loader of policies wants them. */
export function toolNames(lists: ToolLists): Manifests {
  return Object.fromEntries(
    Object.entries(lists).map(([server, tools]) => [server, tools.map((tool) => stringMember(tool, "name") ?? "")]),
  );
}

function readValue(file: string): Result<Json, string> {
  const read = fileBytes(file, manifestBytesMax);
  if (!read.ok) {
    return read.error.kind === "large"
      ? err(`${shortPath(file)} is larger than ${manifestBytesMax} bytes: give the list of one server at a time.`)
      : err(`${shortPath(file)} cannot be read (${read.error.why}): name a file with the answer of \`tools/list\`.`);
  }
  const bytes = read.value;
  const verdict = guard(bytes, { ...defaultWireLimits, messageBytesMax: manifestBytesMax });
  if (verdict.kind === "refused") {
    // The remedy there addresses the peer that sent a message; here the input is a file.
    const [why = ""] = wireError(verdict.reason).message.split(". ");
    return err(`${shortPath(file)} is not a manifest: save the answer of \`tools/list\` there as it came. ${why}.`);
  }
  try {
    return ok(reviveLexemes(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    return err(`${shortPath(file)} is not JSON: save the answer of \`tools/list\` there.`);
  }
}

function toolsOf(value: Json): readonly JsonObject[] | undefined {
  const listed = isArray(value) ? value : (member(value, "tools") ?? member(member(value, "result"), "tools"));
  if (!isArray(listed) || listed.length > manifestToolsMax) return undefined;
  const tools = listed.filter((tool): tool is JsonObject => isObject(tool) && stringMember(tool, "name") !== undefined);
  return tools.length === listed.length ? tools : undefined;
}

function malformed(file: string, place: string): string {
  return `${shortPath(file)}: ${place} is not a list of at most ${manifestToolsMax} tools with names: save the answer of \`tools/list\` there.`;
}

function stem(file: string): string {
  return (
    basename(file)
      .replace(/\.[^.]*$/, "")
      // As `run` names a server by its program: a policy takes what stands behind a dot for a tool.
      .replaceAll(/[.*]/g, "-")
      .slice(0, 64) || "server"
  );
}
