/** One JSON object in the answer of a model, alone or inside prose. A name that appears twice could say two things. */
import { type Json, type JsonObject, isObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { guard } from "../../wire/parse/guard.ts";
import { defaultWireLimits } from "../../wire/limits.ts";

/** The object from the first brace to the last; the error is a clause about the judge. */
export function objectIn(text: string): Result<JsonObject, string> {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  if (start < 0 || end < start) return err("its answer is not a JSON object");
  const body = text.slice(start, end + 1);
  if (guard(new TextEncoder().encode(body), defaultWireLimits, body).kind === "refused") {
    return err("its answer can be read in two ways");
  }
  const value = parsed(body);
  const whole: JsonObject | undefined = isObject(value) ? value : undefined;
  return whole === undefined ? err("its answer is not a JSON object") : ok(whole);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json; // JSON.parse gives JSON
  } catch {
    return undefined;
  }
}
