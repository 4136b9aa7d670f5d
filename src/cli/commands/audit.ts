/** `sluicegate audit tail|verify|export|policy|prune|set-aside`: the event logs for users, checkers and other programs. */
import type { Command } from "commander";
import { viewsOf, recordPages } from "../../gateway/log/record.ts";
import type { LogView, StoredRecord, StoreFailure } from "../../gateway/ports/store.ts";
import { type Result, ok } from "../../core/result.ts";
import { auditLineOf, plainRecord } from "../../app/replay/audit-line.ts";
import { exportLog } from "../../app/replay/audit-export.ts";
import { policyOnRecord } from "../../app/replay/audit-policy.ts";
import { pruneLogs } from "../../app/replay/audit-prune.ts";
import { leftSentence } from "../../app/replay/left-run.ts";
import { setAsideLog } from "../../app/replay/audit-set-aside.ts";
import { verify } from "../../app/replay/audit-verify.ts";
import { type LogName, type NamedLog, chosenLog, logOption, readLogs, storeFault } from "../../app/state/log-files.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { type OptionsOf, acts } from "../output.ts";

const tailDefault = 20;
const tailMax = 10_000;

/** How often `--follow` looks for new records. */
const followMs = 400;

const tailOptions = {
  "-n, --lines <count>": ["how many records", String(tailDefault)],
  ...logOption,
  "--run <run>": "only records of this run",
  "--payload": "show arguments and results too, where their key still exists",
  "-f, --follow": "go on with new records until interrupted",
} as const;

export function register(program: Command): void {
  const audit = program.command("audit").description("read, verify and export the event logs");
  acts(audit.command("tail").description("the newest records, newest last"), tailOptions, tail);
  acts(
    audit
      .command("verify")
      .description("check the whole chain of every log, its signatures and the links between writers"),
    {
      ...logOption,
      "--anchor <report>": "an earlier `audit verify --json`, kept elsewhere: its heads must still be on the chain",
    },
    verify,
  );
  acts(
    audit.command("export").description("write every record, oldest first, one JSON object a line"),
    {
      "--format <format>": ["jsonl or ocsf", "jsonl"],
      ...logOption,
      "--out <file>": "write to a file instead of standard output",
    },
    exportLog,
  );
  acts(
    audit
      .command("policy <run>")
      .description("the policy that a run was decided under last, as canonical JSON; a digest of one names it, too"),
    logOption,
    (options, run: string) => policyOnRecord(run, options),
  );
  acts(
    audit
      .command("prune")
      .description(
        "remove runs that ended longer ago, or need more bytes, than the policy keeps, where no gateway does",
      ),
    {
      "--dry-run": "only say what would leave, and what has left",
      "--keep-days <days>": "in place of `audit.keepDays` of the policy of the newest run",
      "--bytes <size>":
        "in place of `audit.keepMb`: above it the runs that ended first leave, such as 500MiB or a number of bytes",
      ...logOption,
    },
    pruneLogs,
  );
  acts(
    audit
      .command("set-aside")
      .description("move a log away that is damaged or has lost its keys, so that a new one can begin"),
    logOption,
    setAsideLog,
  );
}

const noLog =
  "There is no event log yet: it begins with the first `sluicegate run -- CMD` or `sluicegate gateway --config FILE`.";

/** A record with the log that it stands in: writers of two logs have the same numbers. */
type Shown = { readonly log: LogName; readonly view: LogView };

type Way = {
  readonly count: number;
  readonly run: string | undefined;
  readonly withPayload: boolean;
  /** Lines name their log where there is more than one. */
  readonly several: boolean;
};

