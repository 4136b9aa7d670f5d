/**
 * Approvals (gateway.md 5): each is bound to run, principal, server, tool, argument digest and policy digest, expires,
 * and is used once. The repeated call finds it by digest, so the model never carries an id that matters.
 */
import { type ConsentFactor, consentFactor } from "../../core/consent-factor.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type JsonObject, isArray, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Call } from "../decision/call.ts";
import type { ApprovalCard, ApprovalChoice, Clock } from "../ports/services.ts";
import type { ApprovalMatch, ApprovalRow, EventLog } from "../ports/store.ts";

/** `release` opens a stored result; it must never stand for a new call, so it has a digest of its own. */
export type Purpose = "call" | "release" | "admit";

export function approvalMatch(
  call: Pick<Call, "live" | "digest"> & { readonly contract: Pick<ToolContract, "server" | "tool"> },
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

/** The ruling of an approver on a pending approval, and the identity of the approver. */
export type ApprovalRuling = {
  readonly id: string;
  readonly choice: ApprovalChoice;
  readonly by: string;
  /** `operator`, `owner` ...: how the approver was identified. */
  readonly role: string;
};

/** The card as it is stored with the row; `by` repeats the policy's rule, so that a CLI can enforce it. */
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
    ...(card.factor === undefined ? {} : { factor: card.factor }),
    ...(card.always === undefined ? {} : { always: { ...card.always } }),
    by,
  };
}

type StoredCard = Pick<ApprovalCard, "title" | "lines" | "arguments" | "risks"> & {
  readonly choices: readonly string[];
  readonly by: "anyone" | "other";
  readonly factor?: ConsentFactor;
  readonly always?: { readonly rule: string } | { readonly why: string };
};

/** The card of a row; undefined if it cannot be opened, is of another approval, or a member is of another kind. */
export function storedCard(log: EventLog, { id, run, card }: ApprovalRow): StoredCard | undefined {
  const opened = card === undefined ? undefined : log.open(run, card);
  const [title, shown, by] = [opened?.["title"], opened?.["arguments"], opened?.["by"]];
  const [lines, risks, choices] = [textsOn(opened, "lines"), textsOn(opened, "risks"), textsOn(opened, "choices")];
  if (opened === undefined || opened["approval"] !== id || textsOn(opened, "endorses") === undefined) return undefined;
  if (typeof title !== "string" || typeof shown !== "string" || (by !== "anyone" && by !== "other")) return undefined;
  if (lines === undefined || risks === undefined || choices === undefined) return undefined;
  const always = alwaysOn(opened);
  const factor = consentFactor(stringMember(opened, "factor"));
  // A factor that this version does not know must not count as none.
  if (factor === undefined && opened["factor"] !== undefined) return undefined;
  const proven: Pick<StoredCard, "factor"> = factor === undefined ? {} : { factor };
  return { title, lines, arguments: shown, risks, choices, by, ...proven, ...(always === undefined ? {} : { always }) };
}

function alwaysOn(card: JsonObject): ApprovalCard["always"] {
  const rule = stringMember(card["always"], "rule");
  const why = stringMember(card["always"], "why");
  return rule === undefined ? (why === undefined ? undefined : { why }) : { rule };
}

/**
 * Checks that this approver may rule so: refused where the policy requires an approver other than the owner of the run,
 * where the choice was not offered, and where the card cannot be read; such a card can only be refused. A caller that
 * answers a held call checks first, so that no client is informed of a consent that is not valid. The error is a sentence
 * for the approver.
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
  const card = storedCard(log, row);
  if (card === undefined) {
    if (ruling.choice === "refuse") return ok(undefined);
    return err(
      `The card of approval \`${ruling.id}\` cannot be read, so it can only be refused. After it has expired, repeat the call to get a new card.`,
    );
  }
  // A principal with credentials of another origin (`os:1000/credentials:...`) may be the same user.
  const own = row.principal === ruling.by || row.principal.startsWith(`${ruling.by}/`);
  if (card.by === "other" && own && ruling.choice !== "refuse") {
    return err("This policy requires a second person: the owner of a run cannot approve its calls.");
  }
  if (ruling.choice === "value" && !card.choices.includes("value")) {
    return err("This approval does not offer to endorse one value. Approve it once, or refuse it.");
  }
  return ok(undefined);
}

/** Records the ruling of an approver; the error is a sentence for the approver. */
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

/** The risks that a stored card named, each `HAZARD MOVE`; empty without a card. */
export function risksOn(card: JsonObject | undefined): readonly string[] {
  return textsOn(card, "risks") ?? [];
}

/** Digests of the values that a stored card offered to endorse. */
export function endorsedOn(card: JsonObject | undefined): readonly string[] {
  return textsOn(card, "endorses") ?? [];
}

function textsOn(card: JsonObject | undefined, name: string): readonly string[] | undefined {
  const texts = card?.[name];
  return isArray(texts) && texts.every((text) => typeof text === "string") ? texts : undefined;
}

/** The choice of a decided row: `value` where its role ends with `/value`, else `once`. */
export function choiceOf(row: ApprovalRow): "once" | "value" {
  return row.role?.endsWith("/value") === true ? "value" : "once";
}
