/**
 * A judge that is a language model. It says a verdict or why it has none; it never says anything because it failed.
 *
 * In this order: evidence above the bound is reduced, or the judge is not asked; a judge that failed repeatedly rests;
 * one that has not withstood the canary is not believed; what was answered before is not asked again; tokens are
 * reserved; the model is asked once, within its time; the answer is read by the reader of the question.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import { mayFlow, type Lattice } from "../../core/label.ts";
import { labelOfNames } from "../../core/explain/restriction-names.ts";
import type { NoAnswer, Silence } from "../../core/opinion.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelClient, ModelFailure, ModelReply } from "../../gateway/ports/model.ts";
import type { Judge } from "../../policy/sections/judges.ts";
import { answerCharsMax, canaryWaitMs, openQuestionsMax, rememberedAnswersMax } from "./limits.ts";
import type { JudgeQuestion } from "./question.ts";
import { Canaries, estimatedTokens, Rest, TokenBudget } from "./judge-state.ts";

export type JudgeServices = {
  readonly client: ModelClient;
  readonly nowMs: () => number;
  /** Digest of a text; keys of remembered answers. */
  readonly hash: (text: string) => string;
  /** One line for the operator. */
  readonly tell: (text: string) => void;
};

/** The run that a question is asked for, and the longest wait of its call. */
export type Asking = { readonly run: string; readonly waitMs: number };

const clientFault: Result<ModelReply, ModelFailure> = err({ kind: "setup", cause: "it failed" });

/** The kind of silence that a failed request is. */
const silenceOf: { readonly [K in ModelFailure["kind"]]: Silence } = {
  stopped: "late",
  unreachable: "down",
  status: "down",
  setup: "down",
  "too-large": "garbled",
  unreadable: "garbled",
};

function none(silence: Silence, cause: string): Result<never, NoAnswer> {
  return err({ silence, cause });
}

/** The verdict in an answer; one that cannot be read is no verdict. */
function read<V>(question: JudgeQuestion<V>, reply: ModelReply): Result<V, NoAnswer> {
  const verdict = question.read(reply);
  return verdict.ok ? verdict : none("garbled", verdict.error);
}

/** An answer of less than this many tokens could hold no verdict. */
const outputTokensMin = 16;

export class ModelJudge {
  readonly settings: Judge;
  readonly #lattice: Lattice;
  readonly #services: JudgeServices;
  readonly #answers = new BoundedMap<string, ModelReply>(rememberedAnswersMax);
  readonly #open = new Map<string, Promise<Result<ModelReply, NoAnswer>>>();
  readonly #budget: TokenBudget;
  readonly #rest = new Rest();
  readonly #canaries: Canaries;

  constructor(settings: Judge, lattice: Lattice, services: JudgeServices) {
    this.settings = settings;
    this.#lattice = lattice;
    this.#services = services;
    this.#budget = new TokenBudget(settings.runTokensMax);
    this.#canaries = new Canaries(services.nowMs);
  }

  /** The verdict on a question, or in words of ours why there is none. Never throws, never waits longer than asked. */
  async ask<V>(question: JudgeQuestion<V>, asking: Asking): Promise<Result<V, NoAnswer>> {
    const late = none("late", "it did not answer in time");
    return within(asking.waitMs, this.#answer(question, asking.run), late).catch(() => none("down", "it failed"));
  }

  /** Asks the canary of a question ahead of time, so that the first real question need not wait for it. */
  async prepare<V>(question: JudgeQuestion<V>): Promise<void> {
    await this.#trusted(question);
  }

  async #answer<V>(question: JudgeQuestion<V>, run: string): Promise<Result<V, NoAnswer>> {
    const evidence = this.#evidenceFor(question);
    if (!evidence.ok) return evidence;
    if (this.#rest.resting(this.#services.nowMs()))
      return none("unasked", "it failed several times and is left alone for now");
    const trusted = await this.#trusted(question);
    if (!trusted.ok) return trusted;
    const reply = await this.#reply(question, evidence.value, run);
    return reply.ok ? read(question, reply.value) : reply;
  }

  /** Evidence as far as it may go to this judge. An unknown name of a restriction counts as every restriction. */
  #evidenceFor<V>(question: JudgeQuestion<V>): Result<string, NoAnswer> {
    const { labels, values, shapes } = question.evidence;
    if (mayFlow(labelOfNames(this.#lattice, labels), this.settings.forbidden)) return ok(values());
    if (this.settings.above === "shapes") return ok(shapes());
    return none("unasked", "the evidence is above its bound");
  }

  async #trusted<V>(question: JudgeQuestion<V>): Promise<Result<true, NoAnswer>> {
    const { canary } = question;
    if (!this.settings.canary || canary === undefined) return ok(true);
    return this.#canaries.passed(question.id, async () => {
      const asked = canary.question;
      // The canary's evidence is ours, so it is below every bound; it is asked anew, because models are exchanged.
      const reply = await this.#complete(asked, asked.evidence.values(), canaryWaitMs);
      if (!reply.ok) return reply;
      const verdict = this.#read(asked, reply.value);
      if (!verdict.ok) return verdict;
      const obeyed = canary.obeyed(verdict.value);
      const warning = `The judge ${this.settings.name} obeys orders that stand in evidence: its answers are not used.`;
      if (obeyed) this.#services.tell(warning);
      return ok(obeyed);
    });
  }

