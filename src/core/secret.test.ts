import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../test/kit/policy/cpu-time.ts";
import type { Json } from "./json.ts";
import { hasSecret, maskSecrets, maySecret } from "./secret.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const digest = (text: string): string => `D${text.length}`;
const mask = (value: Json): Json => maskSecrets(value, digest).value;

// Assembled here, so that no scanner takes this file for a leak.
const token = `gh${"p"}_${"a1B2".repeat(9)}`;
const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "c2lnbmF0dXJl"].join(".");
const keyBlock = `-----BEGIN RSA ${"PRIVATE"} KEY-----\nMIIabc\n-----END RSA ${"PRIVATE"} KEY-----`;

describe("secrets", () => {
  it.each([
    ["a token", token, "[secret token D40]"],
    ["an AWS key id in a sentence", `use AKIA${"A2".repeat(8)} please`, "use [secret token D20] please"],
    ["a JWT", `got ${jwt}`, `got [secret jwt D${jwt.length}]`],
    ["a key block", `a ${keyBlock} b`, `a [secret private-key D${keyBlock.length}] b`],
    ["a key block without end", `-----BEGIN ${"PRIVATE"} KEY-----\nMII`, "[secret private-key D31]"],
    ["a password assignment", "password=hunter2&x=1", "password=[secret password D7]&x=1"],
    ["a quoted assignment", `"pwd": "s3cr3t!"`, `"pwd": "[secret password D7]"`],
    ["a random value behind a telling name", "api_key: 9f8e7d6c5b4a39281706", "api_key: [secret credential D20]"],
    ["a bearer header", "Bearer 9f8e7d6c5b4a39281706", "Bearer [secret credential D20]"],
    ["a password in a URL", "postgres://ann:pa55w@host/db", "postgres://ann:[secret password D5]@host/db"],
  ])("replaces %s", (_name, text, masked) => {
    expect(maySecret(JSON.stringify(text))).toBe(true);
    expect(mask(text)).toBe(masked);
  });

  it.each([
    "the token is required; a secret meeting at noon",
    "token=none",
    "see https://example.org/a?b=c",
    "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
    "basic understanding of passwords",
    "a sk-",
  ])("leaves %j alone", (text) => {
    expect(mask(text)).toBe(text);
  });

  it("replaces members with telling names, in depth and in names", () => {
    const found = maskSecrets(
      {
        password: "hunter2",
        list: [1, null, { client_secret: "9f8e7d6c5b4a39281706", token: "short", authorization: "none" }],
        [token]: JSON.rawJSON("1.0"),
        pwd: "abc",
      },
      digest,
    );
    expect(JSON.stringify(found.value)).toBe(
      '{"password":"[secret password D7]",' +
        '"list":[1,null,{"client_secret":"[secret credential D20]","token":"short","authorization":"none"}],' +
        '"[secret token D40]":1.0,"pwd":"abc"}',
    );
    expect(found.found.map((one) => one.kind)).toEqual(["password", "credential", "token"]);
  });

  it("looks only where the first pass fires: nothing is replaced in what it lets through", () => {
    const piece = fc.constantFrom(
      token,
      jwt,
      keyBlock,
      "password=",
      "hunter2x",
      " ",
      "token: ",
      "Bearer ",
      "://u:",
      "@",
    );
    const text = fc.array(fc.oneof(piece, fc.string())).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (sample) => {
        if (!maySecret(JSON.stringify(sample))) expect(mask(sample)).toBe(sample);
        else expect(mask(mask(sample))).toBe(mask(sample));
      }),
      { numRuns: runs },
    );
  });

  it("keeps every other value as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = value as Json; // fast-check's JSON is ours without raw numbers
        if (!maySecret(JSON.stringify(json))) expect(mask(json)).toEqual(json);
      }),
      { numRuns: runs },
    );
  });

  it.each(["-----BEGIN ", `-----BEGIN ${"PRIVATE"} KEY-----`, "password=", "eyJ", "eyJ.", "://a:", "sk-", "Bearer "])(
    "takes linear time on a megabyte of %j",
    (piece) => {
      const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
      expect(cpuMsOf(() => mask(text))).toBeLessThan(4_000);
    },
  );
});

it("says of a text that it is not to be repeated", () => {
  expect(hasSecret("sk-proj-4f9aB2cD8eF1gH7iJ3kL6mN0pQ5rS9tU")).toBe(true);
  for (const plain of ["auth.example.com", "~/keys/notes.md", "token"]) expect(hasSecret(plain), plain).toBe(false);
});

describe("telling words", () => {
  /** The same words, said plainly. */
  const plain =
    /akia|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|aiza|ya29\.|sk-|k_live_|npm_|hf_|sg\.|eyj|passw|passp|pwd|(?:api|access|secret|private)[_-]?key|secret|token|credent|bearer|basic|authoriz|:\/\//;
  const pieces = (
    "----- -----begi begin n akia as ia gh p_ o github_pat _ glpat - xox b- xap p- aiz a ya29 . s k- k_live np m_ hf sg " +
    "ey j pass w p pwd api key access private secre t oken tok en credent bear er basi c authori z : / // é \u212a \0"
  ).split(" ");

  it("are found exactly where they stand, however they overlap and are spelt", () => {
    const piece = fc
      .tuple(fc.constantFrom(...pieces), fc.boolean())
      .map(([text, loud]) => (loud ? text.toUpperCase() : text));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        expect(maySecret(text)).toBe(plain.test(text.toLowerCase()) || /-----BEGIN|ASIA/.test(text));
      }),
      { numRuns: runs * 20 },
    );
  });
});
