/** What `proof verify --json` says of each property, read again from a file that anybody may have written. */
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { Json } from "../../core/json.ts";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import { proofPropertiesMax } from "./limits.ts";

export type ProofResult = {
  readonly id: string;
  readonly verdict: string;
  readonly enforcedBy: string;
  /** Whether the hazard holds even without any rule; such a proof says nothing of the policy. */
  readonly without: string;
  /** Ids of the rules that the proof rests on. */
  readonly core: readonly string[];
  readonly proved: boolean;
};

export type ProofResults = ReadonlyMap<string, ProofResult>;

/** Reads the report; the error says what is wrong with it. */
export function proofResults(report: Json): Result<ProofResults, string> {
  const properties = member(report, "properties");
  if (!isArray(properties)) return err("it has no list `properties`");
  if (properties.length > proofPropertiesMax) return err(`it has more than ${proofPropertiesMax} properties`);
  const found = new Map<string, ProofResult>();
  for (const property of properties) {
    const id = stringMember(property, "id");
    const verdict = wordOf(member(property, "verdict"));
    if (id === undefined || verdict === "") return err("a property has no `id` or no `verdict`");
    const core = member(property, "core");
    found.set(id, {
      id,
      verdict,
      enforcedBy: wordOf(member(property, "enforcedBy")),
      without: wordOf(member(property, "without")),
      core: isArray(core) ? core.filter((rule) => typeof rule === "string") : [],
      proved: isProof(verdict),
    });
  }
  return ok(found);
}

/** A verdict is a word, or a map that has it. */
function wordOf(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return isObject(value) ? (stringMember(value, "verdict") ?? stringMember(value, "kind") ?? "") : "";
}

/** `proved` and `proved given consent` (formal.md 4.4), however the words are joined. Nothing else is a proof. */
function isProof(verdict: string): boolean {
  return /^proved([ -]given[ -]consent)?$/.test(verdict);
}
