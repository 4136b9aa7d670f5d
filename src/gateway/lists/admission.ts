/**
 * Admission of a server's description of itself (gateway.md 2): a model may read its strings only once they are
 * admitted.
 */
import type { ToolContract } from "../../core/contract.ts";
import { decidingCodes } from "../../core/explain/render.ts";
import type { Admission } from "../decision/admissions.ts";
import { isObserved, notesOf } from "../decision/call.ts";
import type { ListState } from "../upstream/listed-tools.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { decide } from "../decision/ask-loop.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { selfDescription } from "./entry-form.ts";
import { type WithheldNeeds, withheldOf } from "./withheld-entries.ts";
import { type Quarantine, type QuarantineNeeds, quarantine, released } from "./quarantine.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { metaKeys } from "../../wire/meta.ts";
import { notice } from "../decision/notice.ts";

export type AdmissionNeeds = QuarantineNeeds & {
  readonly server: string;
};

export type AdmitQuery = {
  readonly state: Pick<ListState, "digest">;
  readonly contracts: readonly ToolContract[];
  /** A list method, or `instructions`. */
  readonly what: string;
};

/**
 * Decides a manifest once for each (server, manifest, policy, enclosed process). Deny and confirm quarantine it: nothing of it is listed
 * or callable. A deny stays until policy or manifest change; a confirm until the operator approves.
 */
export function admitList(
  needs: AdmissionNeeds,
  live: LiveRun,
  { state, contracts, what }: AdmitQuery,
): Admission | Promise<Admission> {
  // One process serves all entries; what was judged of their contracts is not about another one.
  const { tier = "", order = "" } = contracts[0]?.process ?? {};
  const process = `${tier} ${order}`.trim();
  const key = { server: needs.server, manifestDigest: state.digest, policyDigest: live.policy.digest, process };
  const known = needs.admissions.find(key);
  const subject = { needs, live, key, what, contracts };
  if (known === undefined) return judged(subject, (lookUp) => needs.admissions.once(key, lookUp));
  if (known.kind === "connected" || known.approval === undefined) return known;
  return needs.admissions.once(key, async () => (await released(subject, known)) ?? judged(subject, (ask) => ask()));
}

/**
 * `asking` runs the question to the operator, once for all waiting callers; a caller inside of that already runs it
 * plainly.
 */
function judged(
  subject: Quarantine,
  asking: (lookUp: () => Promise<Admission>) => Promise<Admission>,
): Admission | Promise<Admission> {
  const { needs, live, key, contracts } = subject;
  const at = needs.services.clock.monotonicMs();
  const { server, manifestDigest } = key;
  const moment = { kind: "admit", at, server, manifestDigest, contracts } as const;
  const found = decide<Admission | Promise<Admission>>(live, needs.services, moment, (decision, answers) => {
    const observed = isObserved(live, server);
    const id = needs.ids.next();
    const connected = observed || decision.verdict === "allow";
    if (!connected || decision.enforcedVerdict !== "allow") {
      const batch = new EventBatch();
      batch.parts.push({ live, events: [] });
      const notes = { ...notesOf(id, decision, observed), moment: "admit", server };
      void appendBatch(needs.services.log, batch, { decision, answers, notes, manifestDigest });
    }
    if (!connected && decision.verdict === "confirm") {
      return asking(() => quarantine(subject, decision, id));
    }
    const admission: Admission = connected ? { kind: "connected" } : { kind: "quarantined", decision: id };
    needs.admissions.record(key, admission);
    if (!connected) {
      const codes = decidingCodes(decision).join(", ");
      const text = `Server \`${server}\` is quarantined (${codes}): its tools are hidden.`;
      needs.services.human.notify(notice(text, ` See decision ${id}.`));
    }
    return admission;
  });
  return found instanceof Promise ? found.then((one) => one) : found;
}

/** Whether a server says something else of itself than was accepted; its prose is withheld then. */
export async function hasNewProse(needs: WithheldNeeds, live: LiveRun, declared: JsonObject): Promise<boolean> {
  const info = member(declared, "serverInfo") ?? member(member(declared, "_meta"), metaKeys.serverInfo);
  const said = selfDescription(declared, info);
  const { name, version } = identity(info ?? null);
  if (typeof name === "string" && typeof version === "string")
    needs.services.cards?.declared(needs.server, name, version);
  const withheld = await withheldOf(needs, live, { what: "instructions", entries: [said], contracts: [] });
  return withheld !== undefined && !isObserved(live, needs.server);
}

// The part of a server's first answer that passes before admission: the members that the protocol needs, and no prose.

/** Switches, words of the protocol, and numbers. */
const kept = ["protocolVersion", "supportedVersions", "capabilities", "resultType", "ttlMs", "cacheScope"];

/** Bounds a name, so that it cannot hold sentences. */
const nameCharactersMax = 64;

export function withoutProse(declared: JsonObject): JsonObject {
  const entries = Object.entries(declared).filter(([name]) => kept.includes(name));
  const info = member(declared, "serverInfo");
  if (info !== undefined) entries.push(["serverInfo", identity(info)]);
  const modern = member(member(declared, "_meta"), metaKeys.serverInfo);
  if (modern !== undefined) entries.push(["_meta", { [metaKeys.serverInfo]: identity(modern) }]);
  return Object.fromEntries(entries);
}

function identity(info: Json): JsonObject {
  const short = (name: string): string => (stringMember(info, name) ?? "unknown").slice(0, nameCharactersMax);
  return isObject(info) ? { name: short("name"), version: short("version") } : {};
}
