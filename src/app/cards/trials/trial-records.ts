/**
 * What trials of servers found, as it stands on record. A record is about one program with one list of tools: another
 * version is another record, which says nothing of this one. Of two about the same, the worse one stays.
 */
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { ServerVerdict } from "../../../mechanisms/probe/verdict.ts";

export type TrialVerdict = ServerVerdict["verdict"];

/** Best first. */
const verdicts: readonly TrialVerdict[] = ["clean", "partial", "not-run", "suspect", "rejected"];

export type TrialRecord = {
  readonly server: string;
  /** Digest of the program (`program-digest.ts`), and of the list of its first start. */
  readonly program: string;
  readonly list: string;
  readonly verdict: TrialVerdict;
  /** ISO 8601. */
  readonly at: string;
  /** Last day of a verdict without findings, in UTC; one with findings has no end. */
  readonly until: string;
  readonly calls: number;
  /** Tools that were run, and that were listed. */
  readonly run: number;
  readonly listed: number;
  /** What was found, as sentences; texts of the server are in them as data. */
  readonly findings: readonly string[];
  /** What was not run or not looked at, as sentences. */
  readonly gaps: readonly string[];
};

/** Days that a verdict without findings holds. */
export const trialDays = 90;

/** Records on file. */
export const recordsMax = 1_000;
/** Sentences of one record, and characters of each. */
const sentencesMax = 16;
const sentenceCharactersMax = 300;

/** Whether a verdict speaks against a server. */
export function isAgainst(verdict: TrialVerdict): boolean {
  return verdict === "suspect" || verdict === "rejected";
}

/** The records with one more. Findings stay where a later trial of the same has none, and are the last to make place. */
export function withTrial(records: readonly TrialRecord[], made: TrialRecord): readonly TrialRecord[] {
  const same = records.find((one) => isSame(one, made));
  const bounded = { ...made, findings: sentences(made.findings), gaps: sentences(made.gaps) };
  if (same !== undefined && isAgainst(same.verdict) && rank(same.verdict) >= rank(made.verdict)) return records;
  const next = [...records.filter((one) => !isSame(one, made)), bounded];
  if (next.length <= recordsMax) return next;
  const oldest = next.find(({ verdict }) => !isAgainst(verdict)) ?? next[0];
  return next.filter((one) => one !== oldest);
}

/** What is on record of a server as it is now. `now`: of this program with this list. */
export type TrialStanding = {
  readonly now: TrialRecord | undefined;
  /** The same, but its day is over. */
  readonly over: TrialRecord | undefined;
  /** The same program, tried out when it listed other tools. */
  readonly otherList: TrialRecord | undefined;
  /** Findings about other programs or lists under this name, newest first. */
  readonly against: readonly TrialRecord[];
};

/** `day`: today, as `2026-11-23`. */
export function standingOf(
  records: readonly TrialRecord[],
  { server, program, list, day }: Pick<TrialRecord, "server" | "program" | "list"> & { readonly day: string },
): TrialStanding {
  const own = records.filter((one) => one.server === server);
  const same = own.find((one) => one.program === program && one.list === list);
  const holds = same !== undefined && (isAgainst(same.verdict) || same.until >= day);
  return {
    now: holds ? same : undefined,
    over: holds ? undefined : same,
    otherList: own.findLast((one) => one.program === program && one.list !== list),
    against: own.filter((one) => one !== same && isAgainst(one.verdict)).toReversed(),
  };
}

export function trialsText(records: readonly TrialRecord[]): string {
  return `${JSON.stringify({ version: 1, trials: records }, undefined, 1)}\n`;
}

/** The error says what is wrong, without an end. */
export function readTrials(text: string): Result<readonly TrialRecord[], string> {
  let value: Json;
  try {
    value = JSON.parse(text) as Json; // looked at member by member below
  } catch {
    return err("it is not JSON");
  }
  const trials = member(value, "trials");
  if (member(value, "version") !== 1 || !isArray(trials)) return err("it has no `version: 1` with `trials`");
  if (trials.length > recordsMax) return err(`it holds more than ${recordsMax} trials`);
  const read = trials.flatMap((one) => recordIn(one) ?? []);
  return read.length === trials.length ? ok(read) : err("a trial in it cannot be read");
}

function recordIn(value: Json): TrialRecord | undefined {
  if (!isObject(value)) return undefined;
  const text = (name: string): string => stringMember(value, name) ?? "";
  const [server, program, list, at, until] = [text("server"), text("program"), text("list"), text("at"), text("until")];
  const count = (name: string): number => {
    const held = member(value, name);
    return typeof held === "number" && Number.isSafeInteger(held) && held >= 0 ? held : -1;
  };
  const [calls, run, listed] = [count("calls"), count("run"), count("listed")];
  const verdict = verdicts.find((one) => one === member(value, "verdict"));
  const [findings, gaps] = [textsIn(member(value, "findings")), textsIn(member(value, "gaps"))];
  if (verdict === undefined || findings === undefined || gaps === undefined) return undefined;
  if ([server, program, list, at, until].includes("") || [calls, run, listed].includes(-1)) return undefined;
  return { server, program, list, verdict, at, until, calls, run, listed, findings, gaps };
}

function textsIn(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value) || value.length > sentencesMax) return undefined;
  const texts = value.filter((one) => typeof one === "string" && one.length <= sentenceCharactersMax);
  return texts.length === value.length ? texts.map(String) : undefined;
}

function sentences(given: readonly string[]): readonly string[] {
  return given.slice(0, sentencesMax).map((one) => one.slice(0, sentenceCharactersMax));
}

function isSame(one: TrialRecord, other: TrialRecord): boolean {
  return one.server === other.server && one.program === other.program && one.list === other.list;
}

const rank = (verdict: TrialVerdict): number => verdicts.indexOf(verdict);
