/** The outcome of a use case: JSON for machines, sentences for terminals, and the exit codes of system.md 6. */
import { visible } from "./sentences.ts";

/** 0 ok, 1 a finding or a refusal, 2 usage, configuration or environment. */
export type ExitCode = 0 | 1 | 2;

export type Outcome = {
  readonly exitCode: ExitCode;
  /** Undefined where the command has written its answer itself. */
  readonly json: unknown;
  /** Lines for the user; goes to standard output, or to standard error where the exit code is 2. */
  readonly text: string;
};

/** Why a command cannot do its work: the code of `docs/errors.md`, and a sentence. */
export type Fault = { readonly code: string; readonly sentence: string };

export const refusal = ({ code, sentence }: Fault): Outcome => failure(code, sentence);

export function failure(code: string, sentence: string): Outcome {
  const plain = visible(sentence);
  return { exitCode: 2, json: { ok: false, error: { code, message: plain } }, text: plain };
}
