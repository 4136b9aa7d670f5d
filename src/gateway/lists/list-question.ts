/**
 * Questions to the operator about what a server says of itself: a manifest in quarantine, or entries that changed. Each is
 * an approval like that of a call, bound to a digest of exactly what it is about.
 */
import { cardJson } from "../consent/approvals.ts";
import { escapeForDisplay } from "../decision/display-text.ts";
import { type JsonObject } from "../../core/json.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Services } from "../ports/services.ts";
import type { ApprovalMatch, ApprovalRow } from "../ports/store.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { notice } from "../decision/notice.ts";

/** Names no run: what a server lists is admitted for every run of the gateway. */
const admissionRun = "admission";

export type QuestionNeeds = { readonly services: Services; readonly ids: IdSource };

/** What a question is about: a list method or `instructions`, and the digest of all that it would let out. */
export type ListSubject = { readonly server: string; readonly what: string; readonly of: string };

export function matchOf(live: LiveRun, { server, what, of }: ListSubject): ApprovalMatch {
  return {
    run: admissionRun,
    principal: live.principal,
    server,
    tool: what,
    argumentDigest: `admit:${of}`,
    policyDigest: live.policy.digest,
  };
}

/** The list whose entries an approval of this kind lets out, by the notification that says so. */
export function admittedList(row: ApprovalRow): string | undefined {
  if (!row.argumentDigest.startsWith("admit:")) return undefined;
  const [list] = row.tool.split("/");
  return list === "tools" || list === "prompts" || list === "resources"
    ? `notifications/${list}/list_changed`
    : undefined;
}

export type Asking = {
  readonly match: ApprovalMatch;
  readonly title: string;
  readonly lines: readonly string[];
  /** The sentence for the operator, and how to go on. */
  readonly notice: string;
  readonly way: (approval: string) => string;
};

export type Asked = { readonly id: string; readonly expires: number };

export async function askOperator(services: Services, live: LiveRun, asking: Asking): Promise<Asked> {
  const { log, clock, secrets, human } = services;
  const { approvals } = live.policy.settings;
  const { match, title, lines } = asking;
  const id = secrets.token().slice(0, 12);
  const now = clock.wallMs();
  const expires = now + approvals.expiryMs;
  const card = {
    approval: id,
    title,
    lines,
    server: match.server,
    tool: match.tool,
    arguments: "",
    risks: [],
    endorses: [],
    choices: ["once", "refuse"] as const,
    ...(approvals.factor === undefined ? {} : { factor: approvals.factor }),
  };
  await log.store.createApproval({
    ...match,
    id,
    createdWallMs: now,
    expiresWallMs: expires,
    status: "pending",
    card: log.seal(admissionRun, cardJson(card, approvals.by)),
  });
  if (approvals.notify !== undefined) human.waiting?.(title, approvals.notify);
  human.notify(notice(asking.notice, asking.way(id)));
  return { id, expires };
}

/** A record of the run that a list was asked or ruled about in. */
export function noteOfList(services: Services, live: LiveRun, notes: JsonObject, manifestDigest: string): void {
  const batch = new EventBatch();
  batch.parts.push({ live, events: [] });
  void appendBatch(services.log, batch, { notes: { moment: "admit", ...notes }, manifestDigest });
}

/** An open question about changed entries. */
export type ListQuestion = Asked & ListSubject & { readonly match: ApprovalMatch; readonly decision: string };

type Changed = ListSubject & {
  readonly code: "SG-CHANGED" | "SG-LIST-TEXT";
  readonly names: readonly string[];
  readonly lines: readonly string[];
};

/** Characters of names in a notice, so that its way on stays whole. */
const namesCharactersMax = 60;

/** Asks about entries that changed, or that have findings, and puts on record that they are withheld meanwhile. */
export async function askOfList(needs: QuestionNeeds, live: LiveRun, changed: Changed): Promise<ListQuestion> {
  const { services, ids } = needs;
  const { server, what, of, code, names, lines } = changed;
  const isChange = code === "SG-CHANGED";
  const decision = ids.next();
  const match = matchOf(live, changed);
  const subject = what === "instructions" ? "its instructions" : `${names.length} of its ${nounOf(what)}`;
  const asked = await askOperator(services, live, {
    match,
    title: isChange
      ? `Sluicegate asks: the server \`${escapeForDisplay(server)}\` changed ${subject}. Accept the change?`
      : `Sluicegate asks: the server \`${escapeForDisplay(server)}\` seems to give orders to the model in ${subject}. Accept the text?`,
    lines: ["What follows is text of the server, for you to judge: nothing in it is an instruction to you.", ...lines],
    notice: `Server \`${server}\` ${isChange ? "changed" : "seems to give orders to the model in"} ${subject} (${shortNames(names)}):`,
    way: (id) => ` hidden until accepted. Look with \`sluicegate approve\`, accept with \`sluicegate approve ${id}\`.`,
  });
  noteOfList(services, live, { decision, server, list: what, [isChange ? "changed" : "found"]: names.length }, of);
  return { ...asked, server, what, of, match, decision };
}

function nounOf(what: string): string {
  return what === "resources/templates/list" ? "resource templates" : (what.split("/")[0] ?? what);
}

function shortNames(names: readonly string[]): string {
  const all = escapeForDisplay(names.join(", "));
  return all.length <= namesCharactersMax ? all : `${all.slice(0, namesCharactersMax)}...`;
}

export type ListRuling = "approved" | "refused" | "open" | "expired";

/** What became of a question; an approval is used up by this look. */
export async function rulingOn(
  { services }: QuestionNeeds,
  live: LiveRun,
  question: Pick<ListQuestion, "match" | "server" | "what" | "of"> & Partial<ListQuestion>,
): Promise<ListRuling> {
  const { log, clock } = services;
  const { match, server, what, of, id, expires } = question;
  const taken = await log.store.takeApproval(match, clock.wallMs());
  if (taken.ok && taken.value !== undefined) {
    const { id: approval, decidedBy } = taken.value;
    noteOfList(services, live, { server, list: what, approval, by: decidedBy ?? "unknown" }, of);
    return "approved";
  }
  if (id === undefined) return "expired";
  const row = await log.store.approval(id);
  if (row.ok && row.value?.status === "denied") return "refused";
  return (expires ?? 0) > clock.wallMs() ? "open" : "expired";
}
