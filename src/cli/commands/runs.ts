/** `sluicegate runs [new|close|accept]`: the runs that live now, what they hold and may do, what waits for consent. */
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import { askDaemon } from "../control-client.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shown, table } from "../output.ts";

const usage =
  "Use `sluicegate runs`, `sluicegate runs new`, `sluicegate runs close ID` or `sluicegate runs accept ID HAZARD MOVE`.";

export function register(program: Command): void {
  const command = program
    .command("runs [word] [id] [risk...]")
    .description(
      "list runs; `runs new` starts a clean one, `runs close ID` ends one, `runs accept ID HAZARD MOVE` accepts a risk",
    );
  acts(command, (_options, word?: string, id?: string, risk: readonly string[] = []) => runs(word, id, risk));
}

async function runs(word: string | undefined, id: string | undefined, risk: readonly string[]): Promise<Outcome> {
  if (word === undefined) return list();
  const [hazard, ...move] = risk;
  if (word === "accept" && id !== undefined && hazard !== undefined && move.length > 0) {
    const request = { kind: "runs-accept", run: id, hazard, move: move.join(" ") };
    return tell(
      request,
      `Accepted for run ${shown(id)}: ${shown(request.move)} may bring about hazard ${shown(hazard)}.`,
    );
  }
  if (risk.length > 0) return failure("SG-USAGE", usage);
  if (word === "new" && id === undefined) return tell({ kind: "runs-new" }, "The next call starts a clean run.");
  if (word === "close" && id !== undefined) return tell({ kind: "runs-close", run: id }, `Run ${shown(id)} is closed.`);
  return failure("SG-USAGE", usage);
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
    return { exitCode: 0, json: { runs: [], dormant: [], isolation: [], approvals: [] }, text: answer.error.sentence };
  }
  return { exitCode: 0, json: answer.value, text: runsText(answer.value) };
}

/** The answer of the daemon to `runs`, for people. */
export function runsText(answer: Json): string {
  const open = listed(member(answer, "runs"));
  const head =
    open.length === 0
      ? "No run is open."
      : table([["run", "principal", "holds", "state", "power", ""], ...open.map(rowOf)]);
  const hidden = open.flatMap((run) => [...regulationLines(run, "hidden"), ...moreHidden(run)]);
  const parts = [
    section("Not shown now", hidden),
    section(
      "Risks accepted for the rest of the run",
      open.flatMap((run) => regulationLines(run, "risks")),
    ),
    section(
      "Owed before they end (rules)",
      open.flatMap((run) => linesOf(run, member(run, "owed"))),
    ),
    section(
      "Open since before the last start; what they hold counts (sluicegate runs close ID)",
      listed(member(answer, "dormant")).map((one) => `  ${text(one, "run")}  ${text(one, "principal")}`),
    ),
    savedText(open),
    // Runs may be under several policies: each sentence once.
    ...[...new Set(open.map((run) => stringMember(run, "lasts") ?? ""))].map((one) => shown(one, 240)),
    section("Isolation of the servers that run now", listed(member(answer, "isolation")).map(isolationLine)),
    section("Waiting for consent (sluicegate approve ID)", listed(member(answer, "approvals")).map(waiting)),
  ];
  return [head, ...parts.filter((part) => part !== "")].join("\n");
}

function rowOf(run: Json): readonly string[] {
  const regulation = member(run, "regulation");
  const [power, budget] = [member(regulation, "power"), member(regulation, "budget")];
  const of = typeof budget === "number" ? ` of ${budget}` : "";
  const state = member(run, "ended") === true ? "ended" : (stringMember(regulation, "state") ?? "-");
  return [
    text(run, "run"),
    text(run, "principal"),
    text(run, "context"),
    shown(state, 20),
    typeof power === "number" ? `${power}${of}` : "-",
    `${listed(member(run, "inFlight")).length} in flight`,
  ];
}

/** Tools with their reasons, or plain texts, each under its run. */
function regulationLines(run: Json, name: string): readonly string[] {
  return linesOf(run, member(member(run, "regulation"), name));
}

function linesOf(run: Json, entries: Json | undefined): readonly string[] {
  return listed(entries).map((entry) => {
    if (typeof entry === "string") return `  ${text(run, "run")}: ${shown(entry, 120)}`;
    return `  ${text(run, "run")}: ${text(entry, "tool")}: ${shown(stringMember(entry, "why") ?? "", 240)}`;
  });
}

function moreHidden(run: Json): readonly string[] {
  const more = member(member(run, "regulation"), "hiddenMore");
  return typeof more === "number" && more > 0 ? [`  ${text(run, "run")}: and ${more} more`] : [];
}

function savedText(open: readonly Json[]): string {
  const tokens = open.reduce((sum: number, run) => {
    const saved = member(member(run, "regulation"), "tokensSaved");
    return typeof saved === "number" ? sum + saved : sum;
  }, 0);
  return tokens === 0 ? "" : `Shortlists keep about ${tokens} tokens out of the agents' contexts (bytes / 4).`;
}

function waiting(one: Json): string {
  return `  ${text(one, "id")}  ${text(one, "server")}.${text(one, "tool")}  ${text(one, "status")}, until ${text(one, "expires")}`;
}

function isolationLine(one: Json): string {
  const missing = listed(member(one, "missing")).map(
    (note) => `\n      ${shown(typeof note === "string" ? note : "", 240)}`,
  );
  return `  ${text(one, "server")}  tier ${text(one, "tier")}${missing.join("")}`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}:\n${lines.join("\n")}`;
}

function listed(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function text(value: Json, name: string): string {
  return shown(stringMember(value, name) ?? "-", 60);
}
