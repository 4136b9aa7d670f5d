/**
 * Which run a message belongs to (gateway.md 4). The model is the adversary, the client program is not: a key is good
 * if the model cannot change it. Precedence, best first: a token minted by us, in the URL or in `_meta`; the client
 * process behind a stdio shim, times the hook session; a session id, for clients marked `sessions: trusted`; the
 * authenticated principal. Connections, `traceparent` and `clientInfo` are never keys.
 */
import { type JsonObject, member } from "../../core/json.ts";
import type { ClientProcess, ConnectionFacts } from "../ports/transport.ts";
import { runMetaKey } from "../ports/ids.ts";

/** `trusted` keys start a clean run; a `named` one continues the labels of its principal. */
export type RunKey = {
  readonly key: string;
  readonly kind: "trusted" | "named";
  /** Runs that may hold one conversation; restrictive facts are shared within it. */
  readonly lineage: string | undefined;
};

/** Keys of runs that were started by a trusted act; when such a run has ended its token is worth nothing. */
export const mintedPrefix = "run-";

/** Keys of the streams of lineages (`streams/lineage-stream.ts`), which no message belongs to. */
export const streamPrefix = "stream:";

/** A token that names a run: `KEY.MAC`. The key part is ours, so it holds no character that needs escaping. */
export function mintRunToken(key: string, mac: (text: string) => string): string {
  return `${key}.${tokenMac(key, mac)}`;
}

/** The run key of a token, or undefined for a token that this installation did not mint. */
export function checkRunToken(token: string, mac: (text: string) => string): string | undefined {
  const dot = token.lastIndexOf(".");
  if (dot <= 0 || token.length > 256) return undefined;
  const key = token.slice(0, dot);
  return sameText(token.slice(dot + 1), tokenMac(key, mac)) ? key : undefined;
}

/** Whether a token that this installation minted stands anywhere in a text that is about to leave it. */
export function holdsRunToken(text: string, mac: (text: string) => string): boolean {
  const shaped = text.matchAll(/run-[0-9a-z]{1,64}\.[0-9a-z]{32}/gi);
  return [...shaped].some(([token]) => checkRunToken(token, mac) !== undefined);
}

function tokenMac(key: string, mac: (text: string) => string): string {
  return mac(`run token ${key}`).slice(0, 32);
}

/** Compares without an early exit, so that timing does not reveal how much of a forged tag was right. */
function sameText(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index += 1) difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  return difference === 0;
}

export type KeyQuery = {
  readonly facts: ConnectionFacts;
  readonly params: JsonObject | undefined;
  readonly sessionsTrusted: boolean;
  /** Conversation that the client's hook last reported for this client process or principal. */
  readonly hookSession: string | undefined;
  readonly mac: (text: string) => string;
};

/** The best key of a message. A token that does not check counts as absent here; transports refuse it earlier. */
export function runKeyOf({ facts, params, sessionsTrusted, hookSession, mac }: KeyQuery): RunKey {
  const minted = facts.runToken === undefined ? undefined : checkRunToken(facts.runToken, mac);
  if (minted !== undefined) return { key: minted, kind: "trusted", lineage: undefined };
  const inMeta = member(member(params, "_meta"), runMetaKey);
  const signed = typeof inMeta === "string" ? checkRunToken(inMeta, mac) : undefined;
  if (signed !== undefined) return { key: signed, kind: "trusted", lineage: undefined };
  const { principal } = facts;
  const keyed = (key: string, kind: RunKey["kind"]): RunKey => ({ key, kind, lineage: lineageOf(key, principal) });
  if (facts.process !== undefined) {
    const process = processPrefix(principal, facts.process);
    return keyed(hookSession === undefined ? process : `${process}/${hookSession}`, "trusted");
  }
  if (hookSession !== undefined) return keyed(`${principal}/hook:${hookSession}`, "trusted");
  if (facts.sessionId !== undefined && sessionsTrusted)
    return keyed(sessionRunKey(principal, facts.sessionId), "named");
  return keyed(anyOf(principal), "named");
}

/** The key of the run of a session, which nothing but that session's messages leads to. */
export function sessionRunKey(principal: string, sessionId: string): string {
  return `${principal}/session:${sessionId}`;
}

function anyOf(principal: string): string {
  return `${principal}/any`;
}

/**
 * The lineage of the runs that may hold one conversation, read from the key of one; undefined if it is alone. Sessions
 * and client processes without a hook do not say which conversation they are, and one client may be several of them, so
 * all of a principal may hold the same one.
 */
export function lineageOf(key: string, principal: string): string | undefined {
  // Where the system does not say which process it is, a hook may name the conversation of another one.
  const conversation = processOf(key, principal)?.startedAt === "" ? undefined : conversationOf(key, principal);
  if (conversation !== undefined) return `${principal}/conversation:${conversation}`;
  const any = anyOf(principal);
  return key === any || /^(?:session|process):/.test(ownPart(key, principal)) ? any : undefined;
}

/** The run of a client process from before its hook named the conversation of this key. */
export function earlyKeyOf(key: string, principal: string): string | undefined {
  const process = /^process:[^/]*(?=\/)/.exec(ownPart(key, principal))?.[0];
  return process === undefined ? undefined : `${principal}/${process}`;
}

/** The conversation that a hook named and a key holds. */
export function conversationOf(key: string, principal: string): string | undefined {
  return /^(?:hook:|process:[^/]*\/)(.*)$/s.exec(ownPart(key, principal))?.[1];
}

/** The client process that a key names. */
export function processOf(key: string, principal: string): ClientProcess | undefined {
  const found = /^process:(\d+)@([^/]*)/.exec(ownPart(key, principal));
  return found === null ? undefined : { pid: Number(found[1]), startedAt: found[2] ?? "" };
}

/** The start of the keys of the runs of a client process. */
export function processPrefix(principal: string, { pid, startedAt }: ClientProcess): string {
  return `${principal}/process:${pid}@${startedAt}`;
}

/** The key without its principal; empty for a key of another principal, or of none. */
function ownPart(key: string, principal: string): string {
  return key.startsWith(`${principal}/`) ? key.slice(principal.length + 1) : "";
}
