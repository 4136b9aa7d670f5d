/**
 * The way out of quarantine (system.md 3, `admit`: confirm asks the operator). The operator gets an approval id; once
 * `sluicegate approve` grants it, the manifest is pinned under its digest and the policy's, over restarts. A changed
 * manifest has another digest, so it is judged and asked about again. A manifest that the policy denies cannot be
 * approved.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import { cardLines, decidingCodes } from "../../core/explain/render.ts";
import type { Admission, AdmissionKey, Admissions } from "../decision/admissions.ts";
import { escapeForDisplay } from "../decision/display-text.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { ManifestRow } from "../ports/cached-rows.ts";

import type { Services } from "../ports/services.ts";
import type { IdSource } from "../ports/ids.ts";
import { type ListSubject, askOperator, matchOf, noteOfList } from "./list-question.ts";

export type QuarantineNeeds = {
  readonly services: Services;
  readonly admissions: Admissions;
  readonly ids: IdSource;
};

/** Characters of tool names on the card. */
const namesCharactersMax = 400;

export type Quarantine = {
  readonly needs: QuarantineNeeds;
  readonly live: LiveRun;
  readonly key: AdmissionKey;
  /** The subject of admission: a list method, or `instructions`. */
  readonly what: string;
  readonly contracts: readonly ToolContract[];
};

/** First time that a manifest is to be confirmed: pinned before, approved meanwhile, or asked about now. */
export async function quarantine(subject: Quarantine, decision: Decision, id: string): Promise<Admission> {
  const { needs, key } = subject;
  const pinned = await needs.services.log.store.manifest(pinKey(key));
  const free = pinned.ok && pinned.value !== undefined ? connected : await taken(subject);
  const admission = free ?? (await ask(subject, decision, id));
  needs.admissions.record(key, admission);
  return admission;
}

/** Looks a manifest in quarantine up again: the operator may have ruled meanwhile. */
export async function released(
  subject: Quarantine,
  held: Extract<Admission, { kind: "quarantined" }>,
): Promise<Admission | undefined> {
  const { needs, key } = subject;
  const free = await taken(subject);
  if (free !== undefined) {
    needs.admissions.record(key, free);
    return free;
  }
  if (held.approval === undefined) return held;
  const row = await needs.services.log.store.approval(held.approval.id);
  if (row.ok && row.value?.status === "denied") {
    const final: Admission = { kind: "quarantined", decision: held.decision };
    needs.admissions.record(key, final);
    return final;
  }
  // Undefined where the approval ran out: the manifest is judged again, which asks again.
  return held.approval.expires > needs.services.clock.wallMs() ? held : undefined;
}

const connected: Admission = { kind: "connected" };

async function taken(subject: Quarantine): Promise<Admission | undefined> {
  const { needs, live, key } = subject;
  const { log, clock } = needs.services;
  const row = await log.store.takeApproval(matchOf(live, subjectOf(subject)), clock.wallMs());
  if (!row.ok || row.value === undefined) return undefined;
  const by = row.value.decidedBy ?? "unknown";
  const pin: ManifestRow = {
    key: pinKey(key),
    server: key.server,
    revision: "",
    digest: key.manifestDigest,
    capabilities: {},
    manifest: { approval: row.value.id, by },
    seenWallMs: clock.wallMs(),
  };
  await log.store.putManifest(pin);
  noteOfList(needs.services, live, { server: key.server, approval: row.value.id, by }, key.manifestDigest);
  return connected;
}

async function ask(subject: Quarantine, decision: Decision, id: string): Promise<Admission> {
  const { needs, live, key, what, contracts } = subject;
  const names = contracts.map(({ tool }) => escapeForDisplay(tool)).join(", ");
  const codes = decidingCodes(decision).join(", ");
  const asked = await askOperator(needs.services, live, {
    match: matchOf(live, subjectOf(subject)),
    title: `Sluicegate asks: admit ${what} of the server \`${escapeForDisplay(key.server)}\`?`,
    lines: [
      ...cardLines(decision).map(escapeForDisplay),
      ...(names === "" ? [] : [`It lists ${names}`.slice(0, namesCharactersMax)]),
    ],
    notice: `Server \`${key.server}\` is quarantined (${codes}): ${what} is hidden.`,
    way: (approval) => ` Look with \`sluicegate approve\`, release it with \`sluicegate approve ${approval}\`.`,
  });
  return { kind: "quarantined", decision: id, approval: asked };
}

function subjectOf({ key, what }: Quarantine): ListSubject {
  return { server: key.server, what, of: key.manifestDigest };
}

function pinKey({ server, manifestDigest, policyDigest }: AdmissionKey): string {
  return `pin ${policyDigest} ${manifestDigest} ${server}`;
}
