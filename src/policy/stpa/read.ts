/** Text of an STPA document to a checked one. Bounded and positioned like a policy, and never throwing, like it. */
import { type Result, err, ok } from "../../core/result.ts";
import type { Diagnostic } from "../document/diagnostic.ts";
import { diagnosticsMax } from "../values/limits.ts";
import { type SourceDocument, diagnose, parseChecked } from "../document/parse.ts";
import { type StpaDocument, stpaShape } from "./document.ts";
import { checkFormal } from "./formal.ts";
import { checkReferences } from "./references.ts";

export type StpaSource = SourceDocument<StpaDocument>;

/**
 * Parses and checks an STPA document; `file` is only a name for messages, `hash` is SHA-256 in hex. All diagnostics
 * are errors: what is merely missing is a gap (`gaps.ts`).
 */
export function readStpa(
  text: string,
  file: string,
  hash: (text: string) => string,
): Result<StpaSource, readonly Diagnostic[]> {
  const read = parseChecked(text, file, {
    shape: stpaShape,
    what: "the STPA document",
    split: "split the analysis over several documents",
  });
  if (!read.ok) return read;
  const { document } = read.value;
  const named = checkReferences(document);
  // Properties are checked only once every id is known to refer to an entry.
  const problems = named.length > 0 ? named : checkFormal(document, hash);
  if (problems.length === 0) return ok(read.value);
  return err(problems.slice(0, diagnosticsMax).map((found) => diagnose(found, read.value)));
}
