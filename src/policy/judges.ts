/** What a policy says of a judge, compiled: where it is, what it may be told, and what it may cost. */
import type { Label } from "../core/label.ts";

export type JudgeKind = "openai" | "ollama" | "llama-cpp" | "gguf";

export type Judge = {
  readonly name: string;
  readonly kind: JudgeKind;
  /** Base address without a slash at its end; undefined for a model inside this process. */
  readonly url: string | undefined;
  /** Model name, or path of a GGUF file. */
  readonly model: string;
  /** It runs on this machine, so nothing that it is told leaves it. */
  readonly local: boolean;
  /** Restrictions that evidence must not carry to be sent as it is: (bound, audience) compiled by `forbiddenAt`. */
  readonly forbidden: Label;
  readonly above: "shapes" | "nothing";
  readonly waitMs: number;
  readonly tokensMax: number;
  readonly runTokensMax: number;
  /** Name of an environment variable; the key never stands in a policy. */
  readonly keyEnv: string | undefined;
  readonly canary: boolean;
  readonly answers: "schema" | "tags";
  readonly labelFirst: boolean;
};

/** Judges by the name that the policy gives them. */
export type Judges = ReadonlyMap<string, Judge>;
