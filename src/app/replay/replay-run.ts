/**
 * Decides a recorded run again: every call, result and look back, in the order of the log, with the answers, consents and
 * times on record. Each is decided on what really happened before it, also where another policy would have let it come to
 * something else: what would have been done then is on no record. Nothing is executed, asked or written.
 */
import type { Decision } from "../../core/decision.ts";
import type { RunEvent } from "../../core/event.ts";
import { traceQuestion, traceQuestionKind } from "../../core/isolation/effect-trace.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { CallMoment, CallOption, Moment, ReflectMoment, ReleaseMoment } from "../../core/moment.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import { callDigest } from "../../gateway/decision/call.ts";
import { denial } from "../../gateway/decision/ask-loop.ts";
import { type ReleaseLabel, releaseLabel, scopeOf } from "../../gateway/decision/release-label.ts";
import { isJoined } from "../../gateway/runs/restrictive-images.ts";
import type { RecordedDecision } from "../../gateway/log/decision-codec.ts";
import type { RecordedAnswers, RecordedEntry } from "../../gateway/log/run-history.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import type { AskProgram } from "../policy/rule-programs.ts";
import { Believed } from "./believed.ts";
import { SharedRuns, decide, dispatchOf } from "./driver.ts";
import { type Judgement, judgementOf, newJudgement, recordedJudgement, withGateway } from "./judgement.ts";

export type ReplayedMoment = {
  readonly moment: "call" | "release" | "reflect";
  /** Id of the decision, as refusals and `audit` name it. */
  readonly decision: string;
  readonly wallTime: string;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly recorded: Judgement;
  /** Undefined where what was decided about is not on record. */
  readonly now: Judgement | undefined;
  readonly differs: boolean;
};

export type ReplayedRun = { readonly moments: readonly ReplayedMoment[]; readonly notes: readonly string[] };

export type AgainOptions = {
  readonly workspace: readonly string[];
  readonly hash: (text: string) => string;
  /** Asks the programs of rules that were not asked at the time; without it they are silent, and refuse. */
  readonly askProgram?: AskProgram;
};

/** The facts of a decided call. */
type KnownCall = Pick<CallMoment, "contract" | "method"> & { readonly option: CallOption | undefined };

/** One moment with what its record says. */
type Case = {
  readonly entry: RecordedEntry;
  readonly decision: string;
  readonly subject: { readonly server: string | undefined; readonly tool: string | undefined };
  readonly recorded: RecordedDecision | undefined;
};

/**
 * A run that is decided again while it is read: first every entry of its own is shown to `lookAhead`, twice where
 * `looksAgain`; then all entries are played in order. Of what was read only the outcome of each moment is kept.
 */
export class RecordedReplay {
  readonly moments: ReplayedMoment[] = [];
  readonly #policy: LoadedPolicy;
  readonly #run: string;
  readonly #options: AgainOptions;
  readonly #believed: Believed;
  readonly #runs: SharedRuns;
  #workspace: readonly string[];
  readonly #calls = new Map<string, KnownCall>();
  readonly #failed = new Set<string>();
  /** Where calls of the outbox began to wait, as decided now, by the id under which they do. */
  readonly #heldSince = new Map<string, number>();
  /** Values of results that were withheld first and released later. */
  readonly #opened = new Map<string, Json | undefined>();
  readonly #labels = new Map<string, ReleaseLabel>();
  readonly #said = new Set<string>();

  constructor(policy: LoadedPolicy, run: string, options: AgainOptions) {
    this.#policy = policy;
    this.#run = run;
    this.#options = options;
    this.#believed = new Believed(policy);
    this.#runs = new SharedRuns(policy);
    this.#workspace = options.workspace;
  }

  notes(): readonly string[] {
    const unheard =
      "What servers say of their own tools is not on record: labels come from the policy, packs and names.";
    return [...this.#said, ...(this.#believed.unheard ? [unheard] : [])];
  }

  /** Some result was withheld: a second look finds the value that came later. */
  get looksAgain(): boolean {
    return this.#opened.size > 0;
  }

  lookAhead({ events }: RecordedEntry): void {
    for (const event of events) {
      if (event.kind !== "released" || event.call === undefined) continue;
      if (event.value === undefined) this.#opened.set(event.call, this.#opened.get(event.call));
      else if (this.#opened.has(event.call)) this.#opened.set(event.call, event.value);
    }
  }

  outcome(): ReplayedRun {
    return { moments: this.moments, notes: this.notes() };
  }

  play(entry: RecordedEntry): void {
    if (entry.kind === "stores-reset") this.#reset(entry);
    if (entry.run !== this.#run) {
      for (const event of entry.events) this.#fold(entry.run, event);
      return;
    }
    if (entry.events.length === 0) this.#playNote(entry);
    // A call was decided before anything of its entry: risks that a consent accepts may stand ahead of it.
    for (const event of entry.events) {
      if (event.kind === "dispatched" && !isJoined(entry.events, event.call)) this.#decideDispatched(entry, event);
      else if (event.kind === "refused") this.#decideRefused(entry, event);
    }
    for (const event of entry.events) this.#playEvent(entry, event);
  }

  #playEvent(entry: RecordedEntry, event: RunEvent): void {
    switch (event.kind) {
      case "registered":
        this.#learn(event.text);
        break;
      case "dispatched":
        return this.#fold(entry.run, { ...event, option: this.#calls.get(event.call)?.option ?? event.option });
      case "failed":
        this.#failed.add(event.call);
        break;
      case "released":
        return this.#fold(entry.run, this.#release(entry, event));
      case "begun":
      case "refused":
      case "succeeded":
      case "unknown":
      case "foreseen":
      case "granted":
      case "ended":
        break;
    }
    this.#fold(entry.run, event);
  }

  /** Folders that the operator registered are what "inside the workspace" means. */
  #learn({ source, value }: Extract<RunEvent, { kind: "registered" }>["text"]): void {
    if (source !== "operator" || !isArray(value)) return;
    const fresh = value.filter((one) => typeof one === "string").filter((one) => !this.#workspace.includes(one));
    this.#workspace = [...this.#workspace, ...fresh];
  }

  #reset({ notes }: RecordedEntry): void {
    if (stringMember(notes, "stores") === "all") this.#runs.forgetShared();
    else this.#said.add("One store was reset meanwhile: its labels are those of before.");
  }

