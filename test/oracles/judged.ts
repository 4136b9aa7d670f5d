// An oracle with one judge, put together as the gateway does it, from the `judges` of a policy.
import { createHash } from "node:crypto";
import { openModel } from "../../src/adapters/models/open-model.ts";
import type { Json } from "../../src/core/json.ts";
import type { Answer, Question } from "../../src/core/opinion.ts";
import { type Prediction, type PredictionContext, predictionKind } from "../../src/core/questions/prediction.ts";
import { type Embedded, ForesightOracle } from "../../src/oracles/foresight/foresight-oracle.ts";
import { LanguageWorldModel } from "../../src/oracles/foresight/llm.ts";
import { ModelJudge } from "../../src/oracles/judges/model-judge.ts";
import { loadPolicy } from "../../src/policy/load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

export type Judged = {
  readonly oracle: ForesightOracle;
  readonly told: string[];
  /** Asks about a context; `required` questions are worth nothing without their judge. */
  readonly ask: (context: PredictionContext, how?: Asked) => Promise<Prediction | string>;
};
export type Asked = { readonly budgetMs?: number; readonly mode?: "required" | "advisory"; readonly run?: string };

/** `judge` is the policy's text of one judge, in YAML flow form. */
export function judged(judge: string, embedded?: Embedded): Judged {
  const text = `version: 1\nlattice: {categories: [medical]}\njudges:\n  j: ${judge}\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  const settings = policy?.judges.get("j");
  if (policy === undefined || settings === undefined) throw new Error(JSON.stringify(diagnostics));
  const told: string[] = [];
  const nowMs = (): number => performance.now();
  const services = { client: openModel(settings), nowMs, hash, tell: (line: string) => void told.push(line) };
  const language = new LanguageWorldModel(new ModelJudge(settings, policy.ir.lattice, services), nowMs);
  const oracle = new ForesightOracle(() => ({ embedded, language }), nowMs);
  return {
    oracle,
    told,
    ask: async (context, { budgetMs = 5_000, mode = "advisory", run = "r" } = {}) => {
      const [answer] = await oracle.answer([questionOf(context, mode)], budgetMs, { policy: policy.digest, run });
      return predictionOf(answer);
    },
  };
}

export function questionOf(context: PredictionContext, mode: "required" | "advisory"): Question {
  const content = context as unknown as Json; // a context holds nothing but JSON values
  const common = { key: JSON.stringify(content), mechanism: "m", kind: predictionKind, content };
  return mode === "required" ? { ...common, mode, unavailable: "confirm" } : { ...common, mode, without: "allow" };
}

/** The prediction of an answer, or why there is none. */
export function predictionOf(answer: Answer | undefined): Prediction | string {
  if (answer === undefined) return "no answer";
  return answer.kind === "known" ? (answer.value as unknown as Prediction) : answer.cause; // written by our oracle
}
