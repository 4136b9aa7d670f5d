/**
 * Verdicts of whole lists, remembered by everything they depend on: policy, list, and the part of the run's state that
 * lists depend on, of which the policy gives a digest. Shared by all connections, since in the modern era over HTTP a
 * connection lives for one request.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { ToolContract } from "../../core/contract.ts";
import type { Moment } from "../../core/moment.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { ListState } from "../upstream/listed-tools.ts";
import { decide } from "../decision/ask-loop.ts";
import { exposeTriesMax, exposuresMax } from "../ports/limits.ts";
import { recordForeseen } from "../runs/foreseen-lists.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { AskedFor, Oracle, Services } from "../ports/services.ts";
import type { Answer, Answers, Question } from "../../core/opinion.ts";

export type ExposeQuery = {
  readonly live: LiveRun;
  readonly server: string;
  readonly state: ListState;
  readonly contracts: readonly ToolContract[];
};

export class Exposures {
  readonly #services: Services;
  readonly #runs: Pick<RunRegistry, "fold">;
  readonly #known = new BoundedMap<string, readonly Verdict[]>(exposuresMax);

  constructor(services: Services, runs: Pick<RunRegistry, "fold">) {
    this.#services = services;
    this.#runs = runs;
  }

  /** A verdict for each entry of the list. */
  async of(query: ExposeQuery): Promise<readonly Verdict[]> {
    let verdicts: readonly Verdict[] = [];
    for (let tries = 0; tries < exposeTriesMax; tries += 1) {
      const key = this.#keyOf(query);
      const known = this.#known.get(key);
      if (known !== undefined) return known;
      const judged = await this.#judged(query);
      ({ verdicts } = judged);
      // An oracle may have been asked, and the run may have moved on meanwhile: such verdicts belong under no digest.
      if (this.#keyOf(query) !== key) continue;
      this.#known.set(key, verdicts);
      const at = this.#services.clock.monotonicMs();
      await recordForeseen({ runs: this.#runs, services: this.#services }, query.live, { answers: judged.answers, at });
      return verdicts;
    }
    return verdicts;
  }

  #keyOf({ live, server, state, contracts }: ExposeQuery): string {
    const digest = live.policy.stateDigest(live.state, this.#services.clock.monotonicMs());
    // One process serves all tools of a list; what is believed of them holds for no other.
    const { tier = "", order = "" } = contracts[0]?.process ?? {};
    return `${live.policy.digest} ${server} ${tier} ${order} ${state.method} ${state.digest} ${digest}`;
  }

  async #judged({
    live,
    contracts,
  }: ExposeQuery): Promise<{ readonly verdicts: readonly Verdict[]; readonly answers: Answers }> {
    const byContract = new Map<ToolContract, Verdict>();
    const verdicts: Verdict[] = [];
    // Entries are judged one after another, and most of them ask the same.
    const oracle = new AskedOnce(this.#services.oracle);
    // One instant for all: conditions on time are then evaluated once for tools that are alike.
    const at = this.#services.clock.monotonicMs();
    for (const contract of contracts) {
      const judged = byContract.get(contract) ?? this.#verdict(live, { kind: "expose", at, contract }, oracle);
      const verdict = judged instanceof Promise ? await judged : judged;
      byContract.set(contract, verdict);
      verdicts.push(verdict);
    }
    return { verdicts, answers: oracle.given };
  }

  #verdict(live: LiveRun, moment: Moment, oracle: Oracle): Verdict | Promise<Verdict> {
    return decide(live, { oracle }, moment, ({ verdict }) => verdict);
  }
}

// An oracle that is asked each question once. The entries of a list share their question: without this a judge that
// does not answer would hold a list for its whole wait at each entry, and be paid for each garbled answer.

export class AskedOnce implements Oracle {
  readonly #oracle: Oracle;
  readonly #given = new Map<string, Answer>();

  constructor(oracle: Oracle) {
    this.#oracle = oracle;
  }

  /** Everything that was answered. */
  get given(): Answers {
    return this.#given;
  }

  async answer(questions: readonly Question[], budgetMs: number, about?: AskedFor): Promise<readonly Answer[]> {
    const open = questions.filter(({ key }) => !this.#given.has(key));
    // Noted before it is asked, so that an oracle that fails or leaves a question out is not asked again either.
    for (const question of open) this.#given.set(question.key, { kind: "unavailable", question, cause: "no answer" });
    if (open.length > 0) {
      for (const answer of await this.#oracle.answer(open, budgetMs, about))
        this.#given.set(answer.question.key, answer);
    }
    return questions.flatMap(({ key }) => this.#given.get(key) ?? []);
  }
}
