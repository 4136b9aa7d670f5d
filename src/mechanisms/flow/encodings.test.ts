import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutEncodings } from "./encodings.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const said = "Operation Nightingale begins in Lisbon";

/** Anything, with many letters, so that long runs of symbols are met. */
const around = fc.string({ unit: fc.constantFrom(...Array.from("ab+/-_09. \n\\x%é=")) }).map((text) => `${text} `);
const printable = fc
  .string({ unit: "grapheme", minLength: 16, maxLength: 300 })
  .filter((text) => /^[^\p{C}\p{Z}\ufffd]+$/u.test(text));

describe("what is encoded", () => {
  it("law: is found wherever it stands, in each encoding, and once more encoded", () => {
    const encodings = fc.constantFrom(
      base64,
      (text: string) => base64(text).replaceAll("=", ""),
      (text: string) => Buffer.from(text).toString("base64url"),
      (text: string) => Buffer.from(text).toString("hex"),
      (text: string) => Buffer.from(text).toString("hex").toUpperCase(),
      (text: string) => Buffer.from(text).toString("hex").replace(/../g, "\\x$&"),
      (text: string) => base64(base64(text)),
    );
    fc.assert(
      fc.property(around, printable, encodings, around, (before, text, encode, after) => {
        expect(withoutEncodings(`${before}${encode(text)} ${after}`)).toContain(text);
      }),
    );
  });

  it("law: what has no long run of symbols and no escapes is left as it is", () => {
    const short = fc.string({ unit: fc.constantFrom(...Array.from("abcZ+/-_09")), maxLength: 15 });
    const texts = fc
      .array(fc.tuple(short, fc.constantFrom(...Array.from(" .,:\n{}\"'é"))))
      .map((parts) => parts.flat().join(""));
    fc.assert(fc.property(texts, (text) => withoutEncodings(text) === undefined));
  });

  it.each([
    ["an image", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72]).toString("base64")],
    ["a digest", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["bytes that are no text after the first", `${base64("a".repeat(60))}${base64("\u0000\u0001\u0002")}`],
    ["bytes that are no text at all", Buffer.from("80".repeat(20), "hex").toString("base64")],
    ["a long name", "getElementsByClassNameAndTagName"],
    ["odd digits", "4f7".repeat(7)],
  ])("is not %s", (_what, text) => {
    expect(withoutEncodings(`see ${text} there`)).toBeUndefined();
  });

  it("stands with blanks around it, in a path as well", () => {
    expect(withoutEncodings(`https://x.example/p/${base64(said).replaceAll("=", "")}/y`)).toBe(
      `https://x.example/p/ ${said} /y`,
    );
    expect(withoutEncodings(`${base64(said)}|${base64(said)}`)).toBe(` ${said} =| ${said} =`);
  });

  it("is text with a few bytes in it that are none", () => {
    const torn = Buffer.concat([
      Buffer.from(said.slice(0, 20)),
      Buffer.from([0xff]),
      Buffer.from(said.slice(20)),
      Buffer.from([0xc3]),
    ]);
    expect(withoutEncodings(torn.toString("base64"))).toContain(said.slice(20));
  });

  it("is undone twice and no more", () => {
    const [once, twice, thrice] = [base64(said), base64(base64(said)), base64(base64(base64(said)))];
    expect(withoutEncodings(twice)).toContain(said);
    expect(withoutEncodings(thrice)).toContain(once.replaceAll("=", ""));
    expect(withoutEncodings(thrice)).not.toContain(said);
  });
});
