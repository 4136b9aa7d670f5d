/**
 * The outbox of a run that is taken up again. Who was told that a call waits will not repeat it, so a restart must not
 * lose it: what the log still has whole is held again, and judged again before it is sent; of the rest it is said why
 * it never will be.
 */
import { isObject, member, stringMember } from "../core/json.ts";
import type { JsonObject } from "../core/json.ts";
import { callDigest } from "./call.ts";
import type { LiveRun } from "./live-run.ts";
import type { Held } from "./outbox.ts";
import type { Secrets } from "./services-port.ts";
import type { Waiting } from "./store-port.ts";

/** Why a call that waited before a restart is not held again. */
export type LostCause = "unreadable" | "policy" | "repeated" | "refused";

export type Resumed<Q> =
  | { readonly kind: "held"; readonly held: Held<Q> }
  | { readonly kind: "lost"; readonly call: string; readonly name: CallName; readonly cause: LostCause }
  /** On record as lost before this restart: only the end of the run still has to say it. */
  | { readonly kind: "told"; readonly name: CallName; readonly cause: LostCause };

export type CallName = { readonly server: string; readonly tool: string };

/** A call that the log shows waiting, as it is to be held, or why it cannot be. */
export function resumedCall<Q>(live: LiveRun<Q>, waiting: Waiting, hash: Secrets["hash"]): Resumed<Q> {
  const { call, digest, notes, details, lost } = waiting;
  const name = { server: stringMember(notes, "server") ?? "?", tool: stringMember(notes, "tool") ?? "?" };
  if (lost !== undefined) return { kind: "told", name, cause: causeOf(lost) };
  if (waiting.repeated === true) return { kind: "lost", call, name, cause: "repeated" };
  if (waiting.policyDigest !== live.policy.digest) return { kind: "lost", call, name, cause: "policy" };
  const method = stringMember(details, "method");
  const given = member(details, "arguments");
  // Without its payload, or with a secret taken out of it, it is another call than the one that was held.
  if (method === undefined || !isObject(given)) return { kind: "lost", call, name, cause: "unreadable" };
  const kept = given as JsonObject; // narrowed; the compiler keeps RawNumber in the union
  if (callDigest(name, method, kept, hash) !== digest) return { kind: "lost", call, name, cause: "unreadable" };
  const toolDigest = stringMember(notes, "toolDigest");
  return { kind: "held", held: { id: call, live, ...name, arguments: kept, digest, toolDigest } };
}

const lostCauses: readonly LostCause[] = ["unreadable", "policy", "repeated", "refused"];

function causeOf(text: string): LostCause {
  return lostCauses.find((cause) => cause === text) ?? "unreadable";
}
