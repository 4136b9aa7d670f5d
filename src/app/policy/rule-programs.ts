/** Programs of rules (policy.md 1): loaded with their policy, asked by the gateway in turns and by commands at once. */
import type { Answer, Question } from "../../core/opinion.ts";
import { programContextFrom, programQuestionKind, type ProgramContext } from "../../core/questions/program-question.ts";
import { type ProgramAnswer, askProgramNow, ProgramProcess } from "../../adapters/programs/program-process.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { type Problem, problem, quoted } from "../../policy/document/diagnostic.ts";
import type { Check } from "../../policy/ir/ir.ts";

/** Answers a question to a program; undefined for any other question. */
export type AskProgram = (question: Question) => Answer | undefined;

/** The input of a program, as JSON text. */
function callOf({ server, tool, arguments: given }: ProgramContext): string {
  return JSON.stringify({ server, tool, arguments: given });
}

function answered(question: Question, said: ProgramAnswer): Answer {
  return said.ok
    ? { kind: "known", question, value: said.value }
    : { kind: "unavailable", question, cause: said.error };
}

const unreadable: ProgramAnswer = { ok: false, error: "the question could not be read" };

/** Programs that a running gateway asks; their process begins with the first of them. */
export class GatewayPrograms {
  readonly #process = new ProgramProcess();

  /** Loads the programs of a policy, so that its first call waits for none, and says which of them do not load. */
  async problems({ ir }: CompiledPolicy): Promise<readonly Problem[]> {
    const loaded = await Promise.all(ir.checks.map(async (check) => ({ check, said: await this.#process.ask(check) })));
    return loaded.flatMap(({ check, said }) => problemsOf(check, said));
  }

  close(): void {
    this.#process.close();
  }

  async answer(question: Question): Promise<Answer> {
    const context = programContextFrom(question.content);
    return answered(question, context === undefined ? unreadable : await this.#process.ask(context, callOf(context)));
  }
}

export function isProgramQuestion({ kind }: Question): boolean {
  return kind === programQuestionKind;
}

/** Asks a program for a command that has nothing else to do meanwhile; undefined for any other question. */
export const askProgram: AskProgram = (question) => {
  if (!isProgramQuestion(question)) return undefined;
  const context = programContextFrom(question.content);
  return answered(question, context === undefined ? unreadable : askProgramNow(context, callOf(context)));
};

/** The programs of a policy that do not load, for a command, or a gateway before it serves the first session under it. */
export function programProblems({ ir }: CompiledPolicy): readonly Problem[] {
  return ir.checks.flatMap((check) => problemsOf(check, askProgramNow(check)));
}

function problemsOf({ rule, name }: Check, loaded: ProgramAnswer): readonly Problem[] {
  if (loaded.ok) return [];
  const message = `the program ${quoted(name)} does not load: ${loaded.error}`;
  return [problem("PREDICATE", ["rules", rule.id, "predicate"], message, "fix it; a module is self-contained")];
}
