import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalKeys,
  canonicalValue,
  formsOf,
  type CanonicalForm,
  type CanonicalOptions,
} from "./canonical-value.ts";
import { canonicalTextUnitsMax, keysOfArgumentMax } from "./limits.ts";
import { isInside } from "./path.ts";
import { isPlain, normaliseText } from "./text.ts";

const runs = Number(process.env.SLUICEGATE_RUNS ?? 200);
const forms: readonly CanonicalForm[] = ["email", "domain", "path", "url", "iban", "id"];

const cases: readonly (readonly [CanonicalForm, string, string | undefined, CanonicalOptions?])[] = [
  ["email", " Bob@Example.COM ", "Bob@example.com"],
  ["email", "Bob@X.com", "bob@x.com", { foldLocalPart: true }],
  ["email", "bob@bücher.de", "bob@xn--bcher-kva.de"],
  ["email", "bob(comment)@x.com", undefined],
  ["email", "Bob <bob@x.com>", undefined],
  ["email", '"a b"@x.com', undefined],
  ["email", "a@b@x.com", undefined],
  ["email", "bo\u200Bb@x.com", undefined],
  ["email", "@x.com", undefined],
  ["email", "bob@", undefined],
  ["email", `${"a".repeat(65)}@x.com`, undefined],
  ["domain", "WWW.Example.com.", "www.example.com"],
  ["domain", "exa\u00ADmple.com", undefined],
  ["domain", "ｅxample.com", undefined],
  ["domain", "example。com", undefined],
  ["domain", "a..b", undefined],
  ["domain", "", undefined],
  ["domain", "127.0.0.1", "127.0.0.1"],
  ["domain", "0x7f.1", undefined],
  ["domain", "98.70", undefined],
  ["domain", `${"a".repeat(64)}.com`, undefined],
  ["domain", "999.1.1.1", undefined],
  ["url", "HTTPS://Example.COM:443/a/../b?q=1#part", "https://example.com/b?q=1"],
  ["url", "https://exa\tmple.com/", undefined],
  ["url", "https://exam\u00ADple.com/", undefined],
  ["url", "http:\\\\Example.com", "http://example.com/"],
  ["url", "www.example.com", undefined],
  ["url", "http://", undefined],
  ["url", "mailto:bob@x.com", "mailto:bob@x.com"],
  ["path", "/a//b/./c/../d/", "/a/b/d"],
  ["path", "/../etc", "/etc"],
  ["path", "../a/../../b", "../../b"],
  ["path", "a", "/home/me/a", { base: "/home/me" }],
  ["path", "../x", "/home/x", { base: "/home/me/" }],
  ["path", "x", undefined, { base: "" }],
  ["path", "~/notes/../../x", "~/../x"],
  ["path", "~", "~", { base: "/home/me" }],
  ["path", "./~", "./~"],
  ["path", "./C:/x", "./C:/x"],
  ["path", ".", "."],
  ["path", "/", "/"],
  ["path", "c:\\Users\\..\\x", "C:/x"],
  ["path", "\\\\host\\share\\x", "\\\\host/share/x"],
  ["path", "a\\..\\b", undefined],
  ["path", "a\u0000b", undefined],
  ["path", "file:///a%20b/%2E%2E/c", "/c"],
  ["path", "file:///C:/x", "C:/x"],
  ["path", "file:///a%2Fb", undefined],
  ["path", "file://host/a", undefined],
  ["path", "file:///a#b", undefined],
  ["path", "file:///a?b", undefined],
  ["path", "file:///%zz", undefined],
  ["path", "file:///a%00b", undefined],
  ["path", "", undefined],
  ["iban", "de89 3704 0044 0532 0130 00", "DE89370400440532013000"],
  ["iban", "DE88370400440532013000", undefined],
  ["iban", "GB29NWBK60161331926819", "GB29NWBK60161331926819"],
  ["iban", "DE8937040044053201３000", undefined],
  ["id", " user_12 ", " user_12 "],
  ["id", "", undefined],
];

