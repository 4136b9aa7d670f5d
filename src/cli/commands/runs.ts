/** `sluicegate runs [new|close|accept]`: the runs that live now, what they hold and may do, what waits for consent. */
import type { Command } from "commander";
import type { Reply, RunView } from "../../app/gateway/control-contract.ts";
import { askDaemon, outcomeOf } from "../control-client.ts";
import { type Proving, askProven, codeOption } from "../proven.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { acts } from "../output.ts";
import { shown, table } from "../../app/state/sentences.ts";

const usage =
  "Use `sluicegate runs`, `sluicegate runs new`, `sluicegate runs close ID` or `sluicegate runs accept ID HAZARD MOVE`.";

export function register(program: Command): void {
  const command = program
    .command("runs [word] [id] [risk...]")
    .description(
      "list runs; `runs new` starts a clean one, `runs close ID` ends one, `runs accept ID HAZARD MOVE` accepts a risk",
    );
  acts(command, codeOption, (options, word?: string, id?: string, risk: readonly string[] = []) =>
    runs({ word, id, risk }, { code: options.code }),
  );
}

type Words = { readonly word: string | undefined; readonly id: string | undefined; readonly risk: readonly string[] };

async function runs({ word, id, risk }: Words, proving: Proving): Promise<Outcome> {
  if (word === undefined) return list();
  const [hazard, ...rest] = risk;
  if (word === "accept" && id !== undefined && hazard !== undefined && rest.length > 0) {
    const move = rest.join(" ");
    const done = `Accepted for run ${shown(id)}: ${shown(move)} may cause hazard ${shown(hazard)}.`;
    return outcomeOf(await askProven({ kind: "runs-accept", run: id, hazard, move }, proving), () => done);
  }
  if (risk.length > 0) return failure("SG-USAGE", usage);
  if (word === "new" && id === undefined) {
    return outcomeOf(await askProven({ kind: "runs-new" }, proving), withOwed("The next call starts a clean run."));
  }
  if (word === "close" && id !== undefined) {
    return outcomeOf(
      await askProven({ kind: "runs-close", run: id }, proving),
      withOwed(`Run ${shown(id)} is closed.`),
    );
  }
  return failure("SG-USAGE", usage);
}

const withOwed =
  (done: string) =>
  ({ owed }: Reply<"runs-close">): string => {
    const lines = owed.map((one) => `\n  ${shown(one, 240)}`);
    return owed.length === 0 ? done : `${done}\nStill owed when it ended:${lines.join("")}`;
  };

async function list(): Promise<Outcome> {
  const absent = { runs: [], dormant: [], isolation: [], approvals: [] };
  return outcomeOf(await askDaemon({ kind: "runs" }), runsText, absent);
}

/** The answer of the daemon to `runs`, as text. */
export function runsText({ runs: open, dormant, isolation, approvals }: Reply<"runs">): string {
  const head =
    open.length === 0
      ? "No run is open."
      : table([["run", "principal", "holds", "state", "power", ""], ...open.map(rowOf)]);
  const under = ({ run }: RunView, line: string): string => `  ${brief(run)}: ${line}`;
  const parts = [
    section(
      "Not shown now",
      open.flatMap((run) => hiddenOf(run).map((line) => under(run, line))),
    ),
    section(
      "Risks accepted for the rest of the run",
      open.flatMap((run) => (run.regulation?.risks ?? []).map((risk) => under(run, shown(risk, 120)))),
    ),
    section(
      "Owed before they end (rules)",
      open.flatMap((run) => run.owed.map((one) => under(run, shown(one, 120)))),
    ),
    section(
      "Taken over from other runs of this user",
      open.flatMap((run) => sourceLines(run).map((line) => under(run, line))),
    ),
    section(
      "Open since before the last start; what they hold counts (sluicegate runs close ID)",
      dormant.map(({ run, principal }) => `  ${brief(run)}  ${brief(principal)}`),
    ),
    savedText(open),
    // Runs may be under several policies: each sentence once.
    ...[...new Set(open.map(({ lasts }) => lasts))].map((one) => shown(one, 240)),
    section(
      "Isolation of the servers that run now",
      isolation.map(({ server, tier, missing }) =>
        [`  ${brief(server)}  tier ${brief(tier)}`, ...missing.map((note) => `      ${shown(note, 240)}`)].join("\n"),
      ),
    ),
    section(
      "Waiting for consent (sluicegate approve ID)",
      approvals.map(
        ({ id, server, tool, status, expires }) =>
          `  ${brief(id)}  ${brief(server)}.${brief(tool)}  ${brief(status)}, until ${brief(expires)}`,
      ),
    ),
  ];
  return [head, ...parts.filter((part) => part !== "")].join("\n");
}

function rowOf({ run, principal, context, ended, regulation, inFlight }: RunView): readonly string[] {
  const { power, budget = null, state = "-" } = regulation ?? {};
  const of = budget === null ? "" : ` of ${budget}`;
  return [
    brief(run),
    brief(principal),
    brief(context),
    ended === true ? "ended" : shown(state, 20),
    power === undefined ? "-" : `${power}${of}`,
    `${inFlight.length} in flight`,
  ];
}

/** Tools that the run is not shown, each with its reason. */
function hiddenOf({ regulation }: RunView): readonly string[] {
  const { hidden = [], hiddenMore = 0 } = regulation ?? {};
  const lines = hidden.map(({ tool, why }) => `${brief(tool)}: ${shown(why, 240)}`);
  return hiddenMore > 0 ? [...lines, `and ${hiddenMore} more`] : lines;
}

/** What a run holds only because another run passed it on; `runs close` of that run and of this one ends it. */
export function sourceLines({ sources = [] }: Pick<RunView, "sources">): readonly string[] {
  return sources.map(({ from, holds }) => `${shown(holds.join(", "), 120)} from ${shown(from, 120)}`);
}

function savedText(open: readonly RunView[]): string {
  const tokens = open.reduce((sum, { regulation }) => sum + (regulation?.tokensSaved ?? 0), 0);
  return tokens === 0 ? "" : `Shortlists keep about ${tokens} tokens out of the agents' contexts (bytes / 4).`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}:\n${lines.join("\n")}`;
}

const brief = (text: string): string => shown(text, 60);
