/**
 * Obtains the consent of an approver (gateway.md 5). Order: an approval that already exists, a sealed `input_required`
 * for modern clients, an elicitation form for legacy ones and at the same time `sluicegate approve`, and otherwise a
 * refusal with the way to approve. A form is shown wherever the client can; `consent-form.ts` says where its answer is
 * the consent. Form and approver share one deadline, and the first answer counts: a request is never held longer than
 * `consentHoldMsMax`, however often it is asked about. Consent lifts confirm, never deny.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { Decision } from "../../core/decision.ts";
import type { Grant } from "../../core/event.ts";
import { type JsonObject, member } from "../../core/json.ts";
import { cardLines, risksIn } from "../../core/explain/render.ts";
import { alwaysRule } from "./always-rule.ts";
import { approvalMatch, cardJson, choiceOf, endorsedOn, risksOn, ruleApproval, type Purpose } from "./approvals.ts";
import type { Call } from "../decision/call.ts";
import {
  type FormAnswer,
  type FormRole,
  type SealedState,
  answerIn,
  formOf,
  formRole,
  lasting,
  sealedState,
} from "./consent-form.ts";
import { consentInputName, shownArguments, escapeForDisplay } from "../decision/display-text.ts";
import { capabilitiesFor, isModern } from "../upstream/client-facts.ts";
import { covers } from "../decision/guards.ts";
import { endorsable, endorsementLines, valueGrants } from "./endorsement.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { approvalsOpenMax, consentHoldMsMax } from "../ports/limits.ts";
import { refusalOf, requestOf } from "../decision/client-answer.ts";
import type { Projection } from "../ports/projection.ts";
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
  /** The server's projection, where it runs in one. */
  readonly link: { readonly projection: Projection | undefined };
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

export class ConsentDesk {
  readonly #needs: Needs;
  /** Approvals that are open, by digest, so that a repeated call does not open a second one. */
  readonly #open = new BoundedMap<string, OpenApproval>(approvalsOpenMax);
  /** When the hold of a call ends, in monotonic ms: counted from its first question. */
  readonly #heldUntil = new WeakMap<Call, number>();
  /** Whether a form of this session said where the card of the server is answered. */
  #hinted = false;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Obtains consent for a call, or answers the client. */
  async seek(call: Call, decision: Decision, purpose: Purpose): Promise<Sought> {
    const known = await this.take(call, purpose);
    if (known !== undefined) return known;
    const form = this.#formRole(call, decision);
    const retried = form === undefined ? undefined : await this.#takeRetry(call, purpose, form);
    if (retried === "refused") return this.#refuse(call, decision, { kind: "refused" });
    if (retried !== undefined && retried !== "elsewhere") return retried;
    const approval = await this.open(call, decision, purpose);
    // A user who answered elsewhere is not asked again at once: a client that fills forms by itself would never end.
    if (retried === "elsewhere") return this.#refuse(call, decision, { kind: "approvable", approval });
    if (form !== undefined && isModern(this.#needs)) {
      this.#askInResult(call, this.#form({ call, decision, approval }, form), approval);
      return { kind: "answered" };
    }
    const answer = await this.#askPeople({ call, decision, approval }, form);
    const choice = ruledIn(answer);
    if (choice !== undefined && choice.choice !== "refuse") {
      const { log, clock } = this.#needs.services;
      await ruleApproval(log, clock, { id: approval, ...choice });
    }
    // Also without an answer here: the approval may have been given while the form was open.
    const taken = choice?.choice === "refuse" ? undefined : await this.take(call, purpose);
    if (taken !== undefined) return taken;
    if (choice?.choice !== "refuse") return this.#refuse(call, decision, { kind: "approvable", approval });
    await this.#close(call, approval, choice);
    return this.#refuse(call, decision, { kind: "refused" });
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
    if (approvals.notify !== undefined) this.#needs.services.human.waiting?.(card.title, approvals.notify);
    for (const [key, old] of this.#open) if (old.expires <= now) this.#open.delete(key);
    this.#open.set(openKey(call, purpose), { id, expires: expiresWallMs, risks: risksIn(decision) });
    return id;
  }

  /**
   * The consent that a retry of our sealed question brings. It rules the approval that the question was about, so an
   * answer counts once: a client that repeats it with the same state is asked anew.
   */
  async #takeRetry(
    call: Call,
    purpose: Purpose,
    form: FormRole,
  ): Promise<Consent | "refused" | "elsewhere" | undefined> {
    const retry = this.#answerOfRetry(call, form);
    if (retry === undefined) return undefined;
    if (retry.answer === "elsewhere") return "elsewhere";
    const { log, clock } = this.#needs.services;
    const ruling = { id: retry.approval, choice: retry.answer, by: call.live.principal, role: "owner" } as const;
    const ruled = await ruleApproval(log, clock, ruling);
    this.#open.delete(openKey(call, purpose));
    if (retry.answer === "refuse") return "refused";
    return ruled.ok ? this.take(call, purpose) : undefined;
  }

  /** The answer that a retry of our sealed question brings; undefined when the state is not ours or does not match. */
  #answerOfRetry(call: Call, form: FormRole): { readonly approval: string; readonly answer: FormAnswer } | undefined {
    const plain = call.retry === undefined ? undefined : this.#needs.services.secrets.unseal(call.retry.state);
    const state = plain === undefined ? undefined : sealedState(plain);
    if (state === undefined) return undefined;
    // The state is the client's to echo: it must belong to this run, this very call, and not be old.
    const { clock } = this.#needs.services;
    if (state.run !== call.live.key || state.digest !== call.digest || state.expires <= clock.wallMs())
      return undefined;
    const answer = answerIn(member(call.retry?.responses, consentInputName), form);
    return answer === undefined ? undefined : { approval: state.approval, answer };
  }

