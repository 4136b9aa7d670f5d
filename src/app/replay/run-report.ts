/** `sluicegate replay --run KEY`: a run of the log of this installation, decided again. */
import { type Result, err, ok } from "../../core/result.ts";
import {
  type RecordedEntry,
  type RecordedQuery,
  type Unread,
  eachRecordedEntry,
} from "../../gateway/log/run-history.ts";
import { textOfDigest } from "../../gateway/log/read-record.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import type { Store } from "../../gateway/ports/store.ts";
import { isLostIn } from "../../gateway/runs/live-run.ts";
import { type Subject, subjectOf } from "./audit-policy.ts";
import { leftFault } from "./left-run.ts";
import { userPolicies, sha256 } from "../policy/policy-source.ts";
import { loadCanonical } from "../../policy/load.ts";
import { loadedPolicy } from "../policy/loaded-policy.ts";
import { installedReadings } from "../cards/accepted-readings.ts";
import { loadPolicyFor } from "../policy/named-policy.ts";
import { type LogFault, type LogName, type OpenedLog, readLogs } from "../state/log-files.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { many, sentenceMax, shortPath, shown, table } from "../state/sentences.ts";
import { PolicyFiles } from "../policy/policy-files.ts";
import { askProgram } from "../policy/rule-programs.ts";
import type { Judgement } from "./judgement.ts";
import { RecordedReplay, type ReplayedMoment, type ReplayedRun } from "./replay-run.ts";
import { TraceWriter, writeTrace } from "./saved-trace.ts";

export type RunQuery = {
  readonly run: string;
  /** A policy file; undefined = the one on record. */
  readonly policy: string | undefined;
  readonly workspace: readonly string[];
  /** Write the run as a trace to this file, in place of deciding it. */
  readonly save: string | undefined;
  /** Undefined = every log that there is. */
  readonly log: LogName | undefined;
};

export async function replayRunOf(query: RunQuery, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const opened = readLogs(environment, query.log);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  if (opened.value.length === 0) {
    return failure("SG-REPLAY-RUN", "There is no event log here, so no run is on record.");
  }
  try {
    const found = await inLogs(opened.value, query, environment);
    return found.ok ? found.value : failure(found.error.code, found.error.sentence);
  } finally {
    for (const { store } of opened.value) await store.close(false);
  }
}

/** The outcome of the first log that has the run. */
async function inLogs(
  logs: readonly OpenedLog[],
  query: RunQuery,
  environment: NodeJS.ProcessEnv,
): Promise<Result<Outcome, LogFault>> {
  for (const log of logs) {
    const there = await leftFault(log, query.run);
    if (!there.ok) return there;
    const about = await subjectOf(log, query.run);
    if (!about.ok) return about;
    if (about.value === undefined) continue;
    const { policy: file } = query;
    const kept = file === undefined ? await onRecord(log, about.value) : undefined;
    const policy = kept ?? (file === undefined ? inForce(about.value, environment) : loadPolicyFor(file));
    return policy.ok ? outcome(log, query, policy.value) : err({ code: "SG-POLICY", sentence: policy.error });
  }
  return err(unknownRun(query.run));
}

export type Replayed = ReplayedRun & {
  readonly policy: Pick<LoadedPolicy, "source" | "digest">;
  /** Digests of the policies that the run was decided under, oldest first. */
  readonly recorded: readonly string[];
};

async function outcome(
  log: OpenedLog,
  { run, workspace, save }: RunQuery,
  policy: LoadedPolicy,
): Promise<Result<Outcome, LogFault>> {
  if (save !== undefined) return saved(log, { run, policy, file: save });
  const again = await decideAgain(log, { run, policy, workspace });
  return again.ok ? ok(outcomeOf(run, again.value)) : again;
}

async function saved(
  log: OpenedLog,
  { run, policy, file }: { run: string; policy: LoadedPolicy; file: string },
): Promise<Result<Outcome, LogFault>> {
  const writer = new TraceWriter();
  const read = await readOwn(log, { run, others: false, lattice: policy.lattice }, (entry) => {
    for (const event of entry.events) writer.add(entry, event);
  });
  if (!read.ok) return read;
  const { trace, steps, calls, leftOut } = writer.saved();
  const written = writeTrace(file, trace);
  if (!written.ok) return err({ code: "SG-TRACE", sentence: written.error });
  const rest = leftOut === 0 ? "" : ` ${many(leftOut, "call")} left out: a trace has calls of servers' tools only.`;
  const text = `Wrote ${many(calls, "call")} to ${shortPath(file)}. It holds arguments and results in the clear, for your eyes only.${rest}`;
  return ok({ exitCode: 0, json: { trace: file, steps, calls, leftOut }, text });
}

