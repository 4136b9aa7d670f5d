/** `sluicegate audit tail|verify|export|policy|set-aside`: the event logs as people, checkers and other programs read them. */
import type { Command } from "commander";
import { viewsOf } from "../../gateway/log/record.ts";
import { recordPages } from "../../gateway/log/record-pages.ts";
import type { LogView, StoredRecord, StoreFailure } from "../../gateway/store-port.ts";
import type { Result } from "../../core/result.ts";
import { ok } from "../../core/result.ts";
import { auditLineOf, plainRecord } from "../audit/record-line.ts";
import { exportLog } from "../audit/export.ts";
import { policyOnRecord } from "../audit/policy-on-record.ts";
import { setAsideLog } from "../audit/set-aside.ts";
import { verify } from "../audit/verify.ts";
import type { LogName, NamedLog } from "../log-reader.ts";
import { chosenLog, logOption, readLogs, storeFault } from "../log-reader.ts";
import type { Outcome } from "../output.ts";
import { acts, failure } from "../output.ts";

const tailDefault = 20;
const tailMax = 10_000;

/** How often `--follow` looks for new records. */
const followMs = 400;

type Options = Readonly<Record<string, unknown>>;

export function register(program: Command): void {
  const audit = program.command("audit").description("read, verify and export the event logs");
  const tailing = audit
    .command("tail")
    .description("the newest records, newest last")
    .option("-n, --lines <count>", "how many records", String(tailDefault))
    .option(...logOption)
    .option("--run <run>", "only records of this run")
    .option("--payload", "show arguments and results too, where their key still exists")
    .option("-f, --follow", "go on with new records until interrupted");
  acts(tailing, (options) => tail(options));
  const verifying = audit
    .command("verify")
    .description("check the whole chain of every log, its signatures and the links between writers")
    .option(...logOption)
    .option(
      "--anchor <report>",
      "an earlier `audit verify --json`, kept elsewhere: its heads must still be on the chain",
    );
  acts(verifying, (options) => verify(options));
  const exporting = audit
    .command("export")
    .description("write every record, oldest first, one JSON object a line")
    .option("--format <format>", "jsonl or ocsf", "jsonl")
    .option(...logOption)
    .option("--out <file>", "write to a file instead of standard output");
  acts(exporting, (options) => exportLog(options));
  const policy = audit
    .command("policy <run>")
    .description("the policy that a run was decided under last, as canonical JSON; a digest of one names it, too")
    .option(...logOption);
  acts(policy, (options, run: string) => policyOnRecord(run, options));
  const aside = audit
    .command("set-aside")
    .description("move a log away that is damaged or has lost its keys, so that a new one can begin")
    .option(...logOption);
  acts(aside, (options) => setAsideLog(options));
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

async function tail(options: Options): Promise<Outcome> {
  const count = Number(options["lines"]);
  if (!Number.isInteger(count) || count < 1 || count > tailMax) {
    return failure("SG-USAGE", `\`-n\` is no number of records: write a whole number from 1 to ${tailMax}.`);
  }
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const run = typeof options["run"] === "string" ? options["run"] : undefined;
  const opened = readLogs(process.env, chosen.value);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  const logs = opened.value;
  if (logs.length === 0) return { exitCode: 0, json: { records: [] }, text: noLog };
  const way: Way = { count, run, withPayload: options["payload"] === true, several: logs.length > 1 };
  const ends = await newestOf(logs, way);
  if (!ends.ok) return failureOf(ends.error);
  const newest = ends.value
    .map((end) => end.shown)
    .reduce(merged)
    .slice(-count);
  if (options["follow"] === true) return follow(ends.value, newest, way, options["json"] === true);
  await Promise.all(logs.map(({ store }) => store.close(false)));
  return {
    exitCode: 0,
    json: { records: newest.map((one) => jsonOf(one, way)) },
    text: newest.length === 0 ? "No record fits." : newest.map((one) => lineOf(one, way)).join("\n"),
  };
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

/** Goes on until somebody interrupts it. */
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
