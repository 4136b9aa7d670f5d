/** `sluicegate doctor`: looks at what Sluicegate needs, and proves through the real path that a deny holds. */
import type { Command } from "commander";
import { prove } from "../doctor/proof.ts";
import { surroundings } from "../doctor/surroundings.ts";
import type { Outcome } from "../../app/state/outcome.ts";
import { acts } from "../output.ts";
import { shown } from "../../app/state/sentences.ts";

export function register(program: Command): void {
  const command = program
    .command("doctor")
    .description("check this installation, and send a call that must be denied through the real path");
  acts(command, {}, doctor);
}

async function doctor(): Promise<Outcome> {
  const around = await surroundings();
  const proof = await prove();
  const checks = [...around, ...proof];
  const wrong = checks.filter((check) => check.state === "failed");
  const marks = { ok: "✓", note: "·", failed: "✗" } as const;
  const lines = checks.map((check) => `${marks[check.state]} ${shown(check.sentence, 240)}`);
  const holds = proof.every((check) => check.state !== "failed");
  const verdict = !holds
    ? "A deny does NOT hold here: do not rely on this installation."
    : wrong.length > 0
      ? `A deny holds, but ${wrong.length} of ${checks.length} checks found a problem.`
      : "All is well: what is denied does not happen.";
  return {
    exitCode: wrong.length === 0 ? 0 : 1,
    json: { ok: wrong.length === 0, holds, checks },
    text: [...lines, verdict].join("\n"),
  };
}