describe("canonical forms", () => {
  for (const [form, text, canonical, options] of cases) {
    test(`${form} of ${JSON.stringify(text)} is ${canonical ?? "none"}`, () =>
      expect(canonicalValue(form, text, options)).toBe(canonical));
  }

  test("text beyond the limit has no form", () => {
    const long = "a".repeat(canonicalTextUnitsMax + 1);
    for (const form of forms) expect(canonicalValue(form, long)).toBeUndefined();
    expect(formsOf(long)).toEqual([]);
  });

  const pieces = fc.constantFrom(
    ...Array.from("aA1.@/\\~:#%_- \t\u0000\u200Bé"),
    "..",
    "://",
    "file:",
    "http:",
    "C:",
    "%2e",
    "e\u0301",
    "DE89",
    "ß",
    "İ",
    "Σ",
    "xn--",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join("")),
    fc.webUrl(),
    fc.emailAddress(),
  );

  test("canonicalising twice changes nothing more", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...forms), fc.boolean(), (text, form, foldLocalPart) => {
        const once = canonicalValue(form, text, { foldLocalPart });
        if (once !== undefined) expect(canonicalValue(form, once, { foldLocalPart })).toBe(once);
      }),
      { numRuns: runs * 5 },
    );
  });

  test("normalisation is idempotent and NFC", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(normaliseText(normaliseText(text))).toBe(normaliseText(text));
        expect(normaliseText(text)).toBe(normaliseText(text.normalize("NFD")));
      }),
      { numRuns: runs },
    );
  });

  test("unseen and compatibility characters are not plain, and are kept apart", () => {
    expect(isPlain("pay")).toBe(true);
    expect(isPlain("p\u200Bay")).toBe(false);
    expect(isPlain("ﬁ")).toBe(false);
    expect(normaliseText("pаy")).not.toBe(normaliseText("pay")); // the first has a Cyrillic letter
    expect(normaliseText("\uFEFFpay")).not.toBe("pay");
  });

  test("the time is linear in the text", () => {
    const hostile = `${" ".repeat(200_000)}x${" ".repeat(200_000)}`;
    expect(normaliseText(hostile)).toBe("x");
    for (const form of forms) canonicalValue(form, hostile);
  });
});

describe("keys of an argument", () => {
  test("a list is a set of keys, and one bad entry leaves none", () => {
    expect(canonicalKeys("email", ["a@X.com", "a@x.com", "b@x.com"])).toEqual(["a@x.com", "b@x.com"]);
    expect(canonicalKeys("email", ["a@x.com", "nobody"])).toBeUndefined();
    expect(canonicalKeys("email", ["a@x.com", null])).toBeUndefined();
    expect(canonicalKeys("email", [])).toBeUndefined();
    expect(canonicalKeys("id", undefined)).toBeUndefined();
    expect(canonicalKeys("id", [7, "e7", JSON.rawJSON("7.0")])).toEqual(["7", "e7"]);
    expect(canonicalKeys("email", 7)).toBeUndefined();
    expect(
      canonicalKeys(
        "id",
        Array.from({ length: keysOfArgumentMax + 1 }, () => "a"),
      ),
    ).toBeUndefined();
  });
});

test("regression: a list or an object that came as its text gives no keys: it is a way to spell any", () => {
  for (const text of ['["bob"]', '[ "bob", "eve" ]', '{"id": "bob"}', "[7]"]) {
    for (const form of forms) expect(canonicalKeys(form, text)).toBeUndefined();
    expect(canonicalKeys("id", ["eve", text])).toBeUndefined();
  }
  expect(canonicalKeys("id", "[bob]")).toEqual(["[bob]"]);
  expect(canonicalKeys("path", "app/[id].tsx")).toEqual(["app/[id].tsx"]);
});

describe("forms of a text", () => {
  test.each([
    ["bob@X.com", [{ form: "email", value: "bob@x.com" }]],
    ["www.X.com", [{ form: "domain", value: "www.x.com" }]],
    ["https://X.com", [{ form: "url", value: "https://x.com/" }]],
    ["/a/../b", [{ form: "path", value: "/b" }]],
    ["de89 3704 0044 0532 0130 00", [{ form: "iban", value: "DE89370400440532013000" }]],
    ["98.70", []],
    ["hello world", []],
  ])("%s", (text, expected) => expect(formsOf(text)).toEqual(expected));
});

test("a folder holds itself and what lies below it, not its namesakes", () => {
  expect(isInside("/ws", "/ws")).toBe(true);
  expect(isInside("/ws/a", "/ws")).toBe(true);
  expect(isInside("/a", "/")).toBe(true);
  expect(isInside("/wsx", "/ws")).toBe(false);
  expect(isInside("~/../x", "~")).toBe(false);
});
