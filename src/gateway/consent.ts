/**
 * Asking a person (gateway.md 5). Order: an approval that is already there, a sealed `input_required` for modern
 * clients, an elicitation form for legacy ones and at the same time somebody who watches the console or CLI, and else a
 * refusal that says how to approve. Form and watcher share one deadline, and whoever answers first counts: a request is
 * never held longer than `consentHoldMsMax`, however often it is asked about. Consent lifts confirm, never deny.
 */
import type { Decision } from "../core/decision.ts";
import type { Grant } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { member, stringMember } from "../core/json.ts";
import { cardLines, risksIn } from "../core/render.ts";
import { takesForms } from "../wire/elicitation.ts";
import { approvalMatch, cardJson, choiceOf, endorsedOn, risksOn, ruleApproval } from "./approvals.ts";
import type { Purpose } from "./approvals.ts";
import type { Call } from "./call.ts";
import { consentInputName, shownArguments, visible } from "./card-text.ts";
import { capabilitiesFor } from "./client-facts.ts";
import { covers } from "./commitment.ts";
import { endorsable, endorsementLines, valueGrants } from "./endorsement.ts";
import { appendBatch, Batch } from "./journal.ts";
import { approvalsOpenMax, consentHoldMsMax } from "./limits.ts";
import { refusalOf } from "./refusals.ts";
import { requestOf } from "./released-answer.ts";
import type { AskWait, Scene } from "./scene.ts";
import { isModern } from "./scene.ts";
import type { ApprovalCard, ApprovalChoice } from "./services-port.ts";
import type { ApprovalRow } from "./store-port.ts";

export type Consent = {
  readonly kind: "granted";
  readonly approval: string;
  readonly by: string;
  /** Risks that the card named, each `HAZARD MOVE`: the consent accepts these and no others. */
  readonly risks: readonly string[];
};

/** `answered`: the client has its answer, a refusal or a question. */
export type Sought = Consent | { readonly kind: "answered" };

/** An approval that waits; one whose card does not name every risk is of no use to a call that has more by now. */
type OpenApproval = { readonly id: string; readonly expires: number; readonly risks: readonly string[] };

/** What our sealed `requestState` says. Everything a retry must match is in it. */
type SealedState = {
  readonly approval: string;
  readonly digest: string;
  readonly run: string;
  readonly expires: number;
};

export class ConsentDesk<Q> {
  readonly #scene: Scene<Q>;
  /** Approvals that are open, by digest, so that a repeated call does not open a second one. */
  readonly #open = new Map<string, OpenApproval>();
  /** When the hold of a call ends, in monotonic ms: counted from its first question. */
  readonly #heldUntil = new WeakMap<Call<Q>, number>();

  constructor(scene: Scene<Q>) {
    this.#scene = scene;
  }

  /** Obtains consent for a call, or answers the client. */
  async seek(call: Call<Q>, decision: Decision, purpose: Purpose): Promise<Sought> {
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
    if (form && isModern(this.#scene)) {
      this.#askInResult(call, decision, approval);
      return { kind: "answered" };
    }
    const choice = await this.#askPeople({ call, decision, approval }, form);
    if (choice !== undefined && choice.choice !== "refuse") {
      const { log, clock } = this.#scene.services;
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
  async take(call: Call<Q>, purpose: Purpose): Promise<Consent | undefined> {
    const { log, clock } = this.#scene.services;
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
  async open(call: Call<Q>, decision: Decision, purpose: Purpose): Promise<string> {
    const { log, clock, secrets } = this.#scene.services;
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
    const oldest = this.#open.size >= approvalsOpenMax ? this.#open.keys().next() : undefined;
    if (oldest?.done === false) this.#open.delete(oldest.value);
    this.#open.set(openKey(call, purpose), { id, expires: expiresWallMs, risks: risksIn(decision) });
    return id;
  }

  /**
   * The consent that a retry of our sealed question brings. It rules the approval that the question was about, so an
   * answer counts once: who repeats it with the same state is asked anew.
   */
  async #takeRetry(call: Call<Q>, purpose: Purpose): Promise<Consent | "refused" | undefined> {
    const retry = this.#choiceOfRetry(call);
    if (retry === undefined) return undefined;
    const { log, clock } = this.#scene.services;
    const { approval, ...choice } = retry;
    const ruled = await ruleApproval(log, clock, { id: approval, ...choice });
    this.#open.delete(openKey(call, purpose));
    if (!ruled.ok) return undefined;
    return choice.choice === "refuse" ? "refused" : this.take(call, purpose);
  }

  /** The choice that a retry of our sealed question brings; undefined when the state is not ours or does not match. */
  #choiceOfRetry(call: Call<Q>): (PersonalChoice & { readonly approval: string }) | undefined {
    const plain = call.retry === undefined ? undefined : this.#scene.services.secrets.unseal(call.retry.state);
    const state = plain === undefined ? undefined : sealedState(plain);
    if (state === undefined) return undefined;
    // The state is the client's to echo: it must belong to this run, this very call, and not be old.
    const { clock } = this.#scene.services;
    if (state.run !== call.live.key || state.digest !== call.digest || state.expires <= clock.wallMs())
      return undefined;
    const choice = choiceIn(member(call.retry?.responses, consentInputName));
    if (choice === undefined) return undefined;
    return { approval: state.approval, choice, by: call.live.principal, role: "owner" };
  }

  /** A form may be accepted by a client without any person seeing it, so it counts only where that can be undone. */
  #formCounts(call: Call<Q>): boolean {
    const { approvals } = call.live.policy.settings;
    if (approvals.form === "none" || approvals.by === "other") return false;
    if (approvals.form === "reversible" && call.contract.flags.irreversible) return false;
    return takesForms(capabilitiesFor(this.#scene.client, call.request));
  }

  #askInResult(call: Call<Q>, decision: Decision, approval: string): void {
    const state: SealedState = {
      approval,
      digest: call.digest,
      run: call.live.key,
      expires: this.#scene.services.clock.wallMs() + call.live.policy.settings.approvals.expiryMs,
    };
    const params = this.#form(call, decision, approval);
    const result: JsonObject = {
      resultType: "input_required",
      inputRequests: { [consentInputName]: { method: "elicitation/create", params } },
      requestState: this.#scene.services.secrets.seal(JSON.stringify(state)),
    };
    const { id } = call.request;
    this.#scene.deliveries.now(() => call.exchange.respond({ kind: "response", id, result }));
  }

  /** Everybody who can answer is asked at once; the first answer withdraws the other card. */
  async #askPeople(question: PersonalQuestion<Q>, form: boolean): Promise<PersonalChoice | undefined> {
    const ms = this.#holdMs(question.call);
    if (ms <= 0) return undefined;
    const answered = new AbortController();
    const wait = { ms, withdrawn: answered.signal };
    const human = this.#askHuman(question, wait);
    const choice = await firstOf(form ? [human, this.#askByForm(question, wait)] : [human]);
    answered.abort();
    return choice;
  }

  async #askByForm(
    { call, decision, approval }: PersonalQuestion<Q>,
    wait: AskWait,
  ): Promise<PersonalChoice | undefined> {
    const params = this.#form(call, decision, approval);
    const request = { kind: "request", method: "elicitation/create", params } as const;
    const answer = await this.#scene.askClient(request, wait, call.exchange);
    if (answer?.kind !== "response") return undefined;
    const choice = choiceIn(answer.result);
    return choice === undefined ? undefined : { choice, by: call.live.principal, role: "owner" };
  }

  async #askHuman(
    { call, decision, approval }: PersonalQuestion<Q>,
    { ms, withdrawn }: AskWait,
  ): Promise<PersonalChoice | undefined> {
    const card = this.#card(call, decision, approval, "call");
    const ruling = await this.#scene.services.human.ask(card, ms, withdrawn);
    return ruling === "absent" ? undefined : { ...ruling, role: "operator" };
  }

  /** What is left of the hold: a call that is asked about again, since its risks grew meanwhile, gets no new one. */
  #holdMs(call: Call<Q>): number {
    const now = this.#scene.services.clock.monotonicMs();
    const held = Math.min(call.live.policy.settings.approvals.holdMsMax, consentHoldMsMax);
    const until = this.#heldUntil.get(call) ?? now + held;
    this.#heldUntil.set(call, until);
    return until - now;
  }

