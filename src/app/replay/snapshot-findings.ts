/** Snapshots of open runs against a fold of their records (docs/decisions/0034), for `audit verify`. */
import { ownVersion } from "../../adapters/daemon/version.ts";
import { type Json, isArray } from "../../core/json.ts";
import type { Finding } from "../../gateway/log/chain-check.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { replayRun } from "../../gateway/log/event-replay.ts";
import { textOfDigest } from "../../gateway/log/read-record.ts";
import { type Inspected, inspectSnapshot } from "../../gateway/log/snapshot-log.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import type { Snapshot } from "../../gateway/ports/snapshots.ts";
import { checkSnapshot } from "../../gateway/runs/snapshots/snapshot-check.ts";
import { loadCanonical } from "../../policy/load.ts";
import { loadedPolicy } from "../policy/loaded-policy.ts";
import { sha256 } from "../policy/policy-source.ts";
import type { OpenedLog } from "../state/log-files.ts";
import { shown } from "../state/sentences.ts";

/** Runs, and places of records, that are read at once. */
const pageSize = 1_000;

export type CheckedSnapshots = {
  readonly findings: readonly Finding[];
  /** `unchecked`: of another release or policy, or the key of its day is gone. No run is taken up from such a one. */
  readonly counts: { readonly checked: number; readonly unchecked: number };
};

export async function checkSnapshots(log: Pick<OpenedLog, "store" | "keys">): Promise<CheckedSnapshots> {
  const findings: Finding[] = [];
  const counts = { checked: 0, unchecked: 0 };
  for await (const run of snapshotRuns(log)) {
    const found = await inspectSnapshot({ ...log, release: ownVersion() }, run);
    if (found === undefined) continue;
    const checked = await verdictOn(log, run, found);
    if (checked === "unchecked") counts.unchecked += 1;
    else counts.checked += 1;
    if (typeof checked === "object") findings.push(checked);
  }
  return { findings, counts };
}

async function* snapshotRuns({ store }: Pick<OpenedLog, "store">): AsyncGenerator<string, void> {
  let after = "";
  for (;;) {
    const page = await store.snapshotRuns(after, pageSize);
    if (!page.ok) return;
    yield* page.value;
    if (page.value.length < pageSize) return;
    after = page.value.at(-1) ?? after;
  }
}

async function verdictOn(
  log: Pick<OpenedLog, "store" | "keys">,
  run: string,
  found: Inspected,
): Promise<Finding | "same" | "unchecked"> {
  if (found.kind === "altered") return alteredOf(run, found.at);
  if (found.kind !== "authentic") return "unchecked";
  const { snapshot } = found;
  const policy = await policyOf(log, snapshot);
  if (policy === undefined) return "unchecked";
  const { store, keys } = log;
  const records = await recordsUpTo(log, snapshot);
  const verdict = await checkSnapshot(
    { replay: (of, lattice, way) => replayRun({ store, keys, lattice }, of, way) },
    { snapshot, policy, records },
  );
  if (verdict === "differs") return differsOf(run, snapshot.place);
  return verdict === "same" ? "same" : "unchecked";
}

/** The policy that a snapshot says that it was made under, as the log keeps it. */
async function policyOf(log: Pick<OpenedLog, "store" | "keys">, { fits }: Snapshot): Promise<LoadedPolicy | undefined> {
  const said: Json | undefined = readJson(fits);
  const digest = isArray(said) ? said[1] : undefined;
  const text = typeof digest === "string" ? await textOfDigest(log, digest) : undefined;
  const compiled = text === undefined ? undefined : loadCanonical(text, sha256);
  return compiled === undefined ? undefined : loadedPolicy(compiled, "the event log");
}

/** How many records of its run a snapshot stands for. */
async function recordsUpTo({ store }: Pick<OpenedLog, "store">, { run, place }: Snapshot): Promise<number> {
  const mark = await store.prunedBy(run);
  let after = mark.ok ? mark.value : undefined;
  let count = 0;
  for (;;) {
    const page = await store.runHeads(run, after, pageSize);
    for (const { writer, seq } of page.ok ? page.value : []) {
      count += 1;
      if (writer === place.writer && seq === place.seq) return count;
    }
    if (!page.ok || page.value.length < pageSize) return count;
    after = page.value.at(-1);
  }
}

function alteredOf(run: string, { writer, seq }: Pick<Snapshot["place"], "writer" | "seq">): Finding {
  const sentence = `The snapshot of the run ${shown(run, 60)} at record ${writer}/${seq} was changed or belongs elsewhere. No run is taken up from it; find out who could write the database.`;
  return { kind: "snapshot-altered", writer, seq, sentence };
}

function differsOf(run: string, { writer, seq }: Snapshot["place"]): Finding {
  const sentence = `The snapshot of the run ${shown(run, 60)} is not what its records up to ${writer}/${seq} give. End the run with \`sluicegate runs close\`: its snapshot leaves with it.`;
  return { kind: "snapshot-differs", writer, seq, sentence };
}
