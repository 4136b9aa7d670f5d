/** The section `judges` as it is written (foresight.md 4): models that may be asked, and what they may be told. */
import type { BoundText, Words } from "./document.ts";

export type JudgeText = {
  /** Where it is reached; none for a model file that runs inside the gateway. */
  readonly url?: string;
  /** Name of the model at that address, or the path of a GGUF file. */
  readonly model?: string;
  readonly kind?: "openai" | "ollama" | "llama-cpp" | "gguf";
  /** Largest label of evidence that may be sent to it. */
  readonly bound?: BoundText;
  /** Groups that see what it is told; `anyone` unless it runs on this machine. */
  readonly audience?: Words;
  /** What it is told of evidence above its bound: shapes and names, or nothing, which means that it is not asked. */
  readonly above?: "shapes" | "nothing";
  /** Longest wait for one answer. */
  readonly wait?: string;
  /** Tokens of one question with its answer. */
  readonly tokensMax?: number;
  /** Tokens of all questions of one run. */
  readonly runTokensMax?: number;
  /** Environment variable that holds the key; the key itself is never written into a policy. */
  readonly keyEnv?: string;
  /** Whether it is tested with an order hidden in evidence before its answers count. */
  readonly canary?: boolean;
  /** `schema`: it answers JSON; `tags`: it was trained on the tag protocol. */
  readonly answers?: "schema" | "tags";
  /** Ask for one word first, and for the whole answer only where its probability leaves a doubt. */
  readonly labelFirst?: boolean;
};
