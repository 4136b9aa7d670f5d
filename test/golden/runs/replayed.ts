/**
 * What `audit verify` and `replay --run` find in a log, one line a run: verdict, reason codes, rules, obligations and the
 * label path of every decision, as recorded and as decided again. Kinds of events are not in it: they may change.
 */
import { stringMember } from "../../../src/core/json.ts";
import { type Lattice, describe } from "../../../src/core/label.ts";
import type { Engine } from "../../../src/core/mechanism.ts";
import type { CallOption, Moment } from "../../../src/core/moment.ts";
import type { Obligation } from "../../../src/core/opinion.ts";
import { subjectOf } from "../../../src/app/replay/audit-policy.ts";
import { loadedPolicy } from "../../../src/app/policy/loaded-policy.ts";
import { type OpenedLog, readLogOf } from "../../../src/app/state/log-files.ts";
import { sha256 } from "../../../src/app/policy/policy-source.ts";
import type { Judgement } from "../../../src/app/replay/judgement.ts";
import type { ReplayedMoment } from "../../../src/app/replay/replay-run.ts";
import { decideAgain } from "../../../src/app/replay/run-report.ts";
import { textOfDigest } from "../../../src/gateway/log/read-record.ts";
import { type RecordedEntry, eachRecordedEntry } from "../../../src/gateway/log/run-history.ts";
import { recordPages } from "../../../src/gateway/log/record.ts";
import { verifyLog } from "../../../src/gateway/log/verify.ts";
import type { LoadedPolicy } from "../../../src/gateway/ports/policy.ts";
import { loadCanonical } from "../../../src/policy/load.ts";
import { unwrap } from "../../kit/gateway/log-records.ts";

export type RunLine = { readonly log: string; readonly run: string; readonly decisions: readonly string[] };

const policies = new Map<string, LoadedPolicy>();

/** Every run of the log in a state folder; a log that `audit verify` finds broken is an error. */
export async function runsIn(name: string, home: string): Promise<readonly RunLine[]> {
  const log = unwrap(readLogOf(home));
  if (log === undefined) throw new Error(`there is no log ${name}`);
  try {
    const { valid, findings } = unwrap(await verifyLog(log.store, log.keys));
    if (!valid) throw new Error(`the log ${name} is broken: ${findings[0]?.sentence}`);
    const lines: RunLine[] = [];
    for (const run of await runKeys(log)) lines.push({ log: name, run, decisions: await decisionsOf(log, run) });
    return lines;
  } finally {
    await log.store.close(false);
  }
}

async function runKeys({ store }: OpenedLog): Promise<readonly string[]> {
  const keys = new Set<string>();
  for await (const page of recordPages(store, {})) for (const { run } of unwrap(page)) keys.add(run);
  keys.delete("");
  return [...keys];
}

async function decisionsOf(log: OpenedLog, run: string): Promise<readonly string[]> {
  const digest = unwrap(await subjectOf(log, run))?.policy ?? "";
  const policy = await policyOf(log, digest);
  const { watched, seen } = watching(policy);
  const again = await decideAgain(log, { run, policy: watched, workspace: [] });
  if (!again.ok) return [again.error.code];
  const entries: RecordedEntry[] = [];
  const query = { run, others: false, lattice: policy.lattice };
  unwrap(await eachRecordedEntry(log, query, (entry) => void entries.push(entry)));
  const { lattice } = policy;
  return again.value.moments.map((moment, index) => {
    const was = [inShort(moment.recorded), ...pathOf(lattice, recordedOption(entries, moment))].join("; ");
    const found = seen.get(`${moment.moment} ${moment.decision}`);
    const path = moment.moment === "call" ? pathOf(lattice, found?.option) : [];
    const now = moment.now === undefined ? "undecided" : [inShort(moment.now), ...path].join("; ");
    const duties = (found?.obligations ?? []).map((one) => inWords(lattice, one));
    const subject = [moment.server, moment.tool].filter((part) => part !== undefined).join(".");
    const said = was === now ? was : `${was} | now ${now}`;
    return [`${index + 1} ${moment.moment} ${subject}: ${said}`, ...new Set(duties)].join("; must ");
  });
}

