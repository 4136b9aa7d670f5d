/**
 * `audit prune`: what is old enough to leave the logs, and what has left. A daemon or gateway removes old runs by itself;
 * where none runs, the command does it at once, and rewrites a file that cannot give back its space.
 */
import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { openKeys } from "../../adapters/keys/sealing.ts";
import { openSqliteStore } from "../../adapters/store/sqlite.ts";
import { type Json, member } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { openEventLog } from "../../gateway/log/event-log.ts";
import { readPruning } from "../../gateway/log/retention/pruning.ts";
import { readBody } from "../../gateway/log/record.ts";
import { textOfDigest } from "../../gateway/log/read-record.ts";
import { verifyLog } from "../../gateway/log/verify.ts";
import type { Store } from "../../gateway/ports/store.ts";
import { type RetentionWay, type Swept, prune, wouldLeave } from "../../gateway/runs/retention/run-retention.ts";
import {
  type LogFault,
  type LogName,
  type OpenedLog,
  chosenLog,
  logHome,
  logIsThere,
  logNames,
  logPlaces,
  readLogOf,
  storeFault,
} from "../state/log-files.ts";
import { type Keeping, inMebibytes, overSentence } from "../state/log-retention.ts";
import { remembered } from "../state/log-trust.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { many, shortPath } from "../state/sentences.ts";

/** `audit.keepDays` of a policy that does not say it, and the most that one may say. */
const keepDaysDefault = 30;
const keepDaysMax = 36_500;

/** Records among which the policy of the newest run is looked for. */
const newestRecords = 200;

