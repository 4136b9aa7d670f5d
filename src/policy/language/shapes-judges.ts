/** Shape of one judge. */
import type { JudgeText } from "../document-judges.ts";
import { flag, integer, object, oneOf, optional, text } from "./shape.ts";
import { bound, duration, words } from "./shapes.ts";

/** Names of environment variables as POSIX shells take them; anything else is likely to be the key itself. */
const variablePattern = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";

export const judge = object<JudgeText>("a judge", {
  url: optional(text("URL"), "where it is reached"),
  model: optional(text("model"), "which model it is, or the path of a GGUF file"),
  kind: optional(oneOf("kind", ["openai", "ollama", "llama-cpp", "gguf"]), "how it is spoken to"),
  bound: optional(bound, "largest label of evidence that may be sent to it"),
  audience: optional(words, "groups that see what it is told"),
  above: optional(oneOf("choice", ["shapes", "nothing"]), "what it is told of evidence above its bound"),
  wait: optional(duration, "longest wait for its answer"),
  tokensMax: optional(integer("tokens", 1, 10_000_000), "tokens of one question with its answer"),
  runTokensMax: optional(integer("tokens", 1, 1_000_000_000), "tokens of all questions of one run"),
  keyEnv: optional(text("environment variable", variablePattern, "JUDGE_KEY"), "variable that holds its key"),
  canary: optional(flag, "test it with an order hidden in evidence before its answers count"),
  answers: optional(oneOf("choice", ["schema", "tags"]), "form of its answers"),
  labelFirst: optional(flag, "ask for one word first where probabilities are given"),
});