async function policyOf(log: OpenedLog, digest: string): Promise<LoadedPolicy> {
  const known = policies.get(digest);
  if (known !== undefined) return known;
  const compiled = loadCanonical((await textOfDigest(log, digest)) ?? "", sha256);
  if (compiled === undefined) throw new Error(`the log does not keep the policy ${digest}`);
  const loaded = loadedPolicy(compiled, "the event log");
  policies.set(digest, loaded);
  return loaded;
}

type Seen = { option: CallOption | undefined; obligations: readonly Obligation[] };

/** The same policy; what its mechanisms were given and wanted of each moment is kept, the last round of each. */
function watching(policy: LoadedPolicy): {
  readonly watched: LoadedPolicy;
  readonly seen: ReadonlyMap<string, Seen>;
} {
  const seen = new Map<string, Seen>();
  const { engine } = policy;
  const [first] = engine.mechanisms;
  const mechanisms: Engine["mechanisms"] = engine.mechanisms.map((mechanism) => ({
    ...mechanism,
    consider: (judged, ...given) => {
      const opinion = mechanism.consider(judged, ...given);
      const id = idOf(judged.moment);
      if (id === undefined) return opinion;
      const before = mechanism === first ? undefined : seen.get(id);
      const more = opinion.kind === "settled" ? opinion.obligations : [];
      seen.set(id, { option: judged.option, obligations: [...(before?.obligations ?? []), ...more] });
      return opinion;
    },
  }));
  return { watched: { ...policy, engine: { ...engine, mechanisms } }, seen };
}

function idOf(moment: Moment): string | undefined {
  if (moment.kind !== "call" && moment.kind !== "release") return undefined;
  return moment.call === undefined ? undefined : `${moment.kind} ${moment.call}`;
}

/** What the record says that was judged: in the event that lets a call go, or in the decision that refused it. */
function recordedOption(
  entries: readonly RecordedEntry[],
  { moment, decision }: ReplayedMoment,
): CallOption | undefined {
  if (moment !== "call") return undefined;
  for (const entry of entries) {
    const event = entry.events.find((one) => "option" in one && one.call === decision);
    if (event !== undefined && "option" in event) return event.option;
    const about = entry.call ?? stringMember(entry.notes, "decision");
    if (about === decision && entry.decision?.option !== undefined) return entry.decision.option;
  }
  return undefined;
}

function inShort({ verdict, held, rules, codes }: Judgement): string {
  const named = rules.length === 0 ? "" : ` (${rules.join(" ")})`;
  return [`${verdict}${held ? ", held" : ""}`, ...codes].join(" ") + named;
}

function pathOf(lattice: Lattice, option: CallOption | undefined): readonly string[] {
  return [...(option?.arguments ?? [])].map(([name, { range, path }]) => {
    const steps = path.map(
      ({ origin, server, tool, pointer, label }) =>
        `${server === undefined ? origin : `${server}.${tool ?? ""}`}${pointer} ${describe(lattice, label)}`,
    );
    return `${name} <= ${describe(lattice, range.hi)}${steps.length === 0 ? "" : ` from ${steps.join(" + ")}`}`;
  });
}

function inWords(lattice: Lattice, obligation: Obligation): string {
  switch (obligation.kind) {
    case "label":
      return `label ${describe(lattice, obligation.range.hi)}${obligation.fields.map(({ pointer, range }) => ` ${pointer} ${describe(lattice, range.hi)}`).join("")}`;
    case "perform":
      return `perform ${obligation.server}.${obligation.tool} (${obligation.rule})`;
    case "isolate":
      return "isolate";
    case "redact":
      return `redact ${obligation.pointer}`;
    case "hold":
    case "end-run":
    case "revoke":
    case "notify":
      return `${obligation.kind} (${obligation.rule})`;
  }
}