async function tail(options: OptionsOf<typeof tailOptions> & { readonly json?: true }): Promise<Outcome> {
  const count = Number(options.lines);
  if (!Number.isInteger(count) || count < 1 || count > tailMax) {
    return failure("SG-USAGE", `\`-n\` is not a number of records: write a whole number from 1 to ${tailMax}.`);
  }
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const opened = readLogs(process.env, chosen.value);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  const logs = opened.value;
  if (logs.length === 0) return { exitCode: 0, json: { records: [] }, text: noLog };
  const way: Way = { count, run: options.run, withPayload: options.payload === true, several: logs.length > 1 };
  const ends = await newestOf(logs, way);
  if (!ends.ok) return failureOf(ends.error);
  const newest = ends.value
    .map((end) => end.shown)
    .reduce(merged)
    .slice(-count);
  if (options.follow === true) return follow(ends.value, newest, way, options.json === true);
  const left = newest.length === 0 ? await leftIn(logs, options.run) : "";
  await Promise.all(logs.map(({ store }) => store.close(false)));
  return {
    exitCode: 0,
    json: { records: newest.map((one) => jsonOf(one, way)) },
    text: newest.length === 0 ? left : newest.map((one) => lineOf(one, way)).join("\n"),
  };
}

/** Why there is no record of a run. */
async function leftIn(logs: readonly NamedLog[], run: string | undefined): Promise<string> {
  for (const log of run === undefined ? [] : logs) {
    const sentence = await leftSentence(log, run ?? "");
    if (sentence.ok && sentence.value !== undefined) return sentence.value;
  }
  return "No record fits.";
}

type Place = Pick<StoredRecord, "writer" | "seq">;

type End = { readonly log: NamedLog; readonly shown: readonly Shown[]; readonly last: Place | undefined };

/** The newest records of each log, oldest first, and where each ends. */
async function newestOf(logs: readonly NamedLog[], { count, run }: Way): Promise<Result<readonly End[], StoreFailure>> {
  const ends: End[] = [];
  for (const log of logs) {
    const page = await log.store.records({ order: "newest", limit: count, ...(run === undefined ? {} : { run }) });
    if (!page.ok) return page;
    const shown = page.value
      .toReversed()
      .flatMap((record) => viewsOf(log.keys, record))
      .map((view) => ({ log: log.name, view }));
    ends.push({ log, shown, last: page.value[0] });
  }
  return ok(ends);
}

/** Two logs as one, by the clock on the wall; within a log the chain's own order stays, whatever the clock did. */
function merged(left: readonly Shown[], right: readonly Shown[]): readonly Shown[] {
  const all: Shown[] = [];
  let next = 0;
  for (const one of right) {
    for (let other = left[next]; other !== undefined && other.view.wallTime <= one.view.wallTime; other = left[next]) {
      all.push(other);
      next += 1;
    }
    all.push(one);
  }
  return [...all, ...left.slice(next)];
}

function jsonOf({ log, view }: Shown, { withPayload }: Way): object {
  return { log, ...plainRecord(view, withPayload) };
}

function lineOf({ log, view }: Shown, { withPayload, several }: Way): string {
  const line = auditLineOf(view, withPayload);
  return several ? `${log.padEnd(7)}  ${line}` : line;
}

/** Goes on until the user interrupts it. */
async function follow(ends: readonly End[], newest: readonly Shown[], way: Way, asJson: boolean): Promise<never> {
  const print = (one: Shown): void => {
    process.stdout.write(`${asJson ? JSON.stringify(jsonOf(one, way)) : lineOf(one, way)}\n`);
  };
  newest.forEach(print);
  const after = new Map(ends.map(({ log, last }) => [log, last]));
  for (;;) {
    for (const [log, last] of after) {
      for await (const page of recordPages(log.store, last === undefined ? {} : { after: last })) {
        // A log that cannot be read now is looked at again.
        if (!page.ok) break;
        after.set(log, page.value.at(-1) ?? last);
        const fitting = page.value.filter((record) => way.run === undefined || record.run === way.run);
        for (const record of fitting) {
          for (const view of viewsOf(log.keys, record)) print({ log: log.name, view });
        }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, followMs));
  }
}

function failureOf(error: StoreFailure): Outcome {
  const fault = storeFault(error);
  return failure(fault.code, fault.sentence);
}
