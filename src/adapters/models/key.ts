/** Reads a key from the environment when it is needed, so that it stays out of policies, arguments, logs and errors. */
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelFailure } from "../../gateway/ports/model.ts";
import { keyCharsMax } from "./model-limits.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Headers that carry the key. The error says what is wrong with the variable and never quotes its content. */
export function keyHeaders(
  variable: string | undefined,
  environment: Environment = process.env,
): Result<Readonly<Record<string, string>>, ModelFailure> {
  if (variable === undefined) return ok({});
  const key = environment[variable]?.trim() ?? "";
  if (key === "") {
    return err({
      kind: "setup",
      cause: `the environment variable ${variable} is empty: set it where the gateway starts${daemonHint(variable)}`,
    });
  }
  // A header cannot hold line breaks, and the error of the HTTP client would repeat the whole value.
  if (key.length > keyCharsMax || !/^[\x21-\x7e]+$/.test(key)) {
    return err({
      kind: "setup",
      cause: `the environment variable ${variable} holds no key: it must be one plain word`,
    });
  }
  return ok({ authorization: `Bearer ${key}` });
}

/** The daemon serves several clients and takes over nothing of their environment that is not meant for it. */
function daemonHint(variable: string): string {
  return variable.startsWith("SLUICEGATE_") ? "" : "; for `sluicegate run` give it a name that begins with SLUICEGATE_";
}
