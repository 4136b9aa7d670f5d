/** `sluicegate changes [show|apply|drop ID]`: server writes that wait for the user before they reach a workspace. */
import type { Command } from "commander";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { type EntryDiff, applyHeld, diffOf, dropHeld, listHeld } from "../../adapters/workspace/commit/held.ts";
import { recover } from "../../adapters/workspace/commit/recover.ts";
import { factorOnRecord } from "../../app/factors/factor-on-record.ts";
import { type Fault, type Outcome, failure } from "../../app/state/outcome.ts";
import { type Proving, askProven, codeOption } from "../proven.ts";
import { acts } from "../output.ts";
import { shortPath, shown, table } from "../../app/state/sentences.ts";

const usage = "Use `sluicegate changes`, or `sluicegate changes show|apply|drop ID` with an id of that list.";

/** Characters of one line of a diff, and lines of a whole one, that a terminal gets; `--json` gives all of it. */
const lineCharactersMax = 400;
const shownLinesMax = 2_000;
const shownFilesMax = 50;

/** Writes without a reason of their own wait as a whole: `commit: review`, or a call that could not be judged. */
const keptBack = "the policy, or the verdict on its call, keeps it for you";

const changeOptions = {
  ...codeOption,
  "--over": "with apply: also over files that were changed meanwhile, as `changes show` shows them",
} as const;

export function register(program: Command): void {
  const command = program
    .command("changes [word] [id]")
    .description("show what servers wrote that waits for you; `changes show|apply|drop ID` decides on one");
  acts(command, changeOptions, (options, word?: string, id?: string) =>
    changes({ over: options.over === true, word, id }, { code: options.code }),
  );
}

type Words = { readonly over: boolean; readonly word: string | undefined; readonly id: string | undefined };

async function changes({ over, word, id }: Words, proving: Proving): Promise<Outcome> {
  const state = stateHome(process.env);
  if (over && word !== "apply") return failure("SG-USAGE", usage);
  // An approved write that a gateway could not finish does not wait for an answer.
  await recover(state);
  if ((word === undefined || word === "list") && id === undefined) return list(state);
  if (id === undefined) return failure("SG-USAGE", usage);
  if (word === "show") return show(state, id);
  if (word === "apply") return apply(state, { id, over }, proving);
  if (word !== "drop") return failure("SG-USAGE", usage);
  const dropped = dropHeld(state, id);
  if (!dropped.ok) return failure("SG-USAGE", dropped.error);
  return { exitCode: 0, json: { dropped: id }, text: "Dropped: the workspace stays as it is." };
}

function list(state: string): Outcome {
  const held = listHeld(state);
  if (held.length === 0) return { exitCode: 0, json: { changes: [] }, text: "No change waits for you." };
  const rows = held.map((one) => [
    one.id,
    new Date(one.wallMs).toISOString().slice(0, 16),
    shown(one.server, 40),
    `${one.files.length} ${one.files.length === 1 ? "file" : "files"}`,
    shortPath(one.workspace),
    shown(one.reason ?? keptBack, 100),
  ]);
  const head = ["id", "since", "server", "changes", "workspace", "why it waits"];
  const way =
    "`sluicegate changes show ID` shows one, `apply ID` writes it into the workspace, `drop ID` throws it away.";
  return { exitCode: 0, json: { changes: held }, text: `${table([head, ...rows])}\n${way}` };
}

function show(state: string, id: string): Outcome {
  const diffs = diffOf(state, id);
  if (!diffs.ok) return failure("SG-USAGE", diffs.error);
  return { exitCode: 0, json: { id, entries: diffs.value }, text: diffText(diffs.value) };
}

/** Diffs for a terminal: every character that could move the cursor or hide others is shown as an escape. */
export function diffText(entries: readonly EntryDiff[]): string {
  const lines = entries.flatMap((entry) => {
    const why = entry.reason === undefined ? "" : ` (${shown(entry.reason, 160)})`;
    return [`${entry.kind} ${shown(entry.path, 300)}${why}`, ...entry.lines.map((line) => `  ${plainLine(line)}`)];
  });
  if (lines.length <= shownLinesMax) return lines.join("\n");
  const rest = `... ${lines.length - shownLinesMax} more lines: \`--json\` gives all.`;
  return [...lines.slice(0, shownLinesMax), rest].join("\n");
}

/** A tab is indentation and stays, or every line of some languages would be full of escapes. */
function plainLine(line: string): string {
  const cut = line.length <= lineCharactersMax ? line : `${line.slice(0, lineCharactersMax - 1)}…`;
  return cut
    .split("\t")
    .map((part) => shown(part, lineCharactersMax * 8))
    .join("\t");
}

type Applied = { readonly id: string; readonly over: boolean };

/** Obtains the consent that the policy of the change's run demands; why there is none, or undefined. */
async function consentTo(state: string, { id, over }: Applied, proving: Proving): Promise<Fault | undefined> {
  const run = listHeld(state).find((one) => one.id === id)?.run;
  const factor = run === undefined ? undefined : await factorOnRecord(process.env, run);
  const demand = factor === undefined ? {} : { factor };
  const asked = await askProven({ kind: "changes-apply", id, over, ...demand }, proving);
  if (asked.ok || (asked.error.absent && factor === undefined)) return undefined;
  if (!asked.error.absent) return asked.error;
  const sentence =
    "The policy of its run demands a proof, which the daemon checks: run `sluicegate daemon start`, then repeat.";
  return { code: "SG-FACTOR", sentence };
}

async function apply(state: string, { id, over }: Applied, proving: Proving): Promise<Outcome> {
  const refused = await consentTo(state, { id, over }, proving);
  if (refused !== undefined) return failure(refused.code, refused.sentence);
  const applied = await applyHeld(state, id, over);
  if (!applied.ok) return failure("SG-USAGE", applied.error);
  const { committed, held } = applied.value;
  const done = `${committed.length} ${committed.length === 1 ? "change is" : "changes are"} in the workspace.`;
  if (held.length === 0) return { exitCode: 0, json: applied.value, text: done };
  const rows = held.slice(0, shownFilesMax).map((one) => `  ${shown(one.path, 200)}: ${shown(one.reason ?? "", 160)}`);
  const more = held.length > rows.length ? [`  and ${held.length - rows.length} more`] : [];
  const way =
    "`apply --over` also writes what was changed meanwhile; what no server may write you can only copy yourself.";
  const text = [done, `${held.length} still ${held.length === 1 ? "waits" : "wait"}:`, ...rows, ...more, way].join(
    "\n",
  );
  return { exitCode: 1, json: applied.value, text };
}
