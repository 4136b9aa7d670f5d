/** `sluicegate audit tail|verify|export|set-aside`: the event log as people, checkers and other programs read it. */
import type { Command } from "commander";
import { readJson } from "../../gateway/log/json-text.ts";
import { verifyLog } from "../../gateway/log/verify.ts";
import type { Verified } from "../../gateway/log/verify.ts";
import { viewsOf } from "../../gateway/log/record.ts";
import type { Head, LogView, StoredRecord } from "../../gateway/store-port.ts";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { readFileSync, statSync } from "node:fs";
import { auditLineOf, plainRecord } from "../audit/record-line.ts";
import { exportLog } from "../audit/export.ts";
import { setAsideLog } from "../audit/set-aside.ts";
import { pages, readLog, storeFault } from "../log-reader.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shortPath } from "../output.ts";

const tailDefault = 20;
const tailMax = 10_000;

/** How often `--follow` looks for new records. */
const followMs = 400;

/** An earlier report that is checked against is small; anything larger is another file. */
const reportBytesMax = 4 * 1024 * 1024;

type Options = Readonly<Record<string, unknown>>;

export function register(program: Command): void {
  const audit = program.command("audit").description("read, verify and export the event log");
  const tailing = audit
    .command("tail")
    .description("the newest records, newest last")
    .option("-n, --lines <count>", "how many records", String(tailDefault))
    .option("--run <run>", "only records of this run")
    .option("--payload", "show arguments and results too, where their key still exists")
    .option("-f, --follow", "go on with new records until interrupted");
  acts(tailing, (options) => tail(options));
  const verifying = audit
    .command("verify")
    .description("check the whole chain, its signatures and the links between writers")
    .option(
      "--anchor <report>",
      "an earlier `audit verify --json`, kept elsewhere: its heads must still be on the chain",
    );
  acts(verifying, (options) => verify(options));
  const exporting = audit
    .command("export")
    .description("write every record, oldest first, one JSON object a line")
    .option("--format <format>", "jsonl or ocsf", "jsonl")
    .option("--out <file>", "write to a file instead of standard output");
  acts(exporting, (options) => exportLog(options));
  const aside = audit.command("set-aside").description("move a damaged log away, so that a new one can begin");
  acts(aside, () => setAsideLog());
}

const noLog = "There is no event log yet: it begins with the first `sluicegate run -- CMD`.";

async function tail(options: Options): Promise<Outcome> {
  const count = Number(options["lines"]);
  if (!Number.isInteger(count) || count < 1 || count > tailMax) {
    return failure("SG-USAGE", `\`-n\` is no number of records: write a whole number from 1 to ${tailMax}.`);
  }
  const run = typeof options["run"] === "string" ? options["run"] : undefined;
  const opened = readLog(process.env);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  if (opened.value === undefined) return { exitCode: 0, json: { records: [] }, text: noLog };
  const { store, keys } = opened.value;
  const found = await store.records({ order: "newest", limit: count, ...(run === undefined ? {} : { run }) });
  if (!found.ok) return failureOf(found.error);
  const views = found.value
    .toReversed()
    .flatMap((record) => viewsOf(keys, record))
    .slice(-count);
  const withPayload = options["payload"] === true;
  if (options["follow"] !== true) {
    await store.close(false);
    const text =
      views.length === 0 ? "No record fits." : views.map((view) => auditLineOf(view, withPayload)).join("\n");
    return { exitCode: 0, json: { records: views.map((view) => plainRecord(view, withPayload)) }, text };
  }
  const print = (view: LogView): void => {
    const line =
      options["json"] === true ? JSON.stringify(plainRecord(view, withPayload)) : auditLineOf(view, withPayload);
    process.stdout.write(`${line}\n`);
  };
  views.forEach(print);
  let after: Pick<StoredRecord, "writer" | "seq"> | undefined = found.value[0];
  for (;;) {
    for await (const page of pages(store, after)) {
      after = page.at(-1) ?? after;
      const fitting = page.filter((record) => run === undefined || record.run === run);
      for (const record of fitting) {
        for (const view of viewsOf(keys, record)) print(view);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, followMs));
  }
}

function failureOf(error: Parameters<typeof storeFault>[0]): Outcome {
  const fault = storeFault(error);
  return failure(fault.code, fault.sentence);
}

async function verify(options: Options): Promise<Outcome> {
  const anchors = typeof options["anchor"] === "string" ? readAnchors(options["anchor"]) : ok([]);
  if (!anchors.ok) return failure("SG-AUDIT-ANCHOR", anchors.error);
  const opened = readLog(process.env);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  if (opened.value === undefined) {
    // A log that an earlier report saw and that is gone now is the worst finding of all.
    const lost = anchors.value.length > 0;
    const text = lost ? "There is no event log, although the report names one: it was removed." : noLog;
    return { exitCode: lost ? 1 : 0, json: { valid: !lost, records: 0, findings: [], writers: [] }, text };
  }
  const { store, keys } = opened.value;
  const verified = await verifyLog(store, keys, anchors.value);
  await store.close(false);
  if (!verified.ok) return failureOf(verified.error);
  const { valid, findings, writers } = verified.value;
  const records = total(writers, "records");
  return {
    exitCode: valid ? 0 : 1,
    json: { valid, records, checkpoints: total(writers, "checkpoints"), findings, writers },
    text: readable(verified.value, records),
  };
}

function total(writers: Verified["writers"], what: "records" | "checkpoints" | "unreadable"): number {
  return writers.reduce((sum, writer) => sum + writer[what], 0);
}

/** Findings that are printed; `--json` has up to a thousand. */
const findingsShownMax = 20;

function readable({ valid, findings, writers }: Verified, records: number): string {
  const lines = writers.map((writer) => {
    const forgotten = writer.unreadable === 0 ? "" : `, ${writer.unreadable} payloads forgotten with their key`;
    return `writer ${writer.writer}: ${writer.records} records, ${writer.checkpoints} checkpoints, signed to ${writer.signedTo}${forgotten}`;
  });
  const shownFindings = findings.slice(0, findingsShownMax).map((finding) => `! ${finding.sentence}`);
  const more = findings.length > findingsShownMax ? [`! ... and ${findings.length - findingsShownMax} more.`] : [];
  const verdict = valid
    ? `The log is intact: ${records} records, every link and signature holds.`
    : `The log is not intact: ${findings.length} findings. Keep the files, find out who could write them, restore a backup.`;
  return [...lines, ...shownFindings, ...more, verdict].join("\n");
}

/** Heads from an earlier report: what they name must still be on the chain, or it was cut or rewritten. */
function readAnchors(file: string): Result<readonly Head[], string> {
  let report: Json | undefined;
  try {
    if (statSync(file).size > reportBytesMax)
      return err(`${shortPath(file)} is too large for a report of \`audit verify\`.`);
    report = readJson(readFileSync(file, "utf8"));
  } catch {
    return err(`${shortPath(file)} cannot be read: check the path of the report.`);
  }
  const listed = member(report, "writers");
  if (!isArray(listed)) return err(`${shortPath(file)} is no report: save the output of \`audit verify --json\`.`);
  const heads: Head[] = [];
  for (const one of listed) {
    const head = member(one, "head");
    const writer = member(head, "writer");
    const seq = member(head, "seq");
    const fingerprint = stringMember(head, "fingerprint");
    if (typeof writer === "number" && typeof seq === "number" && fingerprint !== undefined) {
      heads.push({ writer, seq, fingerprint });
    }
  }
  return ok(heads);
}
