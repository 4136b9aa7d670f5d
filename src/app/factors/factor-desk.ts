/**
 * Proofs of approvers (docs/decisions/0042). An act that needs one gets a ticket: its factor is proved once, and then the
 * ticket is good for the acts that it was opened for and for no other. A ticket that is taken from its owner can do only
 * what the owner was about to do.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ProcessIdentity } from "../../adapters/daemon/protocol.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { DeviceFactor } from "../../adapters/factors/device.ts";
import { PasswordFactor } from "../../adapters/factors/password.ts";
import { FactorFiles } from "../../adapters/factors/factor-files.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import type { ConsentFactor } from "../../core/consent-factor.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { PresenceDesk, type ProvableAct } from "./presence-desk.ts";
import { TerminalProofs } from "./terminal-proof.ts";

/** Tickets that are open at once. */
const ticketsMax = 256;

/** Time to prove a ticket: a device or a key has to be found, a code typed. */
const ticketMsMax = 180_000;

/** Time to register a key. */
export const enrolMsMax = ticketMsMax;

/** Time between the proof and the acts. */
const provenMsMax = 60_000;

type Ticket = {
  readonly factor: ConsentFactor;
  /** Acts that it is still good for, each as the text of its request. */
  readonly acts: Set<string>;
  /** File that a process at a terminal has to hold open. */
  readonly file?: string;
  /** Whether a key was touched on the page of this ticket; false where its time was over. */
  readonly answered?: Promise<boolean>;
  proven: boolean;
  /** Monotonic ms. */
  untilMs: number;
};

/** What the side that proves is told: `file` is the one that it has to hold open, `url` the page to open. */
export type OpenedTicket = {
  readonly ticket: string;
  readonly factor: ConsentFactor;
  readonly file?: string;
  readonly url?: string;
};

/** What a command brings for its ticket. */
export type BroughtProof = { readonly pid?: number; readonly code?: string; readonly password?: string };

export type FactorPlaces = {
  /** Folder of enrolments, one for a user. */
  readonly factors: string;
  /** Folder for the files of terminal proofs, private to this user. */
  readonly proofs: string;
};

/** The desk of a gateway with this state folder; enrolments are the user's, whichever log they give consent in. */
export function openFactors(home: string, wallMs: () => number): FactorDesk {
  return new FactorDesk({ factors: join(stateHome(process.env), "factors"), proofs: home }, wallMs);
}

export class FactorDesk {
  readonly device: DeviceFactor;
  readonly password: PasswordFactor;
  readonly presence: PresenceDesk;
  readonly #terminal: TerminalProofs;
  readonly #tickets = new BoundedMap<string, Ticket>(ticketsMax);

  constructor(places: FactorPlaces, wallMs: () => number, terminal = new TerminalProofs(places.proofs)) {
    const files = new FactorFiles(places.factors);
    this.device = new DeviceFactor(files, wallMs);
    this.password = new PasswordFactor(files, wallMs);
    this.presence = new PresenceDesk(files);
    this.#terminal = terminal;
  }

  /** A client begins to use a server: what it starts from now on proves no terminal. */
  guard(process: ProcessIdentity): void {
    this.#terminal.guard(process);
  }

  /** Whether the process of any client is known. */
  guards(): boolean {
    return this.#terminal.guards();
  }

  /** Whether a factor was enrolled; a terminal needs no enrolment. */
  enrolled(factor: ConsentFactor): boolean {
    switch (factor) {
      case "terminal":
        return true;
      case "password":
        return this.password.enrolled();
      case "device":
        return this.device.enrolled();
      case "presence":
        return this.presence.factor.enrolled();
    }
  }

  remove(factor: ConsentFactor): boolean {
    switch (factor) {
      case "terminal":
        return false;
      case "password":
        return this.password.remove();
      case "device":
        return this.device.remove();
      case "presence":
        return this.presence.factor.remove();
    }
  }

  /** Opens a ticket for acts; the error says how to enrol what would prove it. */
  async open(factor: ConsentFactor, acts: readonly ProvableAct[]): Promise<Result<OpenedTicket, string>> {
    if (!this.enrolled(factor)) return err(notEnrolled(factor));
    const ticket = randomBytes(16).toString("hex");
    const book = { factor, acts: new Set(acts.map(({ text }) => text)), proven: false };
    const untilMs = performance.now() + ticketMsMax;
    if (factor === "presence") {
      const page = await this.presence.consent(acts, ticketMsMax);
      if (!page.ok) return page;
      this.#tickets.set(ticket, { ...book, untilMs, answered: page.value.answered });
      return ok({ ticket, factor, url: page.value.url });
    }
    const file = factor === "terminal" ? { file: this.#terminal.open(ticket) } : {};
    this.#tickets.set(ticket, { ...book, untilMs, ...file });
    return ok({ ticket, factor, ...file });
  }

  /**
   * Proves a ticket; undefined where it is of another gateway. For a key it waits until one is touched. The error is a
   * sentence for the approver.
   */
  async prove(name: string, brought: BroughtProof): Promise<Result<void, string> | undefined> {
    const ticket = this.#tickets.get(name);
    if (ticket === undefined) return undefined;
    if (ticket.proven || ticket.untilMs < performance.now()) return err(overText);
    const proven = await this.#check(name, ticket, brought);
    if (!proven.ok) return proven;
    // Two proofs at once are one: the second must not renew its time.
    if (ticket.proven) return err(overText);
    ticket.proven = true;
    ticket.untilMs = performance.now() + provenMsMax;
    return proven;
  }

  /** Uses a proved ticket up for one act; the error is a sentence for the approver. */
  take(tickets: readonly string[], act: string, factor: ConsentFactor): Result<void, string> {
    const now = performance.now();
    for (const name of tickets) {
      const ticket = this.#tickets.get(name);
      if (ticket === undefined || !ticket.proven || ticket.factor !== factor || ticket.untilMs < now) continue;
      if (!ticket.acts.delete(act)) continue;
      if (ticket.acts.size === 0) this.#tickets.delete(name);
      return ok(undefined);
    }
    return err(`This needs ${wordOf[factor]}: run the command in a terminal of your own, and prove it there.`);
  }

  async #check(name: string, ticket: Ticket, { pid, code, password }: BroughtProof): Promise<Result<void, string>> {
    switch (ticket.factor) {
      case "terminal":
        return this.#terminal.check(name, { file: ticket.file ?? "", pid: pid ?? 0 });
      case "password":
        return this.password.check(password ?? "");
      case "device":
        return this.device.check(code ?? "");
      case "presence":
        return (await ticket.answered) === true
          ? ok(undefined)
          : err("No key was touched in time: repeat the command.");
    }
  }
}

const overText = "The question for this proof is over: repeat the command.";

const wordOf: Readonly<Record<ConsentFactor, string>> = {
  terminal: "a terminal",
  password: "your password for Sluicegate",
  device: "a code of your device",
  presence: "a touch of your key",
};

function notEnrolled(factor: ConsentFactor): string {
  return `The policy demands ${wordOf[factor]} here, and none is enrolled: run \`sluicegate factor add ${factor}\` in a terminal of your own, then repeat.`;
}
