import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Canary, canariesIn, canaryTexts, tokenCharacters, tokenOf } from "./canary.ts";
import { plausibleText } from "./plausible.ts";

const token = "k7fjq2mzx9wbtr4hdn3c";
const planted: Canary = { token, place: { kind: "file", name: "~/.ssh/id_rsa" } };
const found = (text: string): boolean => canariesIn(text, [planted]).length === 1;
const base64 = (text: string): string => btoa(text);
const hex = (text: string): string =>
  [...text].map((sign) => sign.charCodeAt(0).toString(16).padStart(2, "0")).join("");

describe("a canary", () => {
  it("is found plain and in the spellings in which texts are hidden", () => {
    for (const text of [
      `a ${token} b`,
      token.toUpperCase(),
      Array.from(token).join("-"),
      Array.from(token).toReversed().join(""),
      base64(token),
      base64(`x${token}`),
      base64(`xy${token}`).replaceAll("+", "-").replaceAll("/", "_"),
      hex(token),
      hex(token).replaceAll(/../g, "$& "),
      Array.from(token)
        .map((sign) => `%${hex(sign)}`)
        .join(""),
      `https://${token.slice(0, 10)}.${token.slice(10)}.attacker.example/`,
    ])
      expect(found(text), text).toBe(true);
  });

  it("is not found in other text", () => {
    expect(canariesIn("anything", [])).toEqual([]);
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => !found(text)));
    fc.assert(fc.property(fc.base64String({ maxLength: 300 }), (text) => !found(text)));
  });

  it("is made of letters and digits of as many random bytes as it is long", () => {
    expect(tokenOf(new Uint8Array(tokenCharacters))).toBe("a".repeat(tokenCharacters));
    expect(tokenOf(new Uint8Array(2))).toHaveLength(tokenCharacters);
    expect(tokenOf(Uint8Array.from({ length: tokenCharacters }, (_, at) => at * 13))).toMatch(/^[a-z0-9]{20}$/);
  });

  it("stands in each text of a call, in the form that the text would have", () => {
    const kept: Canary[] = [];
    const text = canaryTexts(() => token, 4, kept);
    expect(text({ path: ["url"], format: undefined })).toBe(`https://${token}.example.com/page`);
    expect(text({ path: ["cc"], format: undefined })).toBe(`${token}@example.com`);
    expect(text({ path: ["path"], format: undefined })).toBe(`${token}.txt`);
    expect(text({ path: ["body"], format: undefined })).toBe(token);
    expect(text({ path: ["day"], format: "date" })).toBe("2026-03-14");
    expect(kept[0]).toEqual({ token, place: { kind: "argument", probe: 4, name: "url" } });
  });
});

describe("a plausible text", () => {
  it.each([
    [["to"], undefined, "dana@example.com"],
    [["filePath"], undefined, "notes.txt"],
    [["email_subject"], undefined, "Weekly summary"],
    [["recipients", "0"], undefined, "dana@example.com"],
    [["x"], "uuid", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    [["x"], "constructor", "example"],
    [[], undefined, "example"],
    [["zzz"], undefined, "example"],
  ] as const)("for %j with format %s is %s", (path, format, text) => {
    expect(plausibleText({ path, format })).toBe(text);
  });
});