  #reply<V>(question: JudgeQuestion<V>, evidence: string, run: string): Promise<Result<ModelReply, NoAnswer>> {
    const { id, instructions, schema, outputTokensMax } = question;
    const key = this.#services.hash(JSON.stringify([id, instructions, evidence, schema ?? null, outputTokensMax]));
    const known = this.#answers.use(key);
    if (known !== undefined) return Promise.resolve(ok(known));
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    if (this.#open.size >= openQuestionsMax) return Promise.resolve(none("unasked", "too many questions wait for it"));
    const asked = this.#charged(question, evidence, run)
      .then((reply) => {
        if (reply.ok) this.#answers.set(key, reply.value);
        return reply;
      })
      .finally(() => this.#open.delete(key));
    this.#open.set(key, asked);
    return asked;
  }

  async #charged<V>(question: JudgeQuestion<V>, evidence: string, run: string): Promise<Result<ModelReply, NoAnswer>> {
    const { settings } = this;
    const input = estimatedTokens(question.instructions, evidence, JSON.stringify(question.schema ?? ""));
    const output = Math.min(question.outputTokensMax, settings.tokensMax - input);
    if (output < Math.min(outputTokensMin, question.outputTokensMax))
      return none("unasked", "the question is longer than its budget");
    if (!this.#budget.reserve(run, input + output)) return none("unasked", "the run has used up its tokens");
    const reply = await this.#complete({ ...question, outputTokensMax: output }, evidence, settings.waitMs);
    if (!reply.ok) return reply;
    this.#budget.settle(run, input + output, reply.value.tokens);
    const verdict = this.#read(question, reply.value);
    return verdict.ok ? reply : verdict;
  }

  /** Reads a fresh answer; one that cannot be read counts as a failure of the judge. */
  #read<V>(question: JudgeQuestion<V>, reply: ModelReply): Result<V, NoAnswer> {
    const verdict = read(question, reply);
    if (verdict.ok) this.#rest.answered();
    else this.#rest.failed(this.#services.nowMs());
    return verdict;
  }

  async #complete<V>(
    question: JudgeQuestion<V>,
    evidence: string,
    waitMs: number,
  ): Promise<Result<ModelReply, NoAnswer>> {
    const { client, nowMs } = this.#services;
    const { instructions, schema, probabilities, outputTokensMax } = question;
    const request = {
      instructions,
      evidence,
      outputTokensMax,
      ...(schema === undefined ? {} : { schema }),
      ...(probabilities === undefined ? {} : { probabilities }),
    };
    // A client that throws has a fault, and one that is not counted would be asked, and waited for, at every call.
    const reply = await client.complete(request, AbortSignal.timeout(waitMs)).catch(() => clientFault);
    if (!reply.ok) {
      this.#rest.failed(nowMs());
      return none(silenceOf[reply.error.kind], reply.error.cause);
    }
    if (reply.value.text.length > answerCharsMax) {
      this.#rest.failed(nowMs());
      return none("garbled", "its answer is too long");
    }
    return ok(reply.value);
  }
}

/** The first of the two: the promise, or the given value after a time. The promise goes on, and is remembered. */
async function within<T>(waitMs: number, promise: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), waitMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
