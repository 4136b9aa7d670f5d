import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../core/json.ts";
import { asksForSecret, takesForms, withHeading } from "./elicitation.ts";

it.each([
  [{}, false],
  [{ elicitation: null }, false],
  [{ elicitation: {} }, true],
  [{ elicitation: { form: {} } }, true],
  [{ elicitation: { form: {}, url: {} } }, true],
  [{ elicitation: { url: {} } }, false],
  [{ elicitation: { form: false, url: {} } }, false],
])("a client that says %j: forms %s", (capabilities, forms) => {
  expect(takesForms(capabilities)).toBe(forms);
});

it("a heading comes before the message, or stands alone", () => {
  expect(withHeading({ message: "name?", mode: "form" }, "S asks:")).toEqual({
    message: "S asks:\nname?",
    mode: "form",
  });
  expect(withHeading({ message: 7 }, "S asks:")).toEqual({ message: "S asks:" });
});

function form(message: string, properties?: JsonObject): JsonObject {
  return { message, requestedSchema: { type: "object", ...(properties === undefined ? {} : { properties }) } };
}

describe("a form asks for a secret", () => {
  const text: Json = { type: "string" };

  it.each([
    ["by its message", form("Please enter your API key", { value: text })],
    ["by its message alone", form("your token?")],
    ["by a message in another language", form("Bitte das Passwort", { eingabe: text })],
    ["by a message without spaces between words", form("输入密码", { value: text })],
    ["by a message with characters that nobody sees", form("enter the pass\u200Bword", { value: text })],
    ["by a message with a mark that nobody sees", form("enter the pass\uFE0Fword", { value: text })],
    ["by a message in letters of full width", form("enter the ｐａｓｓｗｏｒｄ", { value: text })],
    ["by the name of a field", form("One thing more", { apiKey: text })],
    ["by the name of a field in capitals", form("One thing more", { OPENAI_API_KEY: text })],
    ["by the name of the second field for it", form("One thing more", { password2: text })],
    ["by the name of a field after an acronym", form("One thing more", { DBPassword: text })],
    ["by a plural in capitals", form("Go on", { a: { type: "string", title: "PINs" } })],
    ["by a doubtful name of a field", form("One thing more", { github_token: text })],
    ["by the title of a field", form("Go on", { a: { type: "string", title: "Client secret" } })],
    ["by the description of a field", form("Go on", { a: { type: "string", description: "paste your token here" } })],
    ["by the format of a field", form("Go on", { a: { type: "string", format: "password" } })],
    ["as a number", form("Go on", { pin: { type: "integer" } })],
    ["in a field that cannot be read", form("Go on", { password: 7 })],
    ["in a field of a type that forms do not have", form("Your password", { a: { type: ["string", "null"] } })],
    ["in a list of texts", form("Your recovery codes", { a: { type: "array", items: { type: "string" } } })],
    ["in a choice of nothing", form("Go on", { password: { type: "string", enum: [] } })],
    ["in a choice of values that are none", form("Go on", { password: { type: "string", anyOf: [{}] } })],
    ["in a form that calls itself a URL", { mode: "url", ...form("password?", { a: text }) }],
    ["with `mode: form`", { mode: "form", ...form("password?", { a: text }) }],
  ])("%s", (_how, params) => {
    expect(asksForSecret(params)).toBe(true);
  });

  it.each([
    ["a name", form("What is your name?", { name: text, email: { type: "string", format: "email" } })],
    ["a number of tokens", form("How long may it be?", { maxTokens: { type: "integer" } })],
    ["tokens in prose", form("The summary has 900 tokens. What should be left out?", { topic: text })],
    ["a choice about a key", form("Your API key has expired. Go on without it?", { go: { type: "boolean" } })],
    ["a choice of secrets", form("Which one?", { token: { type: "string", enum: ["a", "b"] } })],
    [
      "a choice of secrets with titles",
      form("Which?", { token: { type: "string", oneOf: [{ const: "a", title: "A" }] } }),
    ],
    ["a choice of several", form("Which passwords?", { a: { type: "array", items: { enum: ["a", "b"] } } })],
    [
      "an address to which a password is sent",
      form("Reset your password", { to: { type: "string", format: "email" } }),
    ],
    ["the key of an issue", form("Which issue?", { issue_key: text })],
    ["a question by URL", { mode: "url", message: "Sign in to give your API key", url: "https://x" }],
    ["nothing at all", {}],
  ])("not: %s", (_what, params) => {
    expect(asksForSecret(params)).toBe(false);
  });
});
