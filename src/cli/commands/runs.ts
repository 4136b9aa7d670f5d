/** `sluicegate runs [new|close ID]`: the runs that live now, what labels they hold, what waits for consent. */
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import { askDaemon } from "../control-client.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shown, table } from "../output.ts";

export function register(program: Command): void {
  const command = program
    .command("runs [word] [id]")
    .description("list runs; `runs new` starts a clean one, `runs close ID` ends one");
  acts(command, (_options, word?: string, id?: string) => runs(word, id));
}

async function runs(word: string | undefined, id: string | undefined): Promise<Outcome> {
  if (word === undefined) return list();
  if (word === "new" && id === undefined) return tell({ kind: "runs-new" }, "The next call starts a clean run.");
  if (word === "close" && id !== undefined) return tell({ kind: "runs-close", run: id }, `Run ${shown(id)} is closed.`);
  return failure("SG-USAGE", "Use `sluicegate runs`, `sluicegate runs new` or `sluicegate runs close ID`.");
}

async function tell(request: Json, done: string): Promise<Outcome> {
  const answer = await askDaemon(request);
  if (!answer.ok) return failure(answer.error.code, answer.error.sentence);
  const owed = listed(member(answer.value, "owed")).map((one) => `  ${shown(typeof one === "string" ? one : "", 240)}`);
  const tail = owed.length === 0 ? "" : `\nStill owed when it ended:\n${owed.join("\n")}`;
  return { exitCode: 0, json: answer.value, text: `${done}${tail}` };
}

async function list(): Promise<Outcome> {
  const answer = await askDaemon({ kind: "runs" });
  if (!answer.ok) {
    if (!answer.error.absent) return failure(answer.error.code, answer.error.sentence);
    return { exitCode: 0, json: { runs: [], approvals: [] }, text: answer.error.sentence };
  }
  const rows = listed(member(answer.value, "runs")).map((run) => [
    text(run, "run"),
    text(run, "principal"),
    text(run, "context"),
    `${listed(member(run, "inFlight")).length} in flight`,
  ]);
  const waiting = listed(member(answer.value, "approvals")).map(
    (one) =>
      `  ${text(one, "id")}  ${text(one, "server")}.${text(one, "tool")}  ${text(one, "status")}, until ${text(one, "expires")}`,
  );
  const head = rows.length === 0 ? "No run is open." : table([["run", "principal", "holds", ""], ...rows]);
  const open = listed(member(answer.value, "runs"));
  const owed = open.flatMap((run) =>
    listed(member(run, "owed")).map(
      (rule) => `  ${text(run, "run")}: ${shown(typeof rule === "string" ? rule : "", 80)}`,
    ),
  );
  const debts = owed.length === 0 ? "" : `\nOwed before they end (rules):\n${owed.join("\n")}`;
  // Runs may be under several policies: each sentence once.
  const lasts = [...new Set(open.map((run) => stringMember(run, "lasts") ?? ""))].filter((one) => one !== "");
  const until = lasts.map((one) => `\n${shown(one, 240)}`).join("");
  const tail = waiting.length === 0 ? "" : `\nWaiting for consent (sluicegate approve ID):\n${waiting.join("\n")}`;
  return { exitCode: 0, json: answer.value, text: `${head}${debts}${until}${tail}` };
}

function listed(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function text(value: Json, name: string): string {
  return shown(stringMember(value, name) ?? "-", 60);
}
