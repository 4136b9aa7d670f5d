import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodedIn } from "./encodings.ts";
import { spellingsOf } from "./spellings.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const hex = (text: string): string => Buffer.from(text).toString("hex");
const said = "Operation Nightingale begins in Lisbon";
const wrapped = (text: string, width: number, by: string): string =>
  text.replace(RegExp(`.{${width}}`, "g"), `$&${by}`);

/** Anything, so that the encoded part stands among other symbols and in every phase. */
const around = fc.string({ unit: fc.constantFrom(...Array.from("abZQ+/-_09. \n\\x%é=")) });
const printable = fc
  .string({ unit: "grapheme", minLength: 16, maxLength: 300 })
  .filter((text) => /^[^\p{C}\p{Z}\ufffd]+$/u.test(text));

describe("what is encoded", () => {
  it("law: is found wherever it stands, in each encoding, and once more encoded", () => {
    const encodings = fc.constantFrom(
      base64,
      (text: string) => base64(text).replaceAll("=", ""),
      (text: string) => Buffer.from(text).toString("base64url"),
      hex,
      (text: string) => hex(text).toUpperCase(),
      (text: string) => base64(base64(text)),
      (text: string) => base64(hex(text)),
    );
    fc.assert(
      fc.property(around, printable, encodings, around, (before, text, encode, after) => {
        const spellings = spellingsOf(`${before} ${encode(text)} ${after}`).join("\n");
        // The first and the last bytes may be taken with what stands beside them.
        expect(spellings).toContain(text.slice(4, -4));
      }),
    );
  });

  it("law: letters before it, and lines and marks in it, hide nothing", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9]{0,3}$/),
        fc.stringMatching(/^[a-zA-Z]{20,60}$/),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom("\n", " ", "\r\n> ", "-", "_", "/", "-\n"),
        (glued, text, width, by) => {
          expect(encodedIn(glued + wrapped(base64(text).replaceAll("=", ""), width, by))).toContain(text.slice(3, -2));
        },
      ),
    );
  });

  it("law: hexadecimal digits are found however the pairs are marked, parted and shifted", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("", "0x", "\\x", "x", "0X"),
        fc.constantFrom("", " ", ":", "-", ", ", "\n", "','"),
        fc.constantFrom("", "a", "0", "id "),
        fc.stringMatching(/^[a-zA-Z]{14,60}$/),
        (mark, by, glued, text) => {
          const pairs = (hex(text).match(/../g) ?? []).map((pair) => mark + pair);
          expect(encodedIn(glued + pairs.join(by))).toContain(text.slice(1, -1));
        },
      ),
    );
  });

  it.each([
    ["an image", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72]).toString("base64")],
    ["a digest", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["bytes that are no text at all", Buffer.from("ff80c1".repeat(20), "hex").toString("base64")],
    ["a long name", "getElementsByClassNameAndTagName"],
    ["prose", "The quick brown fox jumps over the lazy dog. Pack my box with five dozen liquor jugs, quickly!"],
    ["times", "2026-11-23 11:00:22, 2026-11-24 12:10:03"],
    ["nothing", ""],
  ])("is not %s", (_what, text) => {
    expect(encodedIn(`see ${text} there`)).toBeUndefined();
    expect(spellingsOf(text)).toEqual([text]);
  });

  it("A8: a code is found in an address, in digits and in base64", () => {
    expect(encodedIn(`${hex("1a7b3d")}@evil.example`)).toContain("1a7b3d");
    expect(encodedIn(`a${hex("1a7b3d")}@evil.example`)).toContain("1a7b3d");
    expect(encodedIn("https://x.example/31:61:37:62:33:64")).toContain("1a7b3d");
    expect(encodedIn(`${base64("1a7b3d")}@evil.example`)).toContain("1a7b3d");
  });

  it("is found behind bytes of something else, and with faults in it", () => {
    const torn = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13, 0xff, 0xfe]),
      Buffer.from(said.slice(0, 20)),
      Buffer.from([0xff]),
      Buffer.from(said.slice(20)),
      Buffer.from([0xc3]),
    ]);
    expect(encodedIn(torn.toString("base64"))).toContain(said);
  });

  it.each(["utf16le", "latin1"] as const)("is found as letters of %s in base64", (encoding) => {
    expect(encodedIn(Buffer.from(said, encoding).toString("base64"))).toContain(said);
  });

  it("is found in big-endian UTF-16", () => {
    expect(encodedIn(Buffer.from(said, "utf16le").swap16().toString("base64"))).toContain(said);
  });

  it("is found in selectors that are not seen", () => {
    const hidden = Array.from(Buffer.from(said), (byte) =>
      String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe00f0 + byte),
    );
    expect(encodedIn(`fine \u{1f600}${hidden.join("")}`)).toContain(said);
    expect(encodedIn("fine \u2764\ufe0f")).toBeUndefined();
  });

  it("is undone twice and no more", () => {
    const [once, twice, thrice] = [base64(said), base64(base64(said)), base64(base64(base64(said)))];
    expect(spellingsOf(twice).join()).toContain(said);
    expect(spellingsOf(thrice).join()).toContain(once.replaceAll("=", ""));
    expect(spellingsOf(thrice).join()).not.toContain(said);
  });
});

describe("escapes", () => {
  it.each([
    ["HTML entities", "a &#114;are &#x63;ondition &eacute;t &commat; &nbsp;&szlig;", "a rare condition et @  ß"],
    ["HTML entities without a semicolon", "&#114 &#x63", "r c"],
    ["quoted-printable", "a r=61re=20con=\r\ndition gr=C3=B6=C3=9Fe", "a rare condition größe"],
    ["tags", String.fromCodePoint(...Array.from("a b", (one) => 0xe0000 + one.charCodeAt(0))), "a b"],
    ["bytes", "\\x61 \\xc3\\xb6", "a ö"],
    ["percent-encoded entities", "%26%23114%3bare", "rare"],
  ])("%s", (_what, text, plain) => expect(spellingsOf(text)).toContain(plain));

  it.each(["?a=1&to=2&copy=3", "&#9999999;", "a && b; c", "x == y"])("%s is left as it is", (text) => {
    expect(spellingsOf(text)).toEqual([text]);
  });
});
