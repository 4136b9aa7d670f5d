/**
 * What a world model is asked and what it says (foresight.md 2): plain data, so that answers can be logged and replayed.
 * The question is asked by the mechanism `regulate`; oracles answer it.
 */
import type { Json, JsonObject } from "./json.ts";
import { isArray, isObject, member } from "./json.ts";
import type { Answers } from "./opinion.ts";

/** safe; critical = may go on, but some tool can now lead to harm; unsafe = the pending call must not run. */
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

/** Everything a model may look at. Tool names are `server.tool`; all text is data of strangers. */
export type PredictionContext = {
  readonly version: 1;
  readonly instruction: string;
  readonly tools: readonly { readonly name: string; readonly effects: readonly string[] }[];
  readonly steps: readonly PredictionStep[];
  /** The call that is judged; undefined when a list is. */
  readonly pending?: PredictionStep;
  /**
   * Names of the restrictions of everything in here, as `restrictionNames` gives them: what a judge's `bound` is compared
   * with. The instruction and every argument count.
   */
  readonly evidence: readonly string[];
};

/** What a model says that decides something. */
export type Advice = Pick<Prediction, "safety" | "pUnsafe" | "filteredTools">;

export type Prediction = {
  readonly model: string;
  readonly nextState: {
    /**
     * Restrictions that the run is expected to hold next, and effects that are expected to happen. Absent where a model
     * does not speak of them: then there is nothing that could turn out to be wrong.
     */
    readonly labels?: readonly string[];
    readonly effects?: readonly string[];
    readonly text: string;
  };
  readonly safety: StateClass;
  /** Probability, 0 to 1, that something unsafe follows. */
  readonly pUnsafe: number;
  /** Tools, among those asked about, that the model would take from the list. */
  readonly filteredTools: readonly string[];
  /** What a model says that is a prior and no judge: enough to ask a person, never to refuse. */
  readonly asks?: Advice;
  /** Words of models about data of strangers: for people and the log, never for the agent. */
  readonly reasons: readonly string[];
  /** Tools that the model named and nobody listed; they were dropped. */
  readonly invented?: number;
  /** Models that were asked as well and gave no answer, each with its cause. */
  readonly unanswered?: readonly string[];
  readonly latencyMs: number;
};

/** What a model expected of one call: restrictions by name, and effects. */
export type Forecast = { readonly labels: readonly string[]; readonly effects: readonly string[] };

/** Names of one kind in a forecast; what a model invents beyond it says nothing more. */
export const forecastNamesMax = 32;

/** The forecast among the answers that a call was decided with; undefined where no model spoke of it. */
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

/** A forecast from JSON; undefined where it is none. */
export function readForecast(value: Json | undefined): Forecast | undefined {
  const labels = namesIn(member(value, "labels"));
  const effects = namesIn(member(value, "effects"));
  return labels === undefined || effects === undefined ? undefined : { labels, effects };
}

function namesIn(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value)) return undefined;
  return value.slice(0, forecastNamesMax).filter((name) => typeof name === "string");
}
