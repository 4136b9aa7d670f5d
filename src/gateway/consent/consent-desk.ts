/**
 * Obtains the consent of an approver (gateway.md 5). Order: an approval that already exists, a sealed `input_required`
 * for modern clients, an elicitation form for legacy ones and at the same time an approver who watches the console or
 * CLI, and otherwise a refusal with the way to approve. Form and watcher share one deadline, and the first answer
 * counts: a request is never held longer than `consentHoldMsMax`, however often it is asked about. Consent lifts
 * confirm, never deny.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { Decision } from "../../core/decision.ts";
import type { Grant } from "../../core/event.ts";
import { type Json, type JsonObject, member, stringMember } from "../../core/json.ts";
import { cardLines, risksIn } from "../../core/explain/render.ts";
import { takesForms } from "../../wire/elicitation.ts";
import { approvalMatch, cardJson, choiceOf, endorsedOn, risksOn, ruleApproval, type Purpose } from "./approvals.ts";
import type { Call } from "../decision/call.ts";
import { consentInputName, shownArguments, escapeForDisplay } from "../decision/display-text.ts";
import { capabilitiesFor, isModern } from "../upstream/client-facts.ts";
import { covers } from "../decision/guards.ts";
import { endorsable, endorsementLines, valueGrants } from "./endorsement.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { approvalsOpenMax, consentHoldMsMax } from "../ports/limits.ts";
import { refusalOf, requestOf } from "../decision/client-answer.ts";
import type { ApprovalCard, ApprovalChoice, Services } from "../ports/services.ts";
import type { ApprovalRow } from "../ports/store.ts";
import type { AskWait, ClientQuestions, ClientState } from "../ports/conversation.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { Deliveries } from "../decision/ordered-output.ts";

type Needs = {
  readonly services: Services;
  readonly runs: RunRegistry;
  readonly client: ClientState;
  readonly deliveries: Deliveries;
  readonly session: ClientQuestions;
};

export type Consent = {
  readonly kind: "granted";
  readonly approval: string;
  readonly by: string;
  /** Risks that the card named, each `HAZARD MOVE`: the consent accepts these and no others. */
  readonly risks: readonly string[];
};

/** `answered`: the client has its answer, a refusal or a question. */
export type Sought = Consent | { readonly kind: "answered" };

/** An approval that waits; one whose card does not name every risk does not serve a call that has more risks by now. */
type OpenApproval = { readonly id: string; readonly expires: number; readonly risks: readonly string[] };

/** Content of the gateway's sealed `requestState`: everything that a retry must match. */
type SealedState = {
  readonly approval: string;
  readonly digest: string;
  readonly run: string;
  readonly expires: number;
};

