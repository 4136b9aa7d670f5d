/**
 * Acts that a policy may demand a proof for: the command asks what is needed, proves it, and then acts. Nothing here
 * decides; the gateway checks each proof.
 */
import { closeSync, openSync } from "node:fs";
import { attempt } from "../adapters/attempt.ts";
import type { Reply, Request, RequestKind } from "../app/gateway/control-contract.ts";
import { type Result, err, ok } from "../core/result.ts";
import { hiddenLine } from "./hidden-line.ts";
import { showPage } from "./show-page.ts";
import { typed } from "./agreed.ts";
import { type Answered, type AskWay, type ControlFailure, askDaemon } from "./control-client.ts";

/** `code`: from the command line. `elsewhere`: the terminal is in use, so nothing can be typed here. */
export type Proving = Pick<AskWay, "daemonOnly"> & {
  readonly code?: string | undefined;
  readonly elsewhere?: boolean;
};

type Provable =
  | "approve"
  | "card-answer"
  | "runs-new"
  | "runs-close"
  | "runs-accept"
  | "stores-reset"
  | "changes-apply"
  | "factor-add"
  | "factor-remove";
type Ticket = Reply<"factor">["tickets"][number];

/** The option of every command that acts. */
export const codeOption = {
  "--code <code>": "the code of your device, where the policy demands one (`approvals.factor: device`)",
} as const;

/** Does one act, with whatever proof it needs. */
export async function askProven<K extends Provable & RequestKind>(
  act: Request<K>,
  proving: Proving = {},
): Promise<Result<Answered<K>, ControlFailure>> {
  const tickets = await ticketsFor([act], proving);
  return tickets.ok ? askDaemon({ ...act, ...tickets.value }, wayOf(proving)) : tickets;
}

/** Proves what some of these acts need, once for all of them; the members belong into each act. */
export async function ticketsFor(
  acts: readonly Request<Provable>[],
  proving: Proving,
): Promise<Result<{ readonly tickets?: readonly string[] }, ControlFailure>> {
  const needed = await askDaemon({ kind: "factor", acts }, wayOf(proving));
  if (!needed.ok) return needed;
  const { tickets } = needed.value.reply;
  for (const ticket of tickets) {
    const proven = await prove(ticket, proving);
    if (!proven.ok) return proven;
  }
  return ok(tickets.length === 0 ? {} : { tickets: tickets.map(({ ticket }) => ticket) });
}

/** A key has to be found, plugged in and touched; the gateway ends the wait a little earlier. */
export const touchMsMax = 190_000;

async function prove(
  { ticket, factor, file, url }: Ticket,
  proving: Proving,
): Promise<Result<unknown, ControlFailure>> {
  if (factor === "terminal") return proveTerminal(ticket, file ?? "");
  if (factor === "presence") {
    showPage(url ?? "");
    return askDaemon({ kind: "factor-prove", ticket }, { waitMsMax: touchMsMax });
  }
  if (factor === "password") return provePassword(ticket, proving);
  if (factor !== "device") return refused(`This command cannot prove \`${factor}\`: use the daemon's version.`);
  const code = proving.code === undefined ? await typedCode(proving) : ok(proving.code);
  return code.ok ? askDaemon({ kind: "factor-prove", ticket, code: code.value }) : code;
}

/** This process shows that it is the one that asks: it holds the gateway's file open while it does. */
async function proveTerminal(ticket: string, file: string): Promise<Result<unknown, ControlFailure>> {
  const held = attempt(() => openSync(file, "r"), undefined);
  if (held === undefined) return refused("The proof of the terminal cannot be opened: repeat.");
  try {
    return await askDaemon({ kind: "factor-prove", ticket, pid: process.pid });
  } finally {
    closeSync(held);
  }
}

async function provePassword(ticket: string, { elsewhere }: Proving): Promise<Result<unknown, ControlFailure>> {
  if (elsewhere === true)
    return refused("It needs your password: run `sluicegate approve ID` in another terminal while this waits.");
  const password = await hiddenLine("Your password for Sluicegate: ");
  if (password === undefined)
    return refused("It needs your password, which is typed at a terminal, and there is none: run it in one.");
  return askDaemon({ kind: "factor-prove", ticket, password });
}

async function typedCode({ elsewhere }: Proving): Promise<Result<string, ControlFailure>> {
  if (elsewhere === true)
    return refused("It needs a code of your device: run `sluicegate approve ID` in another terminal while this waits.");
  if (!process.stdin.isTTY)
    return refused("It needs a code of your device, and this is no terminal: run it in one, or add `--code`.");
  return ok(await typed("Code of your device: "));
}

function wayOf({ daemonOnly = false }: Proving): AskWay {
  return { daemonOnly };
}

function refused(sentence: string): Result<never, ControlFailure> {
  return err({ code: "SG-FACTOR", sentence, absent: false });
}
