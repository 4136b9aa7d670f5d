/**
 * Approvals (gateway.md 5): each is bound to run, principal, server, tool, argument digest and policy digest, expires,
 * and is used once. The repeated call finds it by digest, so the model never carries an id that matters.
 */
import type { ToolContract } from "../core/contract.ts";
import type { JsonObject } from "../core/json.ts";
import { isArray, stringMember } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import type { Call } from "./call.ts";
import type { ApprovalCard, ApprovalChoice, Clock } from "./services-port.ts";
import type { ApprovalMatch, ApprovalRow, EventLog } from "./store-port.ts";

/** `release` opens a stored result; it must never stand for a new call, so it has a digest of its own. */
export type Purpose = "call" | "release" | "admit";

export function approvalMatch<Q>(
  call: Pick<Call<Q>, "live" | "digest"> & { readonly contract: Pick<ToolContract, "server" | "tool"> },
  purpose: Purpose,
): ApprovalMatch {
  return {
    run: call.live.key,
    principal: call.live.principal,
    server: call.contract.server,
    tool: call.contract.tool,
    argumentDigest: `${purpose}:${call.digest}`,
    policyDigest: call.live.policy.digest,
  };
}

/** What a person decided about a pending approval, and who that is. */
export type ApprovalRuling = {
  readonly id: string;
  readonly choice: ApprovalChoice;
  readonly by: string;
  /** `operator`, `owner` ...: how the person was identified. */
  readonly role: string;
};

/** The card as it is stored with the row; `by` repeats the policy's rule, so that a CLI can hold it. */
export function cardJson(card: ApprovalCard, by: "anyone" | "other"): JsonObject {
  return {
    approval: card.approval,
    title: card.title,
    lines: [...card.lines],
    server: card.server,
    tool: card.tool,
    arguments: card.arguments,
    risks: [...card.risks],
    endorses: [...card.endorses],
    choices: [...card.choices],
    by,
  };
}

/**
 * Whether this person may rule so: refused where the policy wants somebody else than the owner of the run, and where
 * the choice was not offered. Whoever answers a call that is held asks first, so that nobody is told of a consent that
 * was none. The error is a sentence for that person.
 */
export async function checkRuling(
  log: EventLog,
  clock: Clock,
  ruling: Omit<ApprovalRuling, "role">,
): Promise<Result<void, string>> {
  const found = await log.store.approval(ruling.id);
  if (!found.ok) return err(found.error.sentence);
  const row = found.value;
  if (row === undefined || row.expiresWallMs <= clock.wallMs()) {
    return err(
      `No approval \`${ruling.id}\` is open: it was used, decided or has expired. Repeat the call to get a new one.`,
    );
  }
  const card = row.card === undefined ? undefined : log.open(row.run, row.card);
  // Whoever came with credentials of another origin (`os:1000/credentials:...`) may be the same person.
  const own = row.principal === ruling.by || row.principal.startsWith(`${ruling.by}/`);
  if (stringMember(card, "by") === "other" && own) {
    return err("The policy wants somebody else to approve this: the owner of a run may not approve its own calls.");
  }
  const choices = card?.["choices"];
  if (ruling.choice === "value" && !(isArray(choices) && choices.includes("value"))) {
    return err("This approval does not offer to endorse one value. Approve it once, or refuse it.");
  }
  return ok(undefined);
}

/** Records a person's ruling; the error is a sentence for that person. */
export async function ruleApproval(
  log: EventLog,
  clock: Clock,
  ruling: ApprovalRuling,
): Promise<Result<ApprovalRow, string>> {
  const checked = await checkRuling(log, clock, ruling);
  if (!checked.ok) return checked;
  const decided = await log.store.decideApproval({
    id: ruling.id,
    verdict: ruling.choice === "refuse" ? "denied" : "approved",
    by: ruling.by,
    // The row has no column for the choice; it travels behind the role.
    role: ruling.choice === "value" ? `${ruling.role}/value` : ruling.role,
    wallMs: clock.wallMs(),
  });
  if (!decided.ok) return err(decided.error.sentence);
  if (decided.value === undefined)
    return err(`Approval \`${ruling.id}\` is decided already: if it was approved, repeat the same call.`);
  return ok(decided.value);
}

/** The risks that a stored card named. */
export function risksOn(card: JsonObject | undefined): readonly string[] {
  return textsOn(card, "risks");
}

/** Digests of the values that a stored card offered to endorse. */
export function endorsedOn(card: JsonObject | undefined): readonly string[] {
  return textsOn(card, "endorses");
}

function textsOn(card: JsonObject | undefined, name: string): readonly string[] {
  const texts = card?.[name];
  return isArray(texts) ? texts.filter((text) => typeof text === "string") : [];
}

/** The choice that a decided row carries. */
export function choiceOf(row: ApprovalRow): "once" | "value" {
  return row.role?.endsWith("/value") === true ? "value" : "once";
}