  #form(call: Call<Q>, decision: Decision, approval: string): JsonObject {
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

  #card(call: Call<Q>, decision: Decision, approval: string, purpose: Purpose): ApprovalCard {
    const { server, tool } = call.contract;
    const endorses = endorsable(call, decision, this.#scene.services.clock.monotonicMs());
    const what = purpose === "release" ? "show the agent the result of" : "let the agent call";
    return {
      approval,
      title: `Sluicegate asks: ${what} \`${visible(tool).slice(0, 128)}\` of \`${visible(server)}\`?`,
      lines: [...cardLines(decision), ...(endorses === undefined ? [] : endorsementLines(call, endorses))].map(visible),
      server,
      tool,
      arguments: shownArguments(call.arguments),
      risks: risksIn(decision),
      endorses: endorses?.values.map(({ label }) => label.digest) ?? [],
      choices: endorses === undefined ? ["once", "refuse"] : ["once", "value", "refuse"],
    };
  }

  /** The consent as events, in the log before anything is done with it. */
  async #recordGrants(call: Call<Q>, row: ApprovalRow, endorses: readonly string[]): Promise<boolean> {
    const { clock, log } = this.#scene.services;
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
    const batch = new Batch<Q>();
    for (const grant of [consent, ...values]) this.#scene.runs.fold(call.live, { kind: "granted", at, grant }, batch);
    const notes = {
      approval: row.id,
      by: principal,
      role: row.role ?? "unknown",
      wall: new Date(clock.wallMs()).toISOString(),
    };
    return appendBatch(log, batch, { notes });
  }

  async #close(call: Call<Q>, approval: string, choice: PersonalChoice | undefined): Promise<void> {
    const { log, clock } = this.#scene.services;
    this.#open.delete(openKey(call, "call"));
    if (choice !== undefined) await ruleApproval(log, clock, { id: approval, ...choice });
  }

  #refuse(call: Call<Q>, decision: Decision, refusal: Parameters<typeof refusalOf>[3]): void {
    const answer = refusalOf(requestOf(this.#scene, call), decision, call.id, refusal);
    this.#scene.deliveries.now(() => call.exchange.respond(answer));
  }
}

type PersonalQuestion<Q> = { readonly call: Call<Q>; readonly decision: Decision; readonly approval: string };

type PersonalChoice = { readonly choice: ApprovalChoice; readonly by: string; readonly role: string };

const wordOf: Readonly<Record<ApprovalChoice, string>> = {
  once: "approve once",
  value: "trust this value in this run",
  refuse: "refuse",
};

/** The first answer; undefined when all are through without one. Who fails to ask has no answer. */
function firstOf(asked: readonly Promise<PersonalChoice | undefined>[]): Promise<PersonalChoice | undefined> {
  const answers = asked.map(async (each) => (await each) ?? Promise.reject(new Error("no answer")));
  return Promise.any(answers).catch(() => undefined);
}

function openKey<Q>(call: Call<Q>, purpose: Purpose): string {
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
