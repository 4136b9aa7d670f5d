/** A run's events out of its records, for folding. Any doubt is an error: the run then resumes at the top label. */
import type { RunEvent } from "../../core/event.ts";
import { stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys, Replayed, Store, StoredRecord } from "../store-port.ts";
import { makeLoader, openRecord, type Loader } from "./open-record.ts";

/** Records of one run that are folded; a longer run resumes at the top label. */
export const replayRecordsMax = 200_000;

export const pageRecords = 1_000;

type Part = { readonly events: readonly RunEvent[]; readonly complete: boolean; readonly policy: string | undefined };

async function partOf(loader: Loader, record: StoredRecord): Promise<Result<Part, string>> {
  const opened = await openRecord(loader, record);
  if (!opened.ok) return opened;
  const { body, entries, complete } = opened.value;
  const policy = stringMember(body.context, "policy");
  return ok({ events: entries.flatMap(({ events }) => events), complete, policy });
}

/** The events of a run in log order. */
export async function replayRun(
  store: Store,
  keys: LogKeys,
  run: string,
  lattice: Lattice,
): Promise<Result<Replayed, string>> {
  const loader = makeLoader(store, keys, lattice);
  const events: RunEvent[] = [];
  const policies = new Set<string>();
  let complete = true;
  let after: { writer: number; seq: number } | undefined;
  let count = 0;
  for (;;) {
    const query = { run, order: "oldest" as const, limit: pageRecords };
    const page = await store.records(after === undefined ? query : { ...query, after });
    if (!page.ok) return err(page.error.sentence);
    for (const record of page.value) {
      const part = await partOf(loader, record);
      if (!part.ok) return part;
      events.push(...part.value.events);
      complete &&= part.value.complete;
      if (part.value.policy !== undefined) policies.add(part.value.policy);
      after = { writer: record.writer, seq: record.seq };
    }
    count += page.value.length;
    if (page.value.length < pageRecords) return ok({ events, complete, policies: [...policies] });
    if (count >= replayRecordsMax) return err(`the run has more than ${replayRecordsMax} records`);
  }
}
