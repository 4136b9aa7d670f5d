/** Arguments that follow from earlier answers: `{2/items/0/id}` is a part of the second one, `{2~pattern}` a piece of its text. */
import { type Json, type JsonObject, isArray, isObject, member } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { readJson } from "../../../gateway/log/json-text.ts";

/** An answer as later calls refer to it. */
export type Given = { readonly text: string; readonly structured: Json | undefined };

const whole = /^\{(\d+)([/~])([^{}]*(?:\{\d[\d,]*\}[^{}]*)*)\}$/;
const within = /\{(\d+)([/~])([^{}]*(?:\{\d[\d,]*\}[^{}]*)*)\}/g;

/** The arguments with all references put in; the error names the first that leads nowhere. */
export function resolved(given: JsonObject, answers: readonly (Given | undefined)[]): Result<JsonObject, string> {
  const missing: string[] = [];
  const value = put(given, (reference, index, kind, way) => {
    const answer = answers[index - 1];
    const found = answer === undefined ? undefined : kind === "/" ? pointed(answer, way) : piece(answer, way);
    if (found === undefined) missing.push(reference);
    return found;
  });
  const [first] = missing;
  if (first !== undefined) return err(`\`${first}\` leads to nothing in the answer`);
  return isObject(value) ? ok(value) : err("the arguments are not an object");
}

type Look = (reference: string, index: number, kind: string, way: string) => Json | undefined;

function put(value: Json, look: Look): Json {
  if (isArray(value)) return value.map((one) => put(one, look));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, put(one, look)]));
  if (typeof value !== "string") return value;
  const only = whole.exec(value);
  if (only !== null) return look(value, Number(only[1]), only[2] ?? "", only[3] ?? "") ?? value;
  return value.replaceAll(within, (reference, index: string, kind: string, way: string) => {
    const found = look(reference, Number(index), kind, way);
    return found === undefined ? reference : typeof found === "string" ? found : JSON.stringify(found);
  });
}

function pointed({ text, structured }: Given, way: string): Json | undefined {
  let value: Json | undefined = structured ?? readJson(text);
  for (const part of way.split("/")) {
    if (part === "") continue;
    value = isArray(value) ? value[Number(part)] : member(value, part);
  }
  return value;
}

function piece({ text }: Given, pattern: string): string | undefined {
  try {
    const found = new RegExp(pattern, "m").exec(text);
    return found === null ? undefined : (found[1] ?? found[0]);
  } catch {
    return undefined;
  }
}