export class ConsentDesk {
  readonly #needs: Needs;
  /** Approvals that are open, by digest, so that a repeated call does not open a second one. */
  readonly #open = new BoundedMap<string, OpenApproval>(approvalsOpenMax);
  /** When the hold of a call ends, in monotonic ms: counted from its first question. */
  readonly #heldUntil = new WeakMap<Call, number>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Obtains consent for a call, or answers the client. */
  async seek(call: Call, decision: Decision, purpose: Purpose): Promise<Sought> {
    const known = await this.take(call, purpose);
    if (known !== undefined) return known;
    const form = this.#formCounts(call);
    const retried = form ? await this.#takeRetry(call, purpose) : undefined;
    if (retried === "refused") {
      this.#refuse(call, decision, { kind: "refused" });
      return { kind: "answered" };
    }
    if (retried !== undefined) return retried;
    const approval = await this.open(call, decision, purpose);
    if (form && isModern(this.#needs)) {
      this.#askInResult(call, decision, approval);
      return { kind: "answered" };
    }
    const choice = await this.#askPeople({ call, decision, approval }, form);
    if (choice !== undefined && choice.choice !== "refuse") {
      const { log, clock } = this.#needs.services;
      const ruled = await ruleApproval(log, clock, { id: approval, ...choice });
      const taken = ruled.ok ? await this.take(call, purpose) : undefined;
      if (taken !== undefined) return taken;
    }
    const refusal =
      choice?.choice === "refuse" ? ({ kind: "refused" } as const) : ({ kind: "approvable", approval } as const);
    if (refusal.kind === "refused") await this.#close(call, approval, choice);
    this.#refuse(call, decision, refusal);
    return { kind: "answered" };
  }

  /** Uses up an approval that matches this very call, and puts the consent on record. */
  async take(call: Call, purpose: Purpose): Promise<Consent | undefined> {
    const { log, clock } = this.#needs.services;
    const taken = await log.store.takeApproval(approvalMatch(call, purpose), clock.wallMs());
    if (!taken.ok || taken.value === undefined) return undefined;
    this.#open.delete(openKey(call, purpose));
    const { id, run, decidedBy, card: sealed } = taken.value;
    const card = sealed === undefined ? undefined : log.open(run, sealed);
    if (!(await this.#recordGrants(call, taken.value, endorsedOn(card)))) return undefined;
    const risks = risksOn(card);
    return { kind: "granted", approval: id, by: decidedBy ?? "unknown", risks };
  }

  /** Opens an approval and gives its id; the same call finds the one that is open already. */
  async open(call: Call, decision: Decision, purpose: Purpose): Promise<string> {
    const { log, clock, secrets } = this.#needs.services;
    const now = clock.wallMs();
    const known = this.#open.get(openKey(call, purpose));
    if (known !== undefined && known.expires > now && covers(known, decision)) return known.id;
    const id = secrets.token().slice(0, 12);
    const { approvals } = call.live.policy.settings;
    const expiresWallMs = now + approvals.expiryMs;
    const card = this.#card(call, decision, id, purpose);
    await log.store.createApproval({
      ...approvalMatch(call, purpose),
      id,
      createdWallMs: now,
      expiresWallMs,
      status: "pending",
      card: log.seal(call.live.key, cardJson(card, approvals.by)),
    });
    for (const [key, old] of this.#open) if (old.expires <= now) this.#open.delete(key);
    this.#open.set(openKey(call, purpose), { id, expires: expiresWallMs, risks: risksIn(decision) });
    return id;
  }

  /**
   * The consent that a retry of our sealed question brings. It rules the approval that the question was about, so an
   * answer counts once: a client that repeats it with the same state is asked anew.
   */
  async #takeRetry(call: Call, purpose: Purpose): Promise<Consent | "refused" | undefined> {
    const retry = this.#choiceOfRetry(call);
    if (retry === undefined) return undefined;
    const { log, clock } = this.#needs.services;
    const { approval, ...choice } = retry;
    const ruled = await ruleApproval(log, clock, { id: approval, ...choice });
    this.#open.delete(openKey(call, purpose));
    if (!ruled.ok) return undefined;
    return choice.choice === "refuse" ? "refused" : this.take(call, purpose);
  }

  /** The choice that a retry of our sealed question brings; undefined when the state is not ours or does not match. */
  #choiceOfRetry(call: Call): (PersonalChoice & { readonly approval: string }) | undefined {
    const plain = call.retry === undefined ? undefined : this.#needs.services.secrets.unseal(call.retry.state);
    const state = plain === undefined ? undefined : sealedState(plain);
    if (state === undefined) return undefined;
    // The state is the client's to echo: it must belong to this run, this very call, and not be old.
    const { clock } = this.#needs.services;
    if (state.run !== call.live.key || state.digest !== call.digest || state.expires <= clock.wallMs())
      return undefined;
    const choice = choiceIn(member(call.retry?.responses, consentInputName));
    if (choice === undefined) return undefined;
    return { approval: state.approval, choice, by: call.live.principal, role: "owner" };
  }

  /**
   * Whether a form counts: a client may accept one without showing it to a user, so the policy can limit forms to
   * reversible calls or exclude them.
   */
  #formCounts(call: Call): boolean {
    const { approvals } = call.live.policy.settings;
    if (approvals.form === "none" || approvals.by === "other") return false;
    if (approvals.form === "reversible" && call.contract.flags.irreversible) return false;
    return takesForms(capabilitiesFor(this.#needs.client, call.request));
  }

  #askInResult(call: Call, decision: Decision, approval: string): void {
    const state: SealedState = {
      approval,
      digest: call.digest,
      run: call.live.key,
      expires: this.#needs.services.clock.wallMs() + call.live.policy.settings.approvals.expiryMs,
    };
    const params = this.#form(call, decision, approval);
    const result: JsonObject = {
      resultType: "input_required",
      inputRequests: { [consentInputName]: { method: "elicitation/create", params } },
      requestState: this.#needs.services.secrets.seal(JSON.stringify(state)),
    };
    const { id } = call.request;
    this.#needs.deliveries.now(() => call.exchange.respond({ kind: "response", id, result }));
  }

  /** Asks all approvers who can answer at once; the first answer withdraws the other card. */
  async #askPeople(question: PersonalQuestion, form: boolean): Promise<PersonalChoice | undefined> {
    const ms = this.#holdMs(question.call);
    if (ms <= 0) return undefined;
    const answered = new AbortController();
    const wait = { ms, withdrawn: answered.signal };
    const human = this.#askHuman(question, wait);
    const choice = await firstOf(form ? [human, this.#askByForm(question, wait)] : [human]);
    answered.abort();
    return choice;
  }

  async #askByForm({ call, decision, approval }: PersonalQuestion, wait: AskWait): Promise<PersonalChoice | undefined> {
    const params = this.#form(call, decision, approval);
    const request = { kind: "request", method: "elicitation/create", params } as const;
    const answer = await this.#needs.session.ask(request, wait, call.exchange);
    if (answer?.kind !== "response") return undefined;
    const choice = choiceIn(answer.result);
    return choice === undefined ? undefined : { choice, by: call.live.principal, role: "owner" };
  }

  async #askHuman(
    { call, decision, approval }: PersonalQuestion,
    { ms, withdrawn }: AskWait,
  ): Promise<PersonalChoice | undefined> {
    const card = this.#card(call, decision, approval, "call");
    const ruling = await this.#needs.services.human.ask(card, ms, withdrawn);
    return ruling === "absent" ? undefined : { ...ruling, role: "operator" };
  }

  /**
   * The time that is left of the hold, in ms: a call that is asked about again, since its risks grew meanwhile, gets no
   * new one.
   */
  #holdMs(call: Call): number {
    const now = this.#needs.services.clock.monotonicMs();
    const held = Math.min(call.live.policy.settings.approvals.holdMsMax, consentHoldMsMax);
    const until = this.#heldUntil.get(call) ?? now + held;
    this.#heldUntil.set(call, until);
    return until - now;
  }

