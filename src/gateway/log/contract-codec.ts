/**
 * Tool contracts as documents. A call is decided on a contract that a policy and a manifest gave together; records name
 * it by digest and the store keeps it once, so that a replay years later sees what was believed at the time.
 */
import type {
  ArgumentContract,
  ContractCase,
  FieldContract,
  OutputContract,
  ToolContract,
} from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member } from "../../core/json.ts";
import { readRange, type ReadAudience, type ReadLabel } from "./label-codec.ts";

/** The contract as JSON text; maps become lists of pairs. Equal contracts give equal texts. */
export function contractText(contract: ToolContract): string {
  return JSON.stringify({ ...contract, arguments: [...contract.arguments] });
}

/** Thrown and caught in this file only: a label without counterpart makes the whole contract unreadable. */
class Unreadable extends Error {}

function range(value: Json | undefined, read: ReadLabel): OutputContract["label"] {
  const found = readRange([member(value, "lo") ?? null, member(value, "hi") ?? null], read);
  if (found === undefined) throw new Unreadable();
  return found;
}

function argument(value: Json | undefined, read: ReadLabel, readAudience: ReadAudience): ArgumentContract {
  const forbidden = read(member(value, "forbidden"));
  const audience = readAudience(member(value, "audience"));
  if (!isObject(value) || forbidden === undefined || audience === undefined) throw new Unreadable();
  // The text was made by `contractText` and is checked against its digest; only the labels can have lost their meaning.
  return { ...(value as unknown as ArgumentContract), forbidden, audience };
}

function output(value: Json | undefined, read: ReadLabel): OutputContract {
  const fields = member(value, "fields");
  if (!isArray(fields)) throw new Unreadable();
  return {
    label: range(member(value, "label"), read),
    // As above: every member but the label is plain data of our own writing.
    fields: fields.map((field) => ({
      ...(field as unknown as FieldContract),
      label: range(member(field, "label"), read),
    })),
  };
}

function contractCase(value: Json, read: ReadLabel): ContractCase {
  const written = value as unknown as ContractCase; // as above
  const named = member(value, "output");
  // Earlier logs name the one predicate that a case had.
  const predicate = member(value, "predicate");
  const own = typeof predicate === "number" ? { ...written, predicates: [predicate] } : written;
  return named === undefined ? own : { ...own, output: output(named, read) };
}

/** The contract of a document whose digest was checked; undefined if a label has no counterpart any more. */
export function contractFrom(
  document: JsonObject,
  read: ReadLabel,
  readAudience: ReadAudience,
): ToolContract | undefined {
  try {
    const pairs = document["arguments"];
    const cases = document["cases"];
    if (!isArray(pairs) || !isArray(cases)) return undefined;
    const entries = pairs.map((pair): readonly [string, ArgumentContract] => {
      if (!isArray(pair) || typeof pair[0] !== "string") throw new Unreadable();
      return [pair[0], argument(pair[1], read, readAudience)];
    });
    return {
      ...(document as unknown as ToolContract), // as above
      toolDigest: typeof document["toolDigest"] === "string" ? document["toolDigest"] : undefined,
      arguments: new Map(entries),
      rest: argument(document["rest"], read, readAudience),
      output: output(document["output"], read),
      cases: cases.map((one) => contractCase(one, read)),
    };
  } catch (cause) {
    if (cause instanceof Unreadable) return undefined;
    throw cause;
  }
}
