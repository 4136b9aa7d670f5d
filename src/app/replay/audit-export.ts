/** Writes the logs for other programs: one JSON object a line, our own form or OCSF. Payloads never leave. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { type Result, err, ok } from "../../core/result.ts";
import { toOcsf } from "../../gateway/log/ocsf.ts";
import { viewsOf, recordPages } from "../../gateway/log/record.ts";
import { type LogFault, type NamedLog, chosenLog, readLogs, storeFault } from "../state/log-files.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { shortPath, shown } from "../state/sentences.ts";
import { whyUnwritten } from "../state/text-file.ts";
import { plainRecord } from "./audit-line.ts";

type Format = "jsonl" | "ocsf";

export async function exportLog(options: {
  readonly format: string;
  readonly log?: string;
  readonly out?: string;
}): Promise<Outcome> {
  const { format } = options;
  if (format !== "jsonl" && format !== "ocsf") {
    return failure(
      "SG-USAGE",
      `\`${shown(String(format), 40)}\` is not a format: write \`--format jsonl\` or \`--format ocsf\`.`,
    );
  }
  const file = options.out;
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const opened = readLogs(process.env, chosen.value);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  const target = file === undefined ? process.stdout : createWriteStream(file, { mode: 0o600 });
  const written = await write(opened.value, format, target).catch((cause: unknown) => sentenceOf(cause, file));
  await Promise.all(opened.value.map(({ store }) => store.close(false)));
  if (typeof written === "string") return failure("SG-AUDIT-OUT", written);
  if (typeof written === "object") return failure(written.code, written.sentence);
  // Lines of the answer go to standard output; the notice that there is no log at all goes to standard error.
  if (opened.value.length === 0) process.stderr.write("There is no event log to export, so nothing was written.\n");
  if (file === undefined) return { exitCode: 0, json: undefined, text: "" };
  const logs = opened.value.map(({ name }) => name);
  const text = `${written} records are in ${shortPath(file)}.`;
  return { exitCode: 0, json: { file, format, records: written, logs }, text };
}

async function write(logs: readonly NamedLog[], format: Format, target: Writable): Promise<number | LogFault> {
  const failed = new Promise<never>((_resolve, reject) => target.once("error", reject));
  // The code below awaits it; until then a failure must not count as unhandled.
  failed.catch(() => undefined);
  let records = 0;
  for (const log of logs) {
    for await (const line of linesOf(log, format)) {
      if (!line.ok) return line.error;
      records += 1;
      if (!target.write(`${line.value}\n`)) await Promise.race([once(target, "drain"), failed]);
    }
  }
  if (target !== process.stdout) {
    target.end();
    await Promise.race([once(target, "finish"), failed]);
  }
  return records;
}

/** Every record of one log as a line; a failure comes last. */
async function* linesOf(
  { name, store, keys }: NamedLog,
  format: Format,
): AsyncGenerator<Result<string, LogFault>, void> {
  /** Fingerprint of the record before, by writer: OCSF links each event to it. */
  const previous = new Map<number, string>();
  for await (const page of recordPages(store, {})) {
    if (!page.ok) {
      yield err(storeFault(page.error));
      return;
    }
    for (const record of page.value) {
      for (const view of viewsOf(keys, record)) {
        const before = previous.get(record.writer);
        const line = format === "ocsf" ? toOcsf(view, before, name) : { log: name, ...plainRecord(view, false) };
        yield ok(JSON.stringify(line));
      }
      previous.set(record.writer, record.fingerprint);
    }
  }
}

function sentenceOf(cause: unknown, file: string | undefined): string {
  const place = file === undefined ? "Standard output" : shortPath(file);
  return `${place} cannot be written (${whyUnwritten(cause)}): check its folder and the free space.`;
}