/** Sizes as `--bytes` takes them. */
const units: Readonly<Record<string, number>> = { "": 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
const mebibyte = 2 ** 20;

export type PruneOptions = {
  readonly dryRun?: true;
  readonly keepDays?: string;
  readonly bytes?: string;
  readonly log?: string;
};

/** What the command says, in place of the policy. */
type Wanted = Partial<Keeping>;

/** What left the log before, as its records say. */
type LeftBefore = { readonly records: number; readonly steps: number; readonly last: string | undefined };

type PruneReport = {
  readonly log: LogName;
  readonly file: string;
  readonly keeping: Keeping;
  readonly swept: Swept;
  readonly before: LeftBefore;
  readonly bytes: { readonly before: number; readonly after: number };
};

export async function pruneLogs(options: PruneOptions): Promise<Outcome> {
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const said = wantedOf(options);
  if (!said.ok) return failure("SG-USAGE", said.error);
  const wanted = said.value;
  const dryRun = options.dryRun === true;
  const reports: PruneReport[] = [];
  for (const name of chosen.value === undefined ? logNames : [chosen.value]) {
    if (!logIsThere(logHome(process.env, name))) continue;
    const done = dryRun ? await looked(name, wanted) : await pruned(name, wanted);
    if (!done.ok) return failure(done.error.code, done.error.sentence);
    reports.push(done.value);
  }
  const none = "There is no event log, so nothing is old enough to leave.";
  const text = reports.length === 0 ? none : reports.flatMap((one) => linesOf(one, dryRun)).join("\n");
  return { exitCode: 0, json: { dryRun, logs: reports.map(jsonOf) }, text };
}

/** The limits that the command names; the error is a sentence. */
function wantedOf({ keepDays: days, bytes: size }: PruneOptions): Result<Wanted, string> {
  const keepDays = days === undefined ? undefined : Number(days);
  if (keepDays !== undefined && !(Number.isInteger(keepDays) && keepDays >= 1 && keepDays <= keepDaysMax)) {
    return err(`\`--keep-days\` is not a number of days: write a whole number from 1 to ${keepDaysMax}.`);
  }
  const [, number, unit = ""] = /^(\d{1,15})(KiB|MiB|GiB)?$/.exec(size ?? "0") ?? [];
  const keepBytes = Number(number) * (units[unit] ?? Number.NaN);
  if (!Number.isSafeInteger(keepBytes)) {
    return err("`--bytes` is not a size: write a whole number of bytes, or one with KiB, MiB or GiB, such as 500MiB.");
  }
  return ok({
    ...(keepDays === undefined ? {} : { keepDays }),
    ...(size === undefined ? {} : { keepBytes }),
  });
}

async function looked(name: LogName, wanted: Wanted): Promise<Result<PruneReport, LogFault>> {
  const home = logHome(process.env, name);
  const log = readLogOf(home);
  if (!log.ok) return log;
  if (log.value === undefined)
    return err({ code: "SG-AUDIT-PRUNE", sentence: `There is no ${name} log: it begins with the first run.` });
  const { store, database } = log.value;
  try {
    const keeping = { ...(await keepingOf(log.value)), ...wanted };
    const before = await leftBefore(store);
    if (!before.ok) return before;
    const swept = await wouldLeave(store, wayOf(keeping));
    const bytes = sizeOf(database);
    const report = {
      log: name,
      file: database,
      keeping,
      before: before.value,
      bytes: { before: bytes, after: bytes },
    };
    return swept.ok ? ok({ ...report, swept: swept.value }) : err(storeFault(swept.error));
  } finally {
    await store.close(false);
  }
}

async function pruned(name: LogName, wanted: Wanted): Promise<Result<PruneReport, LogFault>> {
  const home = logHome(process.env, name);
  const { database, keys: folder } = logPlaces(home);
  const size = sizeOf(database);
  // Looked at first, so that a log that is altered stays as it is, to the last byte.
  const believed = await believedIn(name, home);
  if (!believed.ok) return believed;
  const keys = openKeys(folder);
  if (!keys.ok) return err({ code: "SG-LOG-KEYS", sentence: keys.error });
  const options = { path: database, durability: "full", wallMs: Date.now, compact: true } as const;
  const store = openSqliteStore(options);
  if (!store.ok) return err(storeFault(store.error));
  const chain = randomBytes(16).toString("hex");
  const log = await openEventLog({ store: store.value, keys: keys.value, wallMs: Date.now, chain }, 0);
  if (!log.ok) {
    await store.value.close(false);
    return err(storeFault(log.error));
  }
  const keeping = { ...(await keepingOf({ store: store.value, keys: keys.value, database })), ...wanted };
  const before = await leftBefore(store.value);
  const swept = before.ok ? await prune(log.value, wayOf(keeping)) : undefined;
  await log.value.close(0);
  if (!before.ok) return before;
  if (swept?.ok !== true) return err(storeFault(swept?.error ?? { kind: "closed", place: database, sentence: "" }));
  const bytes = { before: size, after: sizeOf(database) };
  return ok({ log: name, file: database, keeping, before: before.value, swept: swept.value, bytes });
}

/** An error where the log has a finding: whatever is left of it is evidence. */
async function believedIn(name: LogName, home: string): Promise<Result<void, LogFault>> {
  const log = readLogOf(home, true);
  if (!log.ok) return log;
  if (log.value === undefined) return ok(undefined);
  const { store, keys } = log.value;
  const { head, findings } = remembered(home, keys);
  const verified = await verifyLog(store, keys, { remembered: head });
  await store.close(false);
  if (!verified.ok) return err(storeFault(verified.error));
  const [first] = [...findings, ...verified.value.findings];
  if (first === undefined) return ok(undefined);
  const sentence = `The ${name} log is not intact, so nothing was removed from it: \`sluicegate audit verify\` shows its findings.`;
  return err({ code: "SG-AUDIT-PRUNE", sentence });
}

function wayOf(keeping: Keeping): RetentionWay {
  const pause = (): Promise<boolean> => Promise.resolve(true);
  return { ...keeping, wallMs: Date.now(), atMs: () => performance.now(), isOpen: () => false, pause };
}

/** What the policy keeps that the newest run on record was decided under. */
async function keepingOf(log: OpenedLog): Promise<Keeping> {
  const newest = await log.store.records({ order: "newest", limit: newestRecords });
  for (const record of newest.ok ? newest.value : []) {
    const digest = readBody(record.body)?.context["policy"];
    const text = typeof digest === "string" ? await textOfDigest(log, digest) : undefined;
    if (text === undefined) continue;
    const audit = member(JSON.parse(text) as Json, "audit"); // its digest says that it is what was compiled
    const [days, size] = [member(audit, "keepDays"), member(audit, "keepMb")];
    return {
      keepDays: typeof days === "number" ? days : keepDaysDefault,
      keepBytes: typeof size === "number" ? size * mebibyte : undefined,
    };
  }
  return { keepDays: keepDaysDefault };
}

async function leftBefore(store: Store): Promise<Result<LeftBefore, LogFault>> {
  const writers = await store.writers();
  if (!writers.ok) return err(storeFault(writers.error));
  let [records, steps] = [0, 0];
  let last: string | undefined;
  for (const writer of writers.value) {
    const prunings = await store.prunings(writer);
    if (!prunings.ok) return err(storeFault(prunings.error));
    for (const pruning of prunings.value.map(readPruning)) {
      if (pruning === undefined) continue;
      records += pruning.records;
      steps += 1;
      last = pruning.wallTime;
    }
  }
  return ok({ records, steps, last });
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

function jsonOf({ log, file, keeping, swept, before, bytes }: PruneReport): object {
  const { endedBefore, runs, records, steps, longestMs, staying, early, over } = swept;
  const limit = { ...keeping, endedBefore: new Date(endedBefore).toISOString() };
  const forBytes = { early, ...(over === undefined ? {} : { over }) };
  return { log, file, ...limit, runs, records, steps, longestMs, staying, ...forBytes, before, bytes };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function linesOf({ log, file, keeping, swept, before, bytes }: PruneReport, dryRun: boolean): readonly string[] {
  const { endedBefore, runs, records, longestMs, staying } = swept;
  const { keepDays } = keeping;
  const day = new Date(endedBefore).toISOString().slice(0, 10);
  const what = runs === 0 ? "None" : `${many(runs, "run")} with ${many(records, "record")}`;
  const kept = `\`audit.keepDays\` is ${keepDays}, so runs that ended before ${day} may leave.`;
  const size = dryRun
    ? `${shortPath(file)} has ${megabytes(bytes.after)}.`
    : `${shortPath(file)} had ${megabytes(bytes.before)} and has ${megabytes(bytes.after)}; the longest step took ${longestMs.toFixed(1)} ms.`;
  const said = dryRun ? `${what} would leave. ${size} Nothing was changed.` : `${what} left. ${size}`;
  const reasons = [
    staying.calls === 0 ? [] : [`${many(staying.calls, "run")} with a call whose outcome is unknown`],
    staying.approvals === 0 ? [] : [`${many(staying.approvals, "run")} with an approval that can still be used`],
    staying.members === 0 ? [] : [`${many(staying.members, "stream")} that a kept run may need`],
  ].flat();
  const stay = reasons.length === 0 ? [] : [`${log}: ${reasons.join(", ")} stay, though old enough.`];
  const { steps, last } = before;
  const earlier =
    last === undefined
      ? []
      : [
          `${log}: ${many(before.records, "record")} left before in ${many(steps, "step")}, the last on ${last.slice(0, 10)}.`,
        ];
  return [`${log}: ${kept} ${said}`, ...bytesLines(log, keeping, swept, dryRun), ...stay, ...earlier];
}

/** What the limit in bytes did, in words. */
function bytesLines(log: LogName, { keepBytes }: Keeping, { early, over }: Swept, dryRun: boolean): readonly string[] {
  if (keepBytes === undefined) return [];
  const limit = `The limit is ${inMebibytes(keepBytes)}`;
  const left = dryRun ? `about ${many(early, "record")} would leave` : `${many(early, "record")} left`;
  const what = early === 0 ? `${limit}; nothing younger leaves for it.` : `${limit}, so ${left} before its time.`;
  return [`${log}: ${what}`, ...(over === undefined ? [] : [`${log}: ${overSentence(over, keepBytes)}`])];
}
