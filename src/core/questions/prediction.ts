/**
 * The question to a world model and its answer (foresight.md 2): plain data, so answers are logged and replayed. The
 * mechanism `regulate` asks; oracles answer.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../json.ts";
import type { Answers, Silence } from "../opinion.ts";

/** `critical`: the run may go on, but some tool can now lead to harm. `unsafe`: the pending call must not run. */
export type StateClass = "safe" | "critical" | "unsafe";

/** Kind of the questions that ask a world model; `content` is a `PredictionContext` as JSON. */
export const predictionKind = "foresight";

/** One step of the run so far, bounded before it gets here. */
export type PredictionStep = {
  readonly server: string;
  readonly tool: string;
  /** Effects that the call may have, as dotted paths. */
  readonly effects: readonly string[];
  readonly arguments: JsonObject;
  /** Arguments that the tool's contract declares. Any other name is the agent's own words, and may itself be data. */
  readonly declared?: readonly string[];
  /** Names of the restrictions of its result: levels, categories, `untrusted`. */
  readonly brought: readonly string[];
  readonly outcome: "pending" | "succeeded" | "failed" | "unknown";
};

/** Everything that a model sees. Tool names are `server.tool`; all text is untrusted data. */
export type PredictionContext = {
  readonly version: 1;
  readonly instruction: string;
  readonly tools: readonly { readonly name: string; readonly effects: readonly string[] }[];
  readonly steps: readonly PredictionStep[];
  /** The call to judge; undefined where the list of tools is judged. */
  readonly pending?: PredictionStep;
  /**
   * Names of the restrictions of all these members (`restrictionNames`), instruction and arguments included. A judge is
   * asked only where its `bound` permits them.
   */
  readonly evidence: readonly string[];
};

/** The part of a prediction that decides. */
export type Advice = Pick<Prediction, "safety" | "pUnsafe" | "filteredTools">;

export type Prediction = {
  readonly model: string;
  readonly nextState: {
    /** Expected restrictions of the run, and expected effects. Absent where a model does not predict them. */
    readonly labels?: readonly string[];
    readonly effects?: readonly string[];
    readonly text: string;
  };
  readonly safety: StateClass;
  /** Probability, 0 to 1, that something unsafe follows. */
  readonly pUnsafe: number;
  /** Tools of the context that the model would take from the list. */
  readonly filteredTools: readonly string[];
  /** Advice of a prior that is not a judge: enough to ask the approver, never to refuse. */
  readonly asks?: Advice;
  /** Words of models about untrusted data: for users and the log, never for the agent. */
  readonly reasons: readonly string[];
  /** Number of tools that the model named and the context does not have; they were dropped. */
  readonly invented?: number;
  /** Other models that gave no answer, each with its cause, and how the first of them failed to. */
  readonly unanswered?: readonly string[];
  readonly silence?: Silence;
  readonly latencyMs: number;
};

/** Expectation of a model about one call: names of restrictions, and effects. */
export type Forecast = { readonly labels: readonly string[]; readonly effects: readonly string[] };

/** Names of one kind that are read of a forecast. */
export const forecastNamesMax = 32;

/** The forecast about a call among the answers that it was decided with; undefined where no model gave one. */
export function forecastAmong(answers: Answers): Forecast | undefined {
  for (const answer of answers.values()) {
    const { question } = answer;
    const aboutCall = question.kind === predictionKind && member(question.content, "pending") !== undefined;
    if (!aboutCall || answer.kind !== "known") continue;
    const next = isObject(answer.value) ? member(answer.value, "nextState") : undefined;
    return readForecast(next);
  }
  return undefined;
}

/** Reads a forecast; undefined for any other JSON. */
export function readForecast(value: Json | undefined): Forecast | undefined {
  const labels = namesIn(member(value, "labels"));
  const effects = namesIn(member(value, "effects"));
  return labels === undefined || effects === undefined ? undefined : { labels, effects };
}

function namesIn(value: Json | undefined): readonly string[] | undefined {
  return isArray(value) ? texts(value.slice(0, forecastNamesMax)) : undefined;
}

/**
 * The tools that models would take from a list, and those that they would have asked about, by `server.tool`. `policy` is the
 * digest of the policy whose models they are; undefined where there is one policy only.
 */
export type ForeseenFilter = {
  readonly hides: readonly string[];
  readonly asks: readonly string[];
  readonly policy?: string;
};

/** Filters that models answered: for the list of the present state, and for the list after the call. */
export type ForeseenFilters = {
  readonly list: ForeseenFilter | undefined;
  readonly call: ForeseenFilter | undefined;
};

const noFilters: ForeseenFilters = { list: undefined, call: undefined };

/** The filters among the answers of a moment; none of an answer that cannot be read, or that lacks a model. */
export function filtersAmong(answers: Answers): ForeseenFilters {
  let found = noFilters;
  for (const answer of answers.values()) {
    const { question } = answer;
    if (question.kind !== predictionKind || answer.kind !== "known") continue;
    const filter = filterOf(answer.value, toolsIn(question.content));
    if (filter === undefined) continue;
    found = member(question.content, "pending") === undefined ? { ...found, list: filter } : { ...found, call: filter };
  }
  return found;
}

/** Reads a filter; undefined for any other JSON. */
export function readFilter(value: Json | undefined): ForeseenFilter | undefined {
  const hides = texts(member(value, "hides"));
  const asks = texts(member(value, "asks"));
  const policy = stringMember(value, "policy");
  if (hides === undefined || asks === undefined) return undefined;
  return { hides, asks, ...(policy === undefined ? {} : { policy }) };
}

/** The filter in a prediction, of tools that its question named: no answer makes a log longer than its question. */
function filterOf(value: Json, known: readonly string[]): ForeseenFilter | undefined {
  const hides = texts(member(value, "filteredTools"));
  const advice = member(value, "asks");
  const asks = advice === undefined ? [] : texts(member(advice, "filteredTools"));
  // A model that did not answer might hide more, so the next list asks it again.
  if (hides === undefined || asks === undefined || member(value, "silence") !== undefined) return undefined;
  const named = (names: readonly string[]): readonly string[] => {
    const all = new Set(names);
    return known.filter((name) => all.has(name));
  };
  return { hides: named(hides), asks: named(asks) };
}

function toolsIn(content: Json): readonly string[] {
  const tools = member(content, "tools");
  return isArray(tools) ? tools.flatMap((tool) => stringMember(tool, "name") ?? []) : [];
}

function texts(value: Json | undefined): readonly string[] | undefined {
  return isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
}