  #formRole(call: Call, decision: Decision): FormRole | undefined {
    const capabilities = capabilitiesFor(this.#needs.client, call.request);
    return formRole(call, decision, { capabilities, projection: this.#needs.link.projection });
  }

  /** Where the card of the server is answered stands on the first form alone: each form is about one call. */
  #form({ call, decision, approval }: PersonalQuestion, role: FormRole): JsonObject {
    const card = this.#card(call, decision, approval, "call");
    const hint = this.#hint(call);
    const lines = this.#hinted ? card.lines.filter((line) => !hint.includes(line)) : card.lines;
    if (hint.length > 0) this.#hinted = true;
    return formOf({ ...card, lines }, role);
  }

  /** Where all calls of a tool are answered at once; none for a tool of which something is accepted. */
  #hint({ contract }: Call): readonly string[] {
    return (this.#needs.services.cards?.hint(contract) ?? []).map(escapeForDisplay);
  }

  #askInResult(call: Call, params: JsonObject, approval: string): void {
    const state: SealedState = {
      approval,
      digest: call.digest,
      run: call.live.key,
      expires: this.#needs.services.clock.wallMs() + call.live.policy.settings.approvals.expiryMs,
    };
    const result: JsonObject = {
      resultType: "input_required",
      inputRequests: { [consentInputName]: { method: "elicitation/create", params } },
      requestState: this.#needs.services.secrets.seal(JSON.stringify(state)),
    };
    const { id } = call.request;
    this.#needs.deliveries.now(() => call.exchange.respond({ kind: "response", id, result }));
  }

