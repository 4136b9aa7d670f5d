/** Texts of an entry as an attacker changes them, and as a model reads them. */
import { type Json, type JsonObject, isObject, member, stringMember } from "../../../core/json.ts";
import { asLatin } from "../../../mechanisms/pin/look-alikes.ts";
import { visible } from "../../../mechanisms/pin/sentences.ts";

/** A text by its place: the description, or a member of an argument. */
export type Place = { readonly argument: string | undefined; readonly name: string };
export type Slot = { readonly place: Place; readonly text: string };

/** Members of an argument in which text is read. */
export const argumentTexts = ["description", "default", "title", "$comment"] as const;

export function slotsOf(entry: JsonObject): readonly Slot[] {
  const own = stringMember(entry, "description");
  const slots: Slot[] = own === undefined ? [] : [{ place: { argument: undefined, name: "description" }, text: own }];
  for (const [argument, schema] of Object.entries(propertiesOf(entry))) {
    for (const name of argumentTexts) {
      const text = stringMember(schema, name);
      if (text !== undefined) slots.push({ place: { argument, name }, text });
    }
  }
  return slots;
}

export function propertiesOf(entry: JsonObject): JsonObject {
  const properties = member(member(entry, "inputSchema"), "properties");
  return isObject(properties) ? properties : {};
}

export function withText(entry: JsonObject, { argument, name }: Place, text: string): JsonObject {
  if (argument === undefined) return { ...entry, [name]: text };
  const properties = propertiesOf(entry);
  const before: Json | undefined = member(properties, argument);
  const schema = { ...(isObject(before) ? before : {}), [name]: text };
  const inputSchema = member(entry, "inputSchema");
  const rest = isObject(inputSchema) ? inputSchema : { type: "object" };
  return { ...entry, inputSchema: { ...rest, properties: { ...properties, [argument]: schema } } };
}

/** Sentences of a text, each with its end. */
export function sentencesIn(text: string): readonly string[] {
  return text.split(/(?<=[.!?;:])\s+|\n+/u).filter((one) => one.trim() !== "");
}

/**
 * All texts as a model takes them in: it reads through look-alike letters, characters that show nothing, and letters of other
 * widths, and does not mind where in the entry a sentence stands.
 */
export function readByModel(entry: JsonObject): string {
  const texts = slotsOf(entry).map(({ text }) =>
    visible(text)
      .normalize("NFKC")
      .replace(/\p{Mn}/gu, ""),
  );
  return texts
    .join("\n")
    .split(/(\s+)/u)
    .map((word) => asLatin(word))
    .join("")
    .toLowerCase();
}