/** Decides a run of a log again under a policy. */
export async function decideAgain(
  { store, keys }: Pick<OpenedLog, "store" | "keys">,
  { run, policy, workspace }: { run: string; policy: LoadedPolicy; workspace: readonly string[] },
): Promise<Result<Replayed, LogFault>> {
  // Runs share data in stores alone: without any, no other run has to be read.
  const others = policy.describeStores(policy.topState()).length > 0;
  const own = { run, others: false, lattice: policy.lattice };
  const again = new RecordedReplay(policy, run, { workspace, hash: sha256, askProgram });
  const look = (entry: RecordedEntry): void => again.lookAhead(entry);
  const read = await readOwn({ store, keys }, own, look);
  if (!read.ok) return read;
  if (again.looksAgain) await readOwn({ store, keys }, own, look);
  const { principal, masked, policies } = read.value;
  const played = await eachRecordedEntry({ store, keys }, { ...own, others }, (entry) => {
    if (entry.run === run || entry.principal === principal) again.play(entry);
  });
  if (!played.ok) return err(unreadable(played.error));
  const row = await store.run(run);
  const { moments, notes: said } = again.outcome();
  const recorded = [...policies];
  const lost = row.ok && row.value !== undefined && isLostIn(row.value) ? [lostNote] : [];
  const left = others && (await someLeft(store)) ? [leftNote] : [];
  const notes = [...notesOn(masked, recorded, policy), ...lost, ...left, ...said];
  return ok({ policy, recorded, moments, notes });
}

/** What the entries of a run say of it as a whole. */
type Own = {
  readonly principal: string | undefined;
  /** Digests of the policies that it was decided under, oldest first. */
  readonly policies: ReadonlySet<string>;
  readonly masked: boolean;
};

/** Hands the entries of a run on, or says why they cannot be decided again: some of them hide what they were about. */
async function readOwn(
  log: Pick<OpenedLog, "store" | "keys">,
  query: RecordedQuery,
  each: (entry: RecordedEntry) => void,
): Promise<Result<Own, LogFault>> {
  let found = 0;
  let principal: string | undefined;
  let masked = false;
  let missing: RecordedEntry | undefined;
  const policies = new Set<string>();
  const read = await eachRecordedEntry(log, query, (entry) => {
    found += 1;
    principal ??= entry.principal;
    masked ||= entry.masked;
    if (entry.unread !== undefined) missing ??= entry;
    if (entry.policy !== undefined) policies.add(entry.policy);
    each(entry);
  });
  if (!read.ok) return err(unreadable(read.error));
  if (found === 0) return err(unknownRun(query.run));
  // Assigned in the callback, which the compiler does not follow.
  const gap = missing as RecordedEntry | undefined;
  if (gap?.unread !== undefined) return err({ code: "SG-REPLAY-PAYLOAD", sentence: whyUnread(gap, gap.unread) });
  return ok({ principal, policies, masked });
}

function unreadable(why: string): LogFault {
  const sentence = `The run cannot be read under this policy: ${why}. Leave \`--policy\` out, or name the one that it had.`;
  return { code: "SG-REPLAY-RUN", sentence: sentence.slice(0, sentenceMax) };
}

const lostNote =
  "Part of the run's history was lost, and since then it counted as holding everything: that may differ.";

const leftNote =
  "Records of other runs left the log (`audit.keepDays`), and with them what those put into stores: labels of stores may differ.";

async function someLeft(store: Store): Promise<boolean> {
  const writers = await store.writers();
  for (const writer of writers.ok ? writers.value : []) {
    const prunings = await store.prunings(writer);
    if (prunings.ok && prunings.value.length > 0) return true;
  }
  return false;
}

function unknownRun(run: string): LogFault {
  const name = shown(run, 60);
  return {
    code: "SG-REPLAY-RUN",
    sentence: `The log has no run \`${name}\`: \`sluicegate audit tail\` names the runs.`,
  };
}

