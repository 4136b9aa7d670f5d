/** Questions to a judge, and the effect of its answers. Both are advisory: without an answer rules alone decide. */
import {
  type DomainsContext,
  type EffectsContext,
  type EffectsVerdict,
  candidatesMax,
  chosenDomains,
  domainsJudgeKind,
  effectsJudgeKind,
  effectsVerdictFrom,
  judgedLinesMax,
} from "../../core/questions/effect-question.ts";
import { toldArguments } from "../../core/questions/told-arguments.ts";
import type { EffectEvent, WorkspaceChange } from "../../core/isolation/effect-trace.ts";
import type { JsonObject } from "../../core/json.ts";
import { join } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Answers, Question } from "../../core/opinion.ts";
import { restrictionNames } from "../../core/explain/restriction-names.ts";
import { namedHosts } from "./argument-hosts.ts";
import { destinationOf } from "./destinations.ts";
import type { Called, Finding } from "./grounds.ts";
import { projectionId } from "./reasons.ts";
import type { ProjectionSettings } from "./settings.ts";

type Call = { readonly option: CallOption; readonly arguments: JsonObject };

function question(settings: ProjectionSettings, kind: string, content: JsonObject): Question {
  const key = `${kind} ${settings.digest(content)}`;
  return { key, mechanism: projectionId, kind, content, mode: "advisory", without: "allow" };
}

/** The labels that the arguments of a call and the reads of its tool may reveal. */
function evidenceOf({ lattice }: ProjectionSettings, { option, arguments: given }: Call): readonly string[] {
  let label = option.contract.output.label.hi;
  for (const { range } of option.arguments.values()) label = join(label, range.hi);
  // The label of an argument that was not labelled is unknown: it may be the most restricted data there is.
  if (Object.keys(given).some((name) => !option.arguments.has(name))) label = lattice.top;
  return restrictionNames(lattice, label);
}

/** The arguments as they become part of a question. */
function argumentsOf({ option, arguments: given }: Call): JsonObject {
  const declared = [...option.contract.arguments.keys()].filter((name) => Object.hasOwn(given, name));
  return toldArguments(given, declared);
}

/** The question for the destinations that a call needs beyond `allowed`; undefined where its arguments name none. */
export function domainsQuestion(
  settings: ProjectionSettings,
  call: Call,
  allowed: readonly string[],
): { readonly question: Question; readonly candidates: readonly string[] } | undefined {
  const { option } = call;
  const named = namedHosts(option, call.arguments).filter((one) => !allowed.includes(one));
  const candidates = named.slice(0, candidatesMax);
  if (candidates.length === 0) return undefined;
  const content: DomainsContext = {
    version: 1,
    server: option.contract.server,
    tool: option.contract.tool,
    effects: option.contract.effects.may,
    arguments: argumentsOf(call),
    candidates,
    evidence: evidenceOf(settings, call),
  };
  // A context is JSON by construction: texts, lists of texts and the arguments of the call.
  return { question: question(settings, domainsJudgeKind, content as unknown as JsonObject), candidates };
}

/** The chosen destinations; none where there is no answer. */
export function domainsIn(answers: Answers, { key }: Question, candidates: readonly string[]): readonly string[] {
  const answer = answers.get(key);
  return answer?.kind === "known" ? chosenDomains(answer.value, candidates) : [];
}

/** The question whether the events of a call look trusted. */
export function effectsQuestion(
  settings: ProjectionSettings,
  { called, ...call }: Call & { readonly called: Called },
  { events, changes, findings }: JudgedEvents,
): Question {
  const lines = [...events.toSorted(byWeight).map(eventLine), ...changes.map(changeLine)];
  const left = lines.length - judgedLinesMax;
  const shownLines = left > 0 ? [...lines.slice(0, judgedLinesMax), `${left} more events are not shown`] : lines;
  const content: EffectsContext = {
    version: 1,
    server: call.option.contract.server,
    tool: called.tool,
    effects: called.source === "unknown" || called.source === "enforced" ? [] : called.effects,
    arguments: argumentsOf(call),
    events: shownLines,
    rules: [...new Set(findings.map(({ rule }) => rule))],
    evidence: evidenceOf(settings, call),
  };
  return question(settings, effectsJudgeKind, content as unknown as JsonObject); // as above
}

export type JudgedEvents = {
  readonly events: readonly EffectEvent[];
  readonly changes: readonly WorkspaceChange[];
  readonly findings: readonly Finding[];
};

/** The verdict, `open` before there is an answer, undefined where the judge is unavailable. Unreadable is untrusted. */
export function effectsIn(answers: Answers, { key }: Question): EffectsVerdict | "open" | undefined {
  const answer = answers.get(key);
  if (answer === undefined) return "open";
  if (answer.kind === "unavailable") return undefined;
  return effectsVerdictFrom(answer.value) ?? { trusted: false, reason: "", flags: ["unreadable-answer"] };
}

export function judgeFinding(verdict: EffectsVerdict, onDistrust: "deny" | "confirm"): readonly Finding[] {
  if (verdict.trusted) return [];
  const flags = verdict.flags.map((flag) => flag.replace(/[^a-z0-9_-]/gi, "?")).join(", ");
  const what = `did what a judge does not trust${flags === "" ? "" : ` (${flags})`}`;
  const way = "look at what it did before you use it again";
  return [{ rule: "judge.effects", code: "SG-SUSPICION", verdict: onDistrust, what, way }];
}

/** Orders events: those that leave the machine first, then programs and changes, then reads. */
function byWeight(left: EffectEvent, right: EffectEvent): number {
  return weight(left) - weight(right) || left.sequence - right.sequence;
}

function weight({ action }: EffectEvent): number {
  if (action.startsWith("net-") || action === "dns-query") return 0;
  return action === "process-spawn" ? 1 : action === "file-read" ? 3 : 2;
}

/** Fields of an event in a fixed order; the oracle quotes the whole line. */
function eventLine(event: EffectEvent): string {
  const { action, outcome, grade, count, path, target, program, commandLine, bytes } = event;
  const network = action.startsWith("net-") || action === "dns-query";
  const about = [
    network ? destinationOf(event) : path,
    target === undefined ? undefined : `to ${target}`,
    commandLine ?? program,
    bytes === undefined ? undefined : `${bytes} bytes`,
    count > 1 ? `${count} times` : undefined,
  ];
  return [action, outcome, grade, ...about.filter((part) => part !== undefined)].join(" ");
}

function changeLine({ path, kind, bytes }: WorkspaceChange): string {
  return `workspace ${kind} ${path} ${bytes} bytes`;
}
