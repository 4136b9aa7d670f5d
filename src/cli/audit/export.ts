/** Writes the whole log for other programs: one JSON object a line, our own form or OCSF. Payloads never leave. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { toOcsf } from "../../gateway/log/ocsf.ts";
import { viewsOf } from "../../gateway/log/record.ts";
import type { OpenedLog } from "../log-reader.ts";
import { pages, readLog, storeFault } from "../log-reader.ts";
import type { Outcome } from "../output.ts";
import { failure, shortPath, shown } from "../output.ts";
import { plainRecord } from "./record-line.ts";

type Format = "jsonl" | "ocsf";

export async function exportLog(options: Readonly<Record<string, unknown>>): Promise<Outcome> {
  const { format } = options;
  if (format !== "jsonl" && format !== "ocsf") {
    return failure(
      "SG-USAGE",
      `\`${shown(String(format), 40)}\` is no format: write \`--format jsonl\` or \`--format ocsf\`.`,
    );
  }
  const file = typeof options["out"] === "string" ? options["out"] : undefined;
  const opened = readLog(process.env);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  const target = file === undefined ? process.stdout : createWriteStream(file, { mode: 0o600 });
  const written = await write(opened.value, format, target).catch((cause: unknown) => sentenceOf(cause, file));
  if (opened.value !== undefined) await opened.value.store.close(false);
  if (typeof written === "string") return failure("SG-AUDIT-OUT", written);
  if (typeof written === "object") return failure(written.code, written.sentence);
  // On standard output the records are the answer; a summary behind them would not be one of their lines.
  if (file === undefined) return { exitCode: 0, json: undefined, text: "" };
  const text = `${written} records are in ${shortPath(file)}.`;
  return { exitCode: 0, json: { file, format, records: written }, text };
}

async function write(
  log: OpenedLog | undefined,
  format: Format,
  target: Writable,
): Promise<number | { readonly code: string; readonly sentence: string }> {
  const failed = new Promise<never>((_resolve, reject) => target.once("error", reject));
  // Somebody awaits it below; until then a failure must not count as unhandled.
  failed.catch(() => undefined);
  let records = 0;
  /** Fingerprint of the record before, by writer: OCSF links each event to it. */
  const previous = new Map<number, string>();
  if (log !== undefined) {
    const walk = pages(log.store, undefined);
    for (let page = await walk.next(); ; page = await walk.next()) {
      if (page.done === true) {
        if (page.value !== undefined) return storeFault(page.value);
        break;
      }
      for (const record of page.value) {
        for (const view of viewsOf(log.keys, record)) {
          const line = format === "ocsf" ? toOcsf(view, previous.get(record.writer)) : plainRecord(view, false);
          records += 1;
          if (!target.write(`${JSON.stringify(line)}\n`)) await Promise.race([once(target, "drain"), failed]);
        }
        previous.set(record.writer, record.fingerprint);
      }
    }
  }
  if (target !== process.stdout) {
    target.end();
    await Promise.race([once(target, "finish"), failed]);
  }
  return records;
}

function sentenceOf(cause: unknown, file: string | undefined): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  return `${file === undefined ? "Standard output" : shortPath(file)} cannot be written (${code}): check its folder and the free space.`;
}
