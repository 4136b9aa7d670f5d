/**
 * `audit verify`: every log of the state folder, and for each whether it is intact, broken, empty, missing or unreadable.
 * Only a checked log is called valid: a missing log, or one without a record, proves nothing. A log that cannot be
 * read keeps no other from being checked, and is a finding beside it.
 */
import { type Json, isArray, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { type Verified, verifyLog } from "../../gateway/log/verify.ts";
import type { Head } from "../../gateway/ports/store.ts";
import {
  type LogFault,
  type LogName,
  type LogsThere,
  type NamedLog,
  chosenLog,
  eachLog,
  logHome,
  logNames,
  logPlaces,
  storeFault,
} from "../state/log-files.ts";
import { missedLog, remembered } from "../state/log-trust.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { inMebibytes } from "../state/log-retention.ts";
import { many, shortPath } from "../state/sentences.ts";
import { type CheckedSnapshots, checkSnapshots } from "./snapshot-findings.ts";
import { textFile } from "../state/text-file.ts";

/** An earlier report that is checked against is small; anything larger is another file. */
const reportBytesMax = 4 * 1024 * 1024;

/** Findings that are printed; `--json` has up to a thousand. */
const findingsShownMax = 20;

/** `missing`, `empty` and `unreadable` are reported as such: there is nothing whose links could hold. */
type LogReport = Pick<Verified, "writers" | "findings" | "pruned"> & {
  readonly snapshots: CheckedSnapshots["counts"];
  readonly log: LogName;
  readonly file: string;
  readonly state: "intact" | "broken" | "empty" | "missing" | "unreadable";
  /** Why it is unreadable. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly records: number;
  readonly checkpoints: number;
};

type Anchors = ReadonlyMap<LogName, readonly Head[]>;

export async function verify(options: { readonly anchor?: string; readonly log?: string }): Promise<Outcome> {
  const anchors = options.anchor === undefined ? ok<Anchors>(new Map()) : readAnchors(options.anchor);
  if (!anchors.ok) return failure("SG-AUDIT-ANCHOR", anchors.error);
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const there = eachLog(process.env, chosen.value, true);
  const names = chosen.value === undefined ? logNames : [chosen.value];
  const logs: LogReport[] = [];
  for (const name of names) logs.push(await reportOn(name, there, anchors.value.get(name) ?? []));
  await Promise.all(there.opened.map(({ store }) => store.close(false)));
  const unread = logs.flatMap(({ error }) => error ?? []);
  const [first] = unread;
  // Nothing could be read, so there is no report to give.
  if (first !== undefined && logs.every(({ state }) => state === "unreadable" || state === "missing")) {
    return failure(first.code, first.message);
  }
  // Of the two places one is usually not in use; a missing log is wrong where it was named, or where none is there.
  const bad = logs.some(({ state, findings }) => state === "broken" || state === "empty" || findings.length > 0);
  const valid = !bad && first === undefined && logs.some(({ state }) => state === "intact");
  return { exitCode: valid ? 0 : 1, json: { valid, logs }, text: readable(logs) };
}

async function reportOn(name: LogName, { opened, closed }: LogsThere, heads: readonly Head[]): Promise<LogReport> {
  const fault = closed.find((one) => one.name === name)?.fault;
  if (fault !== undefined) return unreadable(name, fault);
  const log = opened.find((one) => one.name === name);
  if (log === undefined) return missing(name, heads);
  const { head, findings } = remembered(logHome(process.env, name), log.keys);
  const verified = await verifyLog(log.store, log.keys, { outside: heads, remembered: head });
  if (!verified.ok) return unreadable(name, storeFault(verified.error));
  const snapshots = await checkSnapshots(log);
  const all = [...findings, ...verified.value.findings, ...snapshots.findings];
  return reportOf(log, { ...verified.value, findings: all, valid: all.length === 0 }, snapshots.counts);
}

function unreadable(name: LogName, { code, sentence }: LogFault): LogReport {
  return { ...nothingOf(name), state: "unreadable", error: { code, message: sentence }, findings: [] };
}

function reportOf(
  { name, database }: NamedLog,
  { valid, findings, writers, pruned }: Verified,
  snapshots: LogReport["snapshots"],
): LogReport {
  const [records, checkpoints] = [total(writers, "records"), total(writers, "checkpoints")];
  const state = !valid ? "broken" : records === 0 ? "empty" : "intact";
  return { log: name, file: database, state, records, checkpoints, findings, writers, pruned, snapshots };
}

/** A log that an earlier report saw and that is gone now is the worst finding of all. */
function missing(name: LogName, heads: readonly Head[]): LogReport {
  const sentence = `The ${name} log is not there, although the report names it: it was removed.`;
  const findings = heads
    .slice(0, 1)
    .map(({ writer, seq }) => ({ kind: "writer-missing" as const, writer, seq, sentence }));
  const missed = missedLog(logHome(process.env, name));
  return { ...nothingOf(name), state: "missing", findings: missed === undefined ? findings : [...findings, missed] };
}

function nothingOf(name: LogName): Omit<LogReport, "state" | "error" | "findings"> {
  const file = logPlaces(logHome(process.env, name)).database;
  const snapshots = { checked: 0, unchecked: 0 };
  return { log: name, file, records: 0, checkpoints: 0, writers: [], pruned: [], snapshots };
}

function total(writers: Verified["writers"], what: "records" | "checkpoints"): number {
  return writers.reduce((sum, writer) => sum + writer[what], 0);
}

function readable(logs: readonly LogReport[]): string {
  const none = logs.every(({ state }) => state === "missing");
  const start =
    "No record was checked. A log begins with the first `sluicegate run -- CMD` or `sluicegate gateway --config FILE`.";
  return [...logs.flatMap(readableLog), ...(none ? [start] : [])].join("\n");
}

function readableLog(report: LogReport): readonly string[] {
  const { log, file, state, records, findings, writers, pruned, snapshots, error } = report;
  const lines = writers.map((writer) => {
    const forgotten = writer.unreadable === 0 ? "" : `, ${writer.unreadable} payloads forgotten with their key`;
    const left = writer.left === 0 ? "" : `, ${many(writer.left, "record")} left`;
    return `${log} writer ${writer.writer}: ${many(writer.records, "record")}, ${many(writer.checkpoints, "checkpoint")}, signed to ${writer.signedTo}${left}${forgotten}`;
  });
  const shownFindings = findings.slice(0, findingsShownMax).map((finding) => `! ${finding.sentence}`);
  const more = findings.length > findingsShownMax ? [`! ... and ${findings.length - findingsShownMax} more.`] : [];
  const place = shortPath(file);
  const verdicts = {
    intact: `The ${log} log is intact: ${records} records in ${place}, every link and signature holds.`,
    broken: `The ${log} log is not intact: ${findings.length} findings in ${place}. Keep the files, find out who could write them, restore a backup.`,
    empty: `The ${log} log is empty: ${place} holds no record, so nothing was checked. Every start of a gateway writes one.`,
    missing: `There is no ${log} log at ${place}.`,
    unreadable: `The ${log} log was not checked. ${error?.message ?? ""} [${error?.code ?? ""}]`,
  } as const;
  return [
    ...lines,
    ...leftLine(log, pruned),
    ...snapshotLine(log, snapshots),
    ...shownFindings,
    ...more,
    verdicts[state],
  ];
}

/** How many snapshots of runs were folded again, and how many could not be. */
function snapshotLine(log: LogName, { checked, unchecked }: LogReport["snapshots"]): readonly string[] {
  if (checked + unchecked === 0) return [];
  const rest =
    unchecked === 0
      ? ""
      : `; ${unchecked} ${unchecked === 1 ? "was" : "were"} not, of another release or policy, or without its key: no run is taken up from such a one`;
  return [
    `${log}: ${many(checked, "snapshot")} of open runs ${checked === 1 ? "was" : "were"} held against their records${rest}.`,
  ];
}

/** What left by retention, in words: the gaps that signed records explain. */
function leftLine(log: LogName, pruned: LogReport["pruned"]): readonly string[] {
  const records = pruned.reduce((sum, one) => sum + one.records, 0);
  const newest = pruned.toSorted((left, right) => (left.wallTime < right.wallTime ? 1 : -1))[0];
  if (newest === undefined) return [];
  const { writer, seq, keepDays, keepBytes, wallTime } = newest;
  const limit = keepBytes === undefined ? `\`audit.keepDays\` ${keepDays}` : `limit ${inMebibytes(keepBytes)}`;
  const last = `the last is ${writer}/${seq} of ${wallTime.slice(0, 10)}, ${limit}`;
  return [
    `${log}: ${many(records, "record")} left the log with ended runs, as ${many(pruned.length, "signed record")} ${pruned.length === 1 ? "says" : "say"}; ${last}.`,
  ];
}

/** Heads from an earlier report: what they name must still be on the chain, or it was cut or rewritten. */
function readAnchors(file: string): Result<Anchors, string> {
  const text = textFile(file, reportBytesMax);
  if (!text.ok) {
    return text.error.kind === "large"
      ? err(`${shortPath(file)} is too large for a report: save the output of \`audit verify --json\`.`)
      : err(`${shortPath(file)} cannot be read (${text.error.why}): check the path of the report.`);
  }
  const logs = member(readJson(text.value), "logs");
  if (!isArray(logs)) return err(`${shortPath(file)} is not a report: save the output of \`audit verify --json\`.`);
  const anchors = new Map<LogName, readonly Head[]>();
  for (const log of logs) {
    const name = logNames.find((one) => one === member(log, "log"));
    if (name !== undefined) anchors.set(name, headsOf(log));
  }
  return ok(anchors);
}

function headsOf(log: Json): readonly Head[] {
  const listed = member(log, "writers");
  const heads: Head[] = [];
  for (const one of isArray(listed) ? listed : []) {
    const head = member(one, "head");
    const writer = member(head, "writer");
    const seq = member(head, "seq");
    const fingerprint = stringMember(head, "fingerprint");
    if (typeof writer === "number" && typeof seq === "number" && fingerprint !== undefined) {
      heads.push({ writer, seq, fingerprint });
    }
  }
  return heads;
}
