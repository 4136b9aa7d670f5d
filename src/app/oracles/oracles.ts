/**
 * The oracle of a running gateway: it answers with the models that the policy of a run configures, and says `none
 * configured` where it configures none; what a rule asks a program, the program answers. Policies come and go while it runs; each is known by its digest.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import type { AskedFor, Oracle } from "../../gateway/ports/services.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Problem } from "../../policy/document/diagnostic.ts";
import type { ConfiguredModels } from "./world-models.ts";
import { nodeClock, noOracle } from "../state/node-services.ts";
import { GatewayPrograms, isProgramQuestion } from "../policy/rule-programs.ts";

/** Policies that are remembered: runs go over to a new one at once, so only questions in flight need an old one. */
const policiesKeptMax = 256;

export class PolicyOracles implements Oracle {
  readonly #tell: (text: string) => void;
  /** Policies that configure a model, by digest. */
  readonly #policies = new BoundedMap<string, CompiledPolicy>(policiesKeptMax);
  readonly #programs = new GatewayPrograms();
  #models: Promise<ConfiguredModels> | undefined;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** Takes note of a policy that was loaded. Without a model in it nothing is loaded and nothing will be asked. */
  learn(policy: CompiledPolicy): void {
    void this.#programs.problems(policy);
    const { embedded, judge } = policy.regulation.models;
    if (!embedded && judge === undefined && policy.isolation?.judge === undefined) return;
    this.#policies.set(policy.digest, policy);
    // A failure here repeats with the first question, which then reports it.
    void this.#loaded()
      .then((models) => models.prepare(policy))
      .catch(() => undefined);
  }

  /** Programs of a policy that do not load. */
  programProblems(policy: CompiledPolicy): Promise<readonly Problem[]> {
    return this.#programs.problems(policy);
  }

  /** Ends the process that programs run in. */
  close(): void {
    this.#programs.close();
  }

  async answer(questions: readonly Question[], budgetMs: number, about?: AskedFor): Promise<readonly Answer[]> {
    const forPrograms = questions.filter(isProgramQuestion);
    if (forPrograms.length === 0) return this.#asked(questions, budgetMs, about);
    const others = questions.filter((question) => !isProgramQuestion(question));
    const answers = await Promise.all([
      Promise.all(forPrograms.map((question) => this.#programs.answer(question))),
      others.length === 0 ? [] : this.#asked(others, budgetMs, about),
    ]);
    return answers.flat();
  }

  async #asked(questions: readonly Question[], budgetMs: number, about?: AskedFor): Promise<readonly Answer[]> {
    if (about === undefined || !this.#policies.has(about.policy)) return noOracle.answer(questions, budgetMs);
    const startedMs = nodeClock.monotonicMs();
    const models = await this.#loaded();
    return models.answer(questions, budgetMs - (nodeClock.monotonicMs() - startedMs), about);
  }

  #loaded(): Promise<ConfiguredModels> {
    this.#models ??= import("./world-models.ts").then(
      (module) => new module.ConfiguredModels((digest) => this.#policies.get(digest), this.#tell),
    );
    return this.#models;
  }
}
