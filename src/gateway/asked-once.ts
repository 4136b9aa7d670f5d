/**
 * An oracle that is asked each question once. The entries of a list share their question: without this a judge that does
 * not answer would hold a list for its whole wait at each entry, and be paid for each garbled answer.
 */
import type { Answer, Question } from "../core/opinion.ts";
import type { AskedFor, Oracle } from "./services-port.ts";

export class AskedOnce implements Oracle {
  readonly #oracle: Oracle;
  readonly #given = new Map<string, Answer>();

  constructor(oracle: Oracle) {
    this.#oracle = oracle;
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
