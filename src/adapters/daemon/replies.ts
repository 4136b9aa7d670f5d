/** Reading the daemon's lines on the client's side: handshake replies, control replies, side lines. */
import { member, stringMember, type Json } from "../../core/json.ts";
import {
  type ControlReply,
  type Refusal,
  type RunReply,
  type SideLine,
  type SignalLine,
  parseIdentity,
  parseJson,
} from "./protocol.ts";

const garbled: Refusal = {
  kind: "refused",
  reason: "refused",
  version: "",
  refused: "The Sluicegate daemon gave an answer that cannot be read: run `sluicegate daemon stop`, then try again.",
};

/** Parses the reply to a run hello; an invalid line is returned as a refusal. */
export function parseRunReply(text: string): RunReply {
  const value = parseJson(text);
  const session = stringMember(value, "session");
  const run = stringMember(value, "run");
  if (stringMember(value, "kind") === "accepted" && session !== undefined && run !== undefined) {
    return { kind: "accepted", session, run };
  }
  return parseRefusal(value);
}

/** Parses one reply line of the control channel; an invalid line is returned as a refusal. */
export function parseControlReply(text: string): ControlReply {
  const value = parseJson(text);
  const kind = stringMember(value, "kind");
  if (kind === "part" || kind === "value") return { kind, value: member(value, "value") ?? null };
  return parseRefusal(value);
}

/** Parses a line of the side connection from the daemon; undefined if it is invalid. */
export function parseSideLine(text: string): SideLine | undefined {
  const value = parseJson(text);
  const kind = stringMember(value, "kind");
  if (kind === "stderr") return { kind, bytes: stringMember(value, "bytes") ?? "" };
  if (kind === "group") {
    const leader = parseIdentity(member(value, "leader"));
    return leader === undefined ? undefined : { kind, leader };
  }
  if (kind !== "ended") return undefined;
  const end = member(value, "end");
  return {
    kind,
    end: { exitCode: member(end, "exitCode") === 0 ? 0 : 1, sentence: stringMember(end, "sentence") ?? "" },
  };
}

/** Parses a line of the side connection from the shim; undefined if it is invalid. */
export function parseSignalLine(text: string): SignalLine | undefined {
  const value = parseJson(text);
  const name = stringMember(value, "name");
  if (stringMember(value, "kind") !== "signal") return undefined;
  return name === "SIGINT" || name === "SIGTERM" || name === "SIGHUP" ? { kind: "signal", name } : undefined;
}

function parseRefusal(value: Json | undefined): Refusal {
  const refused = stringMember(value, "refused");
  const reason = stringMember(value, "reason");
  if (refused === undefined) return garbled;
  return {
    kind: "refused",
    reason: reason === "version" || reason === "draining" ? reason : "refused",
    version: stringMember(value, "version") ?? "",
    refused,
  };
}
