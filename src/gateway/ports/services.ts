/**
 * The outside services of the enforcement point besides transports: time, chance, secrets, answers and approvers. All
 * of it is injected, so that a test decides what time it is and a replay sees the same digests.
 */
import type { ConsentFactor } from "../../core/consent-factor.ts";
import type { CallMoment } from "../../core/moment.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import type { ClientProcess, Connector } from "./transport.ts";
import type { Cards } from "./cards.ts";
import type { Policies } from "./policy.ts";
import type { EventLog } from "./store.ts";

export interface Clock {
  /** Monotonic milliseconds: for moments, waits and expiries. */
  monotonicMs(): number;
  /** Milliseconds since 1970: for people and records. */
  readonly wallMs: () => number;
  /** Runs something once after a delay; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export interface Secrets {
  /** Digest of a text as lower-case hexadecimal; SHA-256 in production. */
  readonly hash: (text: string) => string;
  /** Keyed digest with the key of this installation: no other party can make one. */
  readonly mac: (text: string) => string;
  /** Authenticated encryption; `unseal` gives undefined for anything that `seal` did not make. */
  seal(plain: string): string;
  unseal(sealed: string): string | undefined;
  /** A fresh unguessable name, at least 96 bits, of URL-safe characters. */
  token(): string;
}

/**
 * The policy and run that questions are asked for: digest of the policy, which says which oracle may answer, and the
 * run, whose budget an answer costs.
 */
export type AskedFor = { readonly policy: string; readonly run: string };

/** Answers questions of mechanisms within a budget; a question it does not answer counts as unavailable. */
export interface Oracle {
  answer(questions: readonly Question[], budgetMs: number, about?: AskedFor): Promise<readonly Answer[]>;
}

/** The card that an approver is shown before consenting. Every text from outside is data for display, never markup. */
export type ApprovalCard = {
  readonly approval: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly server: string;
  readonly tool: string;
  readonly arguments: string;
  /** Risks that a consent accepts for the rest of the run, each `HAZARD MOVE`; the lines have them in words. */
  readonly risks: readonly string[];
  /** Digests of the values that `value` endorses. */
  readonly endorses: readonly string[];
  readonly choices: readonly ApprovalChoice[];
  /** What the approver has to prove. */
  readonly factor?: ConsentFactor;
  /** The rule, a line of JSON, that would let such calls pass unasked from now on, or why there is none. */
  readonly always?: { readonly rule: string } | { readonly why: string };
};

/** `value`: endorse this one value, or the elements of a list that the card names, for the rest of the run. */
export type ApprovalChoice = "once" | "value" | "refuse";

/** `role`: how the approver was identified; an operator where it is absent. */
export type Ruling = { readonly choice: ApprovalChoice; readonly by: string; readonly role?: string } | "absent";

/**
 * Approvers at a console or a terminal. `absent` comes at once when no approver watches, unless the question is held
 * until `unwatched`: then the answer may also come from a command that was started for it.
 */
export interface Human {
  /** After `withdrawn` the card is removed: another approver answered, and it must not look like an open question. */
  ask(card: ApprovalCard, holdMs: number, withdrawn?: AbortSignal, unwatched?: AbortSignal): Promise<Ruling>;
  /** Tells the operator something that needs no answer. */
  notify(text: string): void;
  /** A new card waits: starts the program that the policy names for that (`approvals.notify`). */
  waiting?(title: string, command: readonly string[]): void;
}

/** Knows the gateway's own files (docs/decisions/0018). */
export interface SelfProtection {
  /** One of them that a call would touch, and its stake: a place that is `kept` or one that is `obeyed`. */
  readonly touched: (
    call: Pick<CallMoment, "contract" | "arguments" | "workspace">,
  ) => { readonly place: string; readonly stake: string } | undefined;
  /** Whether an absolute path is one of them. */
  readonly holds: (path: string) => boolean;
}

/** What the operating system says about client processes. */
export interface ClientProcesses {
  /** It has ended, and no connection of it is open; false where that cannot be known. */
  isGone(process: ClientProcess): boolean;
  /** It is this very process, which starts the guarded servers. */
  isOwn(process: ClientProcess): boolean;
}

export type Services = {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly oracle: Oracle;
  readonly human: Human;
  readonly policies: Policies;
  readonly connector: Connector;
  readonly log: EventLog;
  /** Whether a folder or URI that a client names may be its workspace; without it each may. */
  readonly isWorkFolder?: (place: string) => boolean;
  /** Without it no run ends with its client. */
  readonly clients?: ClientProcesses;
  /** The gateway's own files; without it there are none to guard. */
  readonly selfProtection?: SelfProtection;
  /** Admission cards; without it servers have none. */
  readonly cards?: Cards;
  /** The log of this installation was lost: a run of which nothing is known may be an old one, and holds everything. */
  readonly historyLost?: () => boolean;
};