  #form(call: Call, decision: Decision, approval: string): JsonObject {
    const card = this.#card(call, decision, approval, "call");
    return {
      mode: "form",
      message: [card.title, ...card.lines, card.arguments].join("\n"),
      requestedSchema: {
        type: "object",
        properties: {
          decision: { type: "string", title: "Decision", enum: card.choices.map((choice) => wordOf[choice]) },
        },
        required: ["decision"],
      },
    };
  }

  #card(call: Call, decision: Decision, approval: string, purpose: Purpose): ApprovalCard {
    const { server, tool } = call.contract;
    const endorses = endorsable(call, decision, this.#needs.services.clock.monotonicMs());
    const what = purpose === "release" ? "show the agent the result of" : "let the agent call";
    return {
      approval,
      title: `Sluicegate asks: ${what} \`${escapeForDisplay(tool).slice(0, 128)}\` of \`${escapeForDisplay(server)}\`?`,
      lines: [...cardLines(decision), ...(endorses === undefined ? [] : endorsementLines(call, endorses))].map(
        escapeForDisplay,
      ),
      server,
      tool,
      arguments: shownArguments(call.arguments),
      risks: risksIn(decision),
      endorses: endorses?.values.map(({ label }) => label.digest) ?? [],
      choices: endorses === undefined ? ["once", "refuse"] : ["once", "value", "refuse"],
    };
  }

  /** The consent as events, in the log before anything is done with it. */
  async #recordGrants(call: Call, row: ApprovalRow, endorses: readonly string[]): Promise<boolean> {
    const { clock, log } = this.#needs.services;
    const at = clock.monotonicMs();
    const principal = row.decidedBy ?? "unknown";
    const expiresAt = at + Math.max(0, row.expiresWallMs - clock.wallMs());
    const consent: Grant = {
      kind: "consent",
      digest: call.digest,
      purpose: `approval ${row.id}`,
      principal,
      expiresAt,
    };
    const lasting = at + call.live.policy.settings.runIdleMs;
    const by = { principal, at, expiresAt: lasting, approval: row.id };
    const values = choiceOf(row) === "value" ? valueGrants(call, by, endorses) : [];
    const batch = new EventBatch();
    for (const grant of [consent, ...values]) this.#needs.runs.fold(call.live, { kind: "granted", at, grant }, batch);
    const notes = {
      approval: row.id,
      by: principal,
      role: row.role ?? "unknown",
      wall: new Date(clock.wallMs()).toISOString(),
    };
    return appendBatch(log, batch, { notes });
  }

  async #close(call: Call, approval: string, choice: PersonalChoice | undefined): Promise<void> {
    const { log, clock } = this.#needs.services;
    this.#open.delete(openKey(call, "call"));
    if (choice !== undefined) await ruleApproval(log, clock, { id: approval, ...choice });
  }

  #refuse(call: Call, decision: Decision, refusal: Parameters<typeof refusalOf>[3]): void {
    const answer = refusalOf(requestOf(this.#needs, call), decision, call.id, refusal);
    this.#needs.deliveries.now(() => call.exchange.respond(answer));
  }
}