  /** Asks all approvers who can answer at once; the first answer withdraws the other card. */
  async #askPeople(question: PersonalQuestion, form: FormRole | undefined): Promise<PersonalAnswer | undefined> {
    const ms = this.#holdMs(question.call);
    if (ms <= 0) return undefined;
    const answered = new AbortController();
    const wait = { ms, withdrawn: answered.signal };
    if (form === undefined) return this.#askHuman(question, wait);
    // While a form is open the call is held, so `approve` in a terminal reaches it, too.
    const closed = new AbortController();
    const human = this.#askHuman(question, wait, closed.signal);
    const byForm = this.#askByForm(question, form, wait).finally(() => closed.abort());
    const choice = await firstOf([human, byForm]);
    answered.abort();
    return choice;
  }

  async #askByForm(question: PersonalQuestion, form: FormRole, wait: AskWait): Promise<PersonalAnswer | undefined> {
    const { exchange, live } = question.call;
    const request = { kind: "request", method: "elicitation/create", params: this.#form(question, form) } as const;
    const answer = await this.#needs.session.ask(request, wait, exchange);
    const choice = answer?.kind === "response" ? answerIn(answer.result, form) : undefined;
    return choice === undefined ? undefined : { choice, by: live.principal, role: "owner" };
  }

  async #askHuman(
    { call, decision, approval }: PersonalQuestion,
    { ms, withdrawn }: AskWait,
    unwatched?: AbortSignal,
  ): Promise<PersonalChoice | undefined> {
    const card = this.#card(call, decision, approval, "call");
    const ruling = await this.#needs.services.human.ask(card, ms, withdrawn, unwatched);
    return ruling === "absent" ? undefined : { role: "operator", ...ruling };
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

  #card(call: Call, decision: Decision, approval: string, purpose: Purpose): ApprovalCard {
    const { server, tool } = call.contract;
    const endorses = endorsable(call, decision, this.#needs.services.clock.monotonicMs());
    const what = purpose === "release" ? "show the agent the result of" : "let the agent call";
    return {
      approval,
      title: `Sluicegate asks: ${what} \`${escapeForDisplay(tool).slice(0, 128)}\` of \`${escapeForDisplay(server)}\`?`,
      lines: [
        ...cardLines(decision),
        ...(endorses === undefined ? [] : endorsementLines(call, endorses)),
        ...this.#hint(call),
      ].map(escapeForDisplay),
      server,
      tool,
      arguments: shownArguments(call.arguments),
      risks: risksIn(decision),
      endorses: endorses?.values.map(({ label }) => label.digest) ?? [],
      choices: endorses === undefined ? ["once", "refuse"] : ["once", "value", "refuse"],
      ...this.#factor(call, decision),
      ...(purpose === "call" ? { always: alwaysRule(call, decision, this.#needs.services.secrets.hash) } : {}),
    };
  }

  #factor(call: Call, decision: Decision): Pick<ApprovalCard, "factor"> {
    const { factor } = call.live.policy.settings.approvals;
    return factor === undefined || !lasting(call, decision, this.#needs.link.projection) ? {} : { factor };
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

  #refuse(call: Call, decision: Decision, refusal: Parameters<typeof refusalOf>[3]): Sought {
    const answer = refusalOf(requestOf(this.#needs, call), decision, call.id, refusal);
    this.#needs.deliveries.now(() => call.exchange.respond(answer));
    return { kind: "answered" };
  }
}

type PersonalQuestion = { readonly call: Call; readonly decision: Decision; readonly approval: string };

type PersonalChoice = { readonly choice: ApprovalChoice; readonly by: string; readonly role: string };

type PersonalAnswer = Omit<PersonalChoice, "choice"> & { readonly choice: FormAnswer };

/** The choice in an answer; undefined where the user answers elsewhere. */
function ruledIn(answer: PersonalAnswer | undefined): PersonalChoice | undefined {
  return answer === undefined || answer.choice === "elsewhere" ? undefined : { ...answer, choice: answer.choice };
}

/** The first answer; undefined when all are through without one. A question that fails has no answer. */
function firstOf(asked: readonly Promise<PersonalAnswer | undefined>[]): Promise<PersonalAnswer | undefined> {
  const answers = asked.map(async (each) => (await each) ?? Promise.reject(new Error("no answer")));
  return Promise.any(answers).catch(() => undefined);
}

function openKey(call: Call, purpose: Purpose): string {
  return `${call.live.key} ${purpose}:${call.digest}`;
}
