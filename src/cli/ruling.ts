/** Rules one approval: where the policy demands a terminal, this process proves that it is the one that asks. */
import { closeSync, openSync } from "node:fs";
import { attempt } from "../adapters/attempt.ts";
import type { Request } from "../app/gateway/control-contract.ts";
import { type Result, err } from "../core/result.ts";
import { type Answered, type ControlFailure, askDaemon } from "./control-client.ts";

export async function rule(
  id: string,
  choice: Request<"approve">["choice"],
): Promise<Result<Answered<"approve">, ControlFailure>> {
  const needed = choice === "refuse" ? undefined : await askDaemon({ kind: "approve-proof", id, choice });
  if (needed?.ok === false) return needed;
  const file = needed?.value.reply.file;
  if (file === undefined) return askDaemon({ kind: "approve", id, choice });
  const held = attempt(() => openSync(file, "r"), undefined);
  if (held === undefined) {
    return err({
      code: "SG-DAEMON-REFUSED",
      sentence: "The proof of the terminal cannot be opened: repeat.",
      absent: false,
    });
  }
  try {
    return await askDaemon({ kind: "approve", id, choice, proof: { file, pid: process.pid } });
  } finally {
    closeSync(held);
  }
}