type PersonalQuestion = { readonly call: Call; readonly decision: Decision; readonly approval: string };

type PersonalChoice = { readonly choice: ApprovalChoice; readonly by: string; readonly role: string };

const wordOf: Readonly<Record<ApprovalChoice, string>> = {
  once: "approve once",
  value: "trust this value in this run",
  refuse: "refuse",
};

/** The first answer; undefined when all are through without one. A question that fails has no answer. */
function firstOf(asked: readonly Promise<PersonalChoice | undefined>[]): Promise<PersonalChoice | undefined> {
  const answers = asked.map(async (each) => (await each) ?? Promise.reject(new Error("no answer")));
  return Promise.any(answers).catch(() => undefined);
}

function openKey(call: Call, purpose: Purpose): string {
  return `${call.live.key} ${purpose}:${call.digest}`;
}

/** The choice in an elicitation result; anything but an accepted form with a known word is a refusal or nothing. */
function choiceIn(result: Json | undefined): ApprovalChoice | undefined {
  const action = stringMember(result, "action");
  if (action === "decline") return "refuse";
  if (action !== "accept") return undefined;
  const word = stringMember(member(result, "content"), "decision");
  return (["once", "value", "refuse"] as const).find((choice) => wordOf[choice] === word);
}

function sealedState(plain: string): SealedState | undefined {
  let value: Json;
  try {
    value = JSON.parse(plain) as Json; // sealed by us, and checked member by member below
  } catch {
    return undefined;
  }
  const approval = stringMember(value, "approval");
  const digest = stringMember(value, "digest");
  const run = stringMember(value, "run");
  const expires = member(value, "expires");
  if (approval === undefined || digest === undefined || run === undefined || typeof expires !== "number")
    return undefined;
  return { approval, digest, run, expires };
}
