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
import { cardJson } from "../consent/approvals.ts";
import { escapeForDisplay } from "../decision/display-text.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { ApprovalMatch, ApprovalRow, ManifestRow } from "../ports/store.ts";
import type { Services } from "../ports/services.ts";
import type { IdSource } from "../ports/ids.ts";

export type QuarantineNeeds = {
  readonly services: Services;
  readonly admissions: Admissions;
  readonly ids: IdSource;
};

/** Names no run: a manifest is admitted for every run of the gateway. */
const admissionRun = "admission";

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

/** The list whose entries an approval of this kind lets out, by the notification that says so. */
export function admittedList(row: ApprovalRow): string | undefined {
  if (!row.argumentDigest.startsWith("admit:")) return undefined;
  const [list] = row.tool.split("/");
  return list === "tools" || list === "prompts" || list === "resources"
    ? `notifications/${list}/list_changed`
    : undefined;
}

const connected: Admission = { kind: "connected" };

async function taken(subject: Quarantine): Promise<Admission | undefined> {
  const { needs, live, key } = subject;
  const { log, clock } = needs.services;
  const row = await log.store.takeApproval(matchOf(subject), clock.wallMs());
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
  const batch = new EventBatch();
  batch.parts.push({ live, events: [] });
  const notes = { moment: "admit", server: key.server, approval: row.value.id, by };
  void appendBatch(log, batch, { notes, manifestDigest: key.manifestDigest });
  return connected;
}

async function ask(subject: Quarantine, decision: Decision, id: string): Promise<Admission> {
  const { needs, live, key, what, contracts } = subject;
  const { log, clock, secrets, human } = needs.services;
  const { approvals } = live.policy.settings;
  const approval = secrets.token().slice(0, 12);
  const now = clock.wallMs();
  const names = contracts.map(({ tool }) => escapeForDisplay(tool)).join(", ");
  const card = {
    approval,
    title: `Sluicegate asks: admit ${what} of the server \`${escapeForDisplay(key.server)}\`?`,
    lines: [
      ...cardLines(decision).map(escapeForDisplay),
      ...(names === "" ? [] : [`It lists ${names}`.slice(0, namesCharactersMax)]),
    ],
    server: key.server,
    tool: what,
    arguments: "",
    risks: [],
    endorses: [],
    choices: ["once", "refuse"] as const,
    ...(approvals.factor === undefined ? {} : { factor: approvals.factor }),
  };
  const expires = now + approvals.expiryMs;
  await log.store.createApproval({
    ...matchOf(subject),
    id: approval,
    createdWallMs: now,
    expiresWallMs: expires,
    status: "pending",
    card: log.seal(admissionRun, cardJson(card, approvals.by)),
  });
  if (approvals.notify !== undefined) human.waiting?.(card.title, approvals.notify);
  const codes = decidingCodes(decision).join(", ");
  human.notify(
    `Server \`${key.server}\` is quarantined (${codes}): ${what} is hidden. Look with \`sluicegate approve\`, release it with \`sluicegate approve ${approval}\`.`.slice(
      0,
      240,
    ),
  );
  return { kind: "quarantined", decision: id, approval: { id: approval, expires } };
}

function matchOf({ live, key, what }: Quarantine): ApprovalMatch {
  return {
    run: admissionRun,
    principal: live.principal,
    server: key.server,
    tool: what,
    argumentDigest: `admit:${key.manifestDigest}`,
    policyDigest: key.policyDigest,
  };
}

function pinKey({ server, manifestDigest, policyDigest }: AdmissionKey): string {
  return `pin ${policyDigest} ${manifestDigest} ${server}`;
}
