/**
 * Consent that needs a terminal (`approvals.factor: terminal`, docs/decisions/0031). The command that approves has to
 * prove which process it is: the gateway makes a file for this one ruling, and looks whether the process that was named
 * has it open. A copied name or file proves nothing, and no secret is left that could be taken.
 */
import { randomBytes } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../../adapters/daemon/protocol.ts";
import { hasOpen, processTable } from "../../adapters/daemon/process-table.ts";
import { type GuardedClient, type ProcessTable, terminalFault } from "../../adapters/daemon/terminal-origin.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { type Result, err, ok } from "../../core/result.ts";

/** Proofs that are open at once; each is for one ruling. */
const proofsMax = 64;

/** Time between the question for a proof and the ruling with it. */
const proofMsMax = 10_000;

/** Client processes that are remembered, also after they ended: what they started may live on. */
const clientsMax = 1_024;

type Wanted = { readonly ruling: string; readonly dev: number; readonly ino: number; readonly untilMs: number };

export class TerminalProofs {
  readonly #folder: string;
  readonly #table: ProcessTable;
  readonly #clients = new BoundedMap<string, GuardedClient>(clientsMax);
  readonly #wanted = new BoundedMap<string, Wanted>(proofsMax);

  /** `folder`: private to this user. */
  constructor(folder: string, table: ProcessTable = processTable) {
    this.#folder = folder;
    this.#table = table;
  }

  /** A client begins to use a server: what it starts from now on gives no consent. */
  guard(process: ProcessIdentity): void {
    this.#clients.set(`${process.pid} ${process.startedAt}`, { process, group: this.#table.group(process.pid) });
  }

  /** Whether the process of any client is known. */
  guards(): boolean {
    return this.#clients.size > 0;
  }

  /** Makes the file that the ruling process has to hold open. */
  open(ruling: string): string {
    const file = join(this.#folder, `proof-${randomBytes(12).toString("hex")}`);
    writeFileSync(file, "", { mode: 0o600, flag: "wx" });
    const { dev, ino } = statSync(file);
    this.#wanted.set(file, { ruling, dev, ino, untilMs: performance.now() + proofMsMax });
    setTimeout(() => this.#forget(file), proofMsMax).unref();
    return file;
  }

  /** Checks a proof, which is used up; the error is a sentence for the approver. */
  check(ruling: string, { file, pid }: { readonly file: string; readonly pid: number }): Result<void, string> {
    const wanted = this.#wanted.get(file);
    if (wanted === undefined || wanted.ruling !== ruling || wanted.untilMs < performance.now())
      return err("The proof of the terminal is not of this approval, or too old: repeat the command.");
    const held = hasOpen(pid, wanted);
    this.#forget(file);
    if (!held) return err("The process that was named is not the one that asks, so it cannot approve.");
    const clients = [...this.#clients.values()];
    if (clients.length === 0) return err(unknownClients);
    const fault = terminalFault(pid, clients, this.#table);
    return fault === undefined ? ok(undefined) : err(`This process cannot approve it. ${fault}`);
  }

  #forget(file: string): void {
    this.#wanted.delete(file);
    rmSync(file, { force: true });
  }
}

const unknownClients =
  "Only a server behind `sluicegate run` has a client whose process is known, so `approvals.factor: terminal` cannot be met here, as over HTTP: write `factor: presence` or `factor: device` into the policy of this gateway, or refuse the call.";