  #fold(key: string, event: RunEvent): void {
    if (!this.#runs.fold(key, event).ok) {
      this.#runs.set(key, { ...this.#runs.at(key), q: this.#policy.topState() });
      if (key === this.#run)
        this.#said.add("An event is not a move of this policy: from there on the run holds everything.");
    }
    // A key whose run has ended begins a new one with its next event.
    if (event.kind === "ended") this.#runs.end(key);
  }

  #playNote(entry: RecordedEntry): void {
    const { decision, notes } = entry;
    const id = stringMember(notes, "decision");
    if (decision === undefined || id === undefined) return;
    const about = stringMember(notes, "moment");
    if (about === "reflect") return this.#reflect(entry, id);
    if (about === "outbox" && decision.option !== undefined) return this.#decideHeld(entry, id, decision.option);
  }

  #reflect(entry: RecordedEntry, id: string): void {
    const cause = reflectCauses.find((one) => one === stringMember(entry.notes, "cause"));
    if (cause === undefined) return;
    const server = stringMember(entry.notes, "server");
    const moment: ReflectMoment = { kind: "reflect", at: entry.at, server, cause };
    const decision = this.#decided(moment, entry.answers, { server, call: undefined });
    this.#tell(
      "reflect",
      { entry, decision: id, subject: { server, tool: undefined }, recorded: entry.decision },
      decision,
    );
  }

  #decideHeld(entry: RecordedEntry, id: string, option: CallOption): void {
    const method = stringMember(entry.details, "method") ?? "tools/call";
    const { server, tool } = option.contract;
    const given = objectIn(member(entry.details, "arguments"));
    const digest = callDigest(option.contract, method, given, this.#options.hash);
    const head = { entry, decision: id, subject: { server, tool }, recorded: entry.decision };
    this.#call(head, { at: entry.at, call: id, method, arguments: given, digest }, option.contract);
  }

  #decideDispatched(entry: RecordedEntry, event: Extract<RunEvent, { kind: "dispatched" }>): void {
    const { at, call, method, arguments: given, digest, option } = event;
    const { server, tool } = option.class;
    const released = entry.events.some((one) => one.kind === "released" && one.call === call);
    // A client's own tool goes on record when it has run, with the decision about its result; it was asked about before.
    const recorded = released ? undefined : entry.decision;
    const head: Case = { entry, decision: call, subject: { server, tool }, recorded };
    this.#call(head, { at, call, method, arguments: given, digest }, option.contract);
  }

  #decideRefused(entry: RecordedEntry, event: Extract<RunEvent, { kind: "refused" }>): void {
    const { call, server, tool, digest, at } = event;
    const { decision: recorded, details } = entry;
    const head: Case = { entry, decision: call, subject: { server, tool }, recorded };
    const method = stringMember(details, "method");
    if (method === undefined) return this.#tell("call", head, undefined);
    const given = objectIn(member(details, "arguments"));
    this.#call(head, { at, call, method, arguments: given, digest }, recorded?.option?.contract);
  }

  #call(
    head: Case,
    about: Pick<CallMoment, "at" | "call" | "method" | "arguments" | "digest">,
    recorded: CallMoment["contract"] | undefined,
  ): void {
    const { server = "", tool = "" } = head.subject;
    const { policy } = head.entry;
    const contract = this.#believed.contractOf({ server, tool, method: about.method, recorded, policy });
    const left = stringMember(head.entry.notes, "outbox");
    const held = left === undefined ? {} : { heldSince: this.#heldSince.get(left) ?? 0 };
    const moment: CallMoment = { kind: "call", ...about, ...held, contract, workspace: this.#workspace };
    const decision = this.#decided(moment, head.entry.answers, { server, call: about.call });
    for (const duty of decision.obligations) if (duty.kind === "hold") this.#heldSince.set(about.call, duty.since);
    this.#calls.set(about.call, { contract, method: about.method, option: decision.option });
    this.#tell("call", head, this.#noMove(moment, decision, head.recorded));
  }

  /** A call without a move of the model is refused, whatever the rules decide (R3). */
  #noMove(moment: CallMoment, decision: Decision, recorded: RecordedDecision | undefined): Decision {
    const { option } = decision;
    if (option === undefined || recorded?.reasons.some(({ code }) => code === "SG-NO-MOVE") !== true) return decision;
    const moved = this.#policy.engine.model.next(this.#runs.at(this.#run).q, dispatchOf(moment, option));
    return moved.ok ? decision : denial("SG-NO-MOVE", { detail: moved.error });
  }

  /** The event of a release with the label that it has now; it is decided first, where a decision is on record. */
  #release(entry: RecordedEntry, event: Extract<RunEvent, { kind: "released" }>): RunEvent {
    const id = event.call ?? stringMember(entry.notes, "decision") ?? "";
    const { server, tool, call } = event;
    const head: Case = { entry, decision: id, subject: { server, tool }, recorded: entry.decision };
    const value = event.value ?? (call === undefined ? undefined : this.#opened.get(call));
    if (entry.decision !== undefined && value === undefined) this.#tell("release", head, undefined);
    if (entry.decision !== undefined && value !== undefined)
      this.#labels.set(id, this.#judgeRelease(head, event, value));
    const label = event.how === "pass" ? this.#labels.get(id) : undefined;
    return label === undefined ? event : { ...event, label: label.range, fields: label.fields, ...scopeOf(label) };
  }

  #judgeRelease(head: Case, event: Extract<RunEvent, { kind: "released" }>, value: Json): ReleaseLabel {
    const { server, tool, call, at } = event;
    const goingOn = this.#calls.get(head.decision);
    const known = goingOn ?? this.#calls.get(stringMember(head.entry.notes, "beside") ?? "");
    const { policy } = head.entry;
    const contract =
      known?.contract ?? this.#believed.contractOf({ server, tool, method: tool, recorded: undefined, policy });
    const during = call === undefined && goingOn !== undefined ? { during: head.decision } : {};
    const failed = call === undefined ? false : this.#failed.has(call) || member(value, "isError") === true;
    const moment: ReleaseMoment = {
      kind: "release",
      at,
      call,
      ...during,
      contract,
      option: known?.option,
      outcome: failed ? "failed" : "succeeded",
      value,
    };
    const decision = this.#decided(moment, head.entry.answers, { server, call: head.decision });
    this.#tell("release", head, decision);
    return releaseLabel(decision.obligations, contract, known?.option);
  }

  #decided(moment: Moment, recorded: RecordedAnswers, about: About): Decision {
    const evidence = {
      known: evidenceIn(recorded, about),
      answer: (question: Question) => this.#answerTo(question, recorded),
    };
    return decide(this.#policy.engine, this.#runs.at(this.#run), moment, evidence);
  }

  #answerTo(question: Question, recorded: RecordedAnswers): Answer {
    const value = recorded.get(question.key);
    if (value !== undefined) return { kind: "known", question, value };
    const said = recorded.has(question.key) ? undefined : this.#options.askProgram?.(question);
    if (said !== undefined) return said;
    if (!recorded.has(question.key)) {
      this.#said.add("It asks a question that was not asked then: it counts as unanswered.");
    }
    return { kind: "unavailable", question, cause: "replay" };
  }

  #tell(
    moment: ReplayedMoment["moment"],
    { entry, decision: id, subject, recorded }: Case,
    again: Decision | undefined,
  ) {
    const { server } = subject;
    const { settings } = this.#policy;
    const observed =
      settings.mode === "observe" || (server !== undefined && this.#policy.server(server).mode === "observe");
    const now = again === undefined ? undefined : withGateway(again, recorded, observed);
    const was = recorded === undefined ? askedInClient : recordedJudgement(recorded, now?.option ?? recorded.option);
    const judged = now === undefined ? undefined : newJudgement(now);
    const differs = judged !== undefined && (judged.verdict !== was.verdict || judged.held !== was.held);
    const { wallTime } = entry;
    this.moments.push({ moment, decision: id, wallTime, ...subject, recorded: was, now: judged, differs });
  }
}

const reflectCauses = ["periodic", "start", "list", "end"] as const;

const askedInClient: Judgement = {
  ...judgementOf({ verdict: "confirm", enforcedVerdict: "confirm", reasons: [], held: false }, undefined),
  because: "The client asked its person.",
};

type About = { readonly server: string | undefined; readonly call: string | undefined };

/** The evidence of a projection is known beforehand: no question asks for it. */
function evidenceIn(recorded: RecordedAnswers, { server = "", call }: About): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const [key, value] of recorded) {
    if (value === undefined || !key.startsWith(`${traceQuestionKind} `)) continue;
    const question = { ...traceQuestion("gateway", server, call), key };
    answers.set(key, { kind: "known", question, value });
  }
  return answers;
}

function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? (value as JsonObject) : {}; // narrowed; the compiler keeps RawNumber in the union
}