function whyUnread({ wallTime }: RecordedEntry, unread: Unread): string {
  const day = wallTime.slice(0, 10);
  switch (unread) {
    case "digests":
      return "The policy kept arguments and results as digests only (`audit.payload: digests`), so the run cannot be decided again.";
    case "too-large":
      return `A record of ${day} was too large to be kept with its arguments or results, so the run cannot be decided again.`;
    case "forgotten":
      return `The key of ${day} was destroyed, and with it what was called and returned: the run cannot be decided again.`;
    case "damaged":
      return `A payload of ${day} is damaged or gone, so the run cannot be decided again: \`sluicegate audit verify\` says more.`;
  }
}

function notesOn(masked: boolean, recorded: readonly string[], policy: { readonly digest: string }): readonly string[] {
  const notes: string[] = [];
  const changed = recorded.length > 1 && recorded.includes(policy.digest);
  const another = recorded.some((digest) => digest !== policy.digest);
  if (changed) notes.push("The policy changed while the run was open: here one decides everything.");
  else if (another) notes.push("The run was decided under another policy than this one.");
  if (masked) {
    notes.push("Texts that looked like secrets are not on record: labels that follow such a value may differ.");
  }
  return notes;
}

/** The policy that the run was decided under last, as the log keeps it; undefined in the log of an older version. */
async function onRecord(log: OpenedLog, { policy }: Subject): Promise<Result<LoadedPolicy, string> | undefined> {
  const text = policy === undefined ? undefined : await textOfDigest(log, policy);
  const compiled = text === undefined ? undefined : loadCanonical(text, sha256);
  return compiled === undefined ? undefined : ok(loadedPolicy(compiled, "the event log"));
}

/** Of the user's policies the one that the run was decided under, else the one that `match` gives its owner. */
function inForce({ principal, policy }: Subject, environment: NodeJS.ProcessEnv): Result<LoadedPolicy, string> {
  const readings = installedReadings(environment);
  const files = new PolicyFiles(userPolicies(environment), () => undefined, { readings });
  try {
    const first = files.openAll();
    if (!first.ok) return first;
    const same = files.loaded().find(({ digest }) => digest === policy);
    return ok(same ?? files.select({ principal: principal ?? "", client: undefined, tag: undefined }));
  } finally {
    files.close();
  }
}

function outcomeOf(run: string, { policy, recorded, moments, notes }: Replayed): Outcome {
  const differences = moments.filter(({ differs }) => differs).length;
  const undecided = moments.filter(({ now }) => now === undefined).length;
  const { source, digest } = policy;
  return {
    exitCode: differences === 0 ? 0 : 1,
    json: {
      run,
      policy: { source, digest },
      recorded,
      differences,
      undecided,
      notes,
      moments: moments.map((one) => ({ ...one, now: one.now ?? null })),
    },
    text: [...rowsOf(moments), ...notes.map((note) => `Note: ${note}`), summary(moments, differences, undecided)].join(
      "\n",
    ),
  };
}

function summary(moments: readonly ReplayedMoment[], differences: number, undecided: number): string {
  const rest = undecided === 0 ? "" : ` ${undecided} cannot be decided again: what they were about was not kept.`;
  const decided = moments.length - undecided;
  if (differences === 0) return `All ${decided} decisions are the same.${rest}`;
  return `${differences} of ${decided} decisions differ.${rest}`;
}

function rowsOf(moments: readonly ReplayedMoment[]): readonly string[] {
  const cells = moments.map((one, index) => {
    const name = [one.server, one.tool].filter((part) => part !== undefined).join(".");
    return [
      `${index + 1}`,
      one.moment,
      shown(name, 40),
      inWords(one.recorded),
      one.now === undefined ? "-" : inWords(one.now),
      one.differs ? "≠" : "",
    ];
  });
  const lines = table([["", "moment", "tool", "recorded", "now", ""], ...cells]).split("\n");
  return lines.flatMap((line, index) => [line.trimEnd(), ...reasonLines(moments[index - 1])]);
}

/** Why, below the line of a moment: once where both say the same. */
function reasonLines(one: ReplayedMoment | undefined): readonly string[] {
  if (one === undefined) return [];
  const was = shown(one.recorded.because, sentenceMax);
  const now = shown(one.now?.because ?? "", sentenceMax);
  if (was === now) return was === "" ? [] : [`     ${was}`];
  return [...(was === "" ? [] : [`     recorded: ${was}`]), ...(now === "" ? [] : [`     now: ${now}`])];
}

function inWords({ verdict, held }: Judgement): string {
  return held ? `${verdict}, held` : verdict;
}
