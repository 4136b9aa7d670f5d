/**
 * World models of policies, made from what they configure. Loaded only where a policy configures one, because model
 * clients are a large part of the program that most gateways never use.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import { openModel } from "../../adapters/models/open-model.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Judge } from "../../policy/sections/judges.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import type { AskedFor } from "../../gateway/ports/services.ts";
import { makeEmbedded } from "../../oracles/foresight/embedded.ts";
import { type Embedded, type Models, ForesightOracle } from "../../oracles/foresight/foresight-oracle.ts";
import { LanguageWorldModel } from "../../oracles/foresight/llm.ts";
import { EffectsOracle, isEffectsQuestion, prepareEffects } from "../../oracles/judges/effects-oracle.ts";
import { ModelJudge } from "../../oracles/judges/model-judge.ts";
import { nodeClock } from "../state/node-services.ts";
import { sha256 } from "../policy/policy-source.ts";
import { shippedWeights } from "./shipped-weights.ts";

/** Judges that live on over reloads of their policy; more than this are forgotten, oldest first. */
const judgesKeptMax = 64;

const nowMs = (): number => nodeClock.monotonicMs();

/** A model may have to be read from disk first. */
const examinationWaitMs = 40_000;

/** A judge, and the milliseconds that it took to answer, or why it did not. */
export type Examined = { readonly judge: Judge; readonly said: Result<number, string> };

export class ConfiguredModels {
  readonly #tell: (text: string) => void;
  /** By settings and lattice: a policy that changed elsewhere keeps its judge, with what it answered and showed. */
  readonly #languages = new BoundedMap<string, LanguageWorldModel>(judgesKeptMax);
  readonly #oracle: ForesightOracle;
  readonly #effects: EffectsOracle;
  #embedded: Embedded | undefined;

  constructor(policyOf: (digest: string) => CompiledPolicy | undefined, tell: (text: string) => void) {
    this.#tell = tell;
    const modelsOf = (digest: string): Models | undefined => {
      const policy = policyOf(digest);
      return policy === undefined ? undefined : this.#modelsOf(policy);
    };
    this.#oracle = new ForesightOracle(modelsOf, nowMs);
    this.#effects = new EffectsOracle((digest) => {
      const policy = policyOf(digest);
      return policy === undefined ? undefined : this.#effectsJudge(policy);
    });
  }

  answer(questions: readonly Question[], budgetMs: number, about: AskedFor): Promise<readonly Answer[]> {
    const ofEffects = questions.filter(({ kind }) => isEffectsQuestion(kind));
    if (ofEffects.length === 0) return this.#oracle.answer(questions, budgetMs, about);
    const others = questions.filter(({ kind }) => !isEffectsQuestion(kind));
    return this.#both(ofEffects, others, { budgetMs, about });
  }

  /** Reads the weights and tests the judge of a policy, so that its first call waits for neither. */
  async prepare(policy: CompiledPolicy): Promise<void> {
    await this.#modelsOf(policy).language?.prepare();
    const judge = this.#effectsJudge(policy);
    if (judge !== undefined) await prepareEffects(judge);
  }

  /** Asks the judge of a policy about a known call; undefined where it has none. */
  async examine(policy: CompiledPolicy): Promise<Examined | undefined> {
    const { language } = this.#modelsOf(policy);
    if (language === undefined) return undefined;
    const startedMs = nowMs();
    const said = await language.examine(examinationWaitMs);
    return { judge: language.judge.settings, said: said.ok ? ok(nowMs() - startedMs) : err(said.error.cause) };
  }

  async #both(
    ofEffects: readonly Question[],
    others: readonly Question[],
    { budgetMs, about }: { readonly budgetMs: number; readonly about: AskedFor },
  ): Promise<readonly Answer[]> {
    const answers = await Promise.all([
      this.#effects.answer(ofEffects, budgetMs, about),
      this.#oracle.answer(others, budgetMs, about),
    ]);
    return answers.flat();
  }

  /** The judge that a policy names for isolation; the same one may be its world model, with one budget for both. */
  #effectsJudge(policy: CompiledPolicy): ModelJudge | undefined {
    const use = policy.isolation?.judge?.use;
    return use === undefined ? undefined : this.#language(policy, use)?.judge;
  }

  #modelsOf(policy: CompiledPolicy): Models {
    const { embedded, judge } = policy.regulation.models;
    return {
      embedded: embedded ? this.#head() : undefined,
      language: judge === undefined ? undefined : this.#language(policy, judge),
    };
  }

  /** The shipped head; an unreadable one is reported once, and every question that needs it is unavailable. */
  #head(): Embedded {
    if (this.#embedded !== undefined) return this.#embedded;
    const weights = shippedWeights();
    if (!weights.ok) this.#tell(weights.error);
    this.#embedded = weights.ok ? makeEmbedded(weights.value) : unreadable;
    return this.#embedded;
  }

  #language(policy: CompiledPolicy, name: string): LanguageWorldModel | undefined {
    const settings = policy.judges.get(name);
    if (settings === undefined) return undefined;
    const { lattice } = policy.ir;
    const key = JSON.stringify([settings, lattice.levels, lattice.categories, lattice.groups]);
    const known = this.#languages.get(key);
    if (known !== undefined) return known;
    const { kind, url, model, keyEnv } = settings;
    const judge = new ModelJudge(settings, lattice, {
      client: openModel({ kind, url, model, keyEnv }),
      nowMs,
      hash: sha256,
      tell: this.#tell,
    });
    const made = new LanguageWorldModel(judge, nowMs);
    this.#languages.set(key, made);
    return made;
  }
}

const unreadable: Embedded = () => {
  throw new Error("the shipped weights cannot be read");
};
