/**
 * Questions to the user (`elicitation/create`): those that a client can show, the input that a form requests, and the
 * sender.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../core/json.ts";

/**
 * Whether a client shows forms. An empty `elicitation` means that it does, as before there were modes (2025-06-18);
 * from 2025-11-25 on a client names its modes, and one that names only `url` has nowhere to show a form.
 */
export function takesForms(capabilities: JsonObject): boolean {
  const elicitation = member(capabilities, "elicitation");
  if (!isObject(elicitation)) return false;
  const form = member(elicitation, "form");
  return form === undefined ? member(elicitation, "url") === undefined : isObject(form);
}

/** A question with a line before it that names the sender: its own words could imitate any sender, ours above all. */
export function withHeading(params: JsonObject, heading: string): JsonObject {
  const message = stringMember(params, "message");
  return { ...params, message: message === undefined ? heading : `${heading}\n${message}` };
}

/** Names that hardly ever mean anything but a secret. */
const secretNames =
  "api ?keys?|(?:access|auth|authentication|authorization|bearer|refresh|session|secret|private|oauth|security|login" +
  "|signing|encryption|ssh|gpg|pgp) (?:tokens?|keys?)|client secrets?" +
  "|pass ?words?|passwd|pwd|pass ?phrases?|pass ?codes?|credentials?" +
  "|seed phrases?|recovery (?:phrases?|codes?|keys?)|mnemonics?" +
  "|otp|one time codes?|(?:verification|two factor|2fa|mfa|authenticator|security) codes?|pin (?:codes?|numbers?)" +
  "|cvv|cvc|credit cards?|card numbers?|ssn|social security numbers?" +
  "|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|пароль";

/** Names that mean one where the user is to type it, and much else in prose: of text, of settings, of stories. */
const doubtfulNames = "tokens?|secrets?|pin|pins";

/** Words before a doubtful name that make a demand of it. */
const demands = "your|enter|provide|paste|supply|type|give|submit|need|send";

const before = String.raw`(?<![\p{L}\p{N}])`;
const after = String.raw`(?!\p{L})`;
const named = new RegExp(`${before}(?:${secretNames})${after}|密码|密碼|密钥|パスワード|비밀번호`, "u");
const doubtful = new RegExp(`${before}(?:${doubtfulNames})${after}`, "u");
const demanded = new RegExp(`${before}(?:${demands})${after}.{0,60}?${before}(?:${doubtfulNames})${after}`, "u");
const numeric = new RegExp(`${before}(?:${secretNames}|pin)${after}`, "u");

/** Formats of text that cannot contain a key. */
const plainFormats: ReadonlySet<string> = new Set(["email", "date", "date-time"]);

/**
 * A form that wants a password, a key or a token: by the names of its fields, or by its message where it has a field
 * for free text. The protocol forbids such forms; a question by URL is the way that it gives to servers that need one,
 * since then the secret passes neither the client nor us.
 */
export function asksForSecret(params: JsonObject): boolean {
  const schema = member(params, "requestedSchema");
  // A client from before there were modes shows the form, whatever mode stands beside it.
  if (member(params, "mode") === "url" && schema === undefined) return false;
  const properties = member(schema, "properties");
  const fields = isObject(properties) ? Object.entries(properties) : [];
  if (fields.some(([name, field]) => isSecretField(name, field))) return true;
  const message = words(stringMember(params, "message") ?? "");
  if (!named.test(message) && !demanded.test(message)) return false;
  return fields.length === 0 || fields.some(([, field]) => isFreeText(field));
}

function isSecretField(name: string, field: Json): boolean {
  const format = stringMember(field, "format");
  if (format === "password") return true;
  const texts = [name, stringMember(field, "title") ?? "", stringMember(field, "description") ?? ""].map(words);
  switch (kindOf(field)) {
    case "choice":
      return false;
    case "number":
      return texts.some((text) => numeric.test(text));
    case "text":
      // A description may be prose, and then only a demand counts.
      return texts.some((text, place) => named.test(text) || (place < 2 ? doubtful : demanded).test(text));
  }
}

function isFreeText(field: Json): boolean {
  return kindOf(field) === "text" && !plainFormats.has(stringMember(field, "format") ?? "");
}

/** The input that the user may put into a field; an unreadable field may hold anything. */
function kindOf(field: Json): "choice" | "number" | "text" {
  const type = member(field, "type");
  if (type === "boolean") return "choice";
  const items = member(field, "items");
  if ([field, ...(items === undefined ? [] : [items])].some(listsValues)) return "choice";
  return type === "number" || type === "integer" ? "number" : "text";
}

/** A client that finds no value to choose from under these names shows a field for text. */
function listsValues(schema: Json): boolean {
  return ["enum", "oneOf", "anyOf"].some((name) => {
    const values = member(schema, name);
    if (!isArray(values) || values.length === 0) return false;
    return values.every((value) => typeof (name === "enum" ? value : member(value, "const")) === "string");
  });
}

/** Lower-case words with single spaces, however a name joins them, without invisible characters. */
function words(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/(\p{Ll}|\p{Lu}(?=\p{Lu}\p{Ll}{2}))(\p{Lu})/gu, "$1 $2")
    .replace(/[\s_.:/-]+/gu, " ")
    .toLowerCase();
}
