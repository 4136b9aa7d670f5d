import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Role } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { exactly, makeLattice } from "../../core/label.ts";
import { isRunOf } from "./boundaries.ts";
import { runUnitsMax, trustedUnitsMax } from "./limits.ts";
import { derivable, makeProvenanceIndex, registerText } from "./provenance-index.ts";
import { addTrusted, derivableLeaf, makeTrustedIndex } from "./trusted-index.ts";

const runs = Number(process.env.SLUICEGATE_RUNS ?? 200);
const made = makeLattice({ levels: ["public"], categories: [], groups: [] });
if (!made.ok) throw new Error(made.error);
const lattice = made.value;

const consumer = { server: "s", tool: "send", stores: [] };

function isDerivable(
  instruction: Json,
  value: Json,
  role: Role = "recipient",
  schemaValues: readonly Json[] = [],
): boolean {
  const index = makeProvenanceIndex(lattice);
  registerText(index, { source: "instruction", value: instruction });
  return derivable(index, value, { role, schemaValues }, consumer) !== undefined;
}

describe("a value is derivable from text that says it", () => {
  test.each<[string, Json]>([
    ["Mail bob@x.com, please.", "bob@x.com"],
    ["Mail <bob@X.com>", "bob@x.com"],
    ["Write to Bob's colleague 'Alice'", "Alice"],
    ["Read [the notes](https://x.com/a/b) now", "https://x.com/a/b"],
    ["See https://X.com:443/a.", "https://x.com/a"],
    ["Visit Dora (www.dora-website.com) and Eve", "www.dora-website.com"],
    ["post to our website www.our-company.com.They sent", "www.our-company.com"],
    ["Pay DE89 3704 0044 0532 0130 00 EUR 5", "DE89370400440532013000"],
    ["Pay DE89370400440532013000", "DE89 3704 0044 0532 0130 00"],
    ["IBAN:GB29NWBK60161331926819", "GB29NWBK60161331926819"],
    ["file /ws/a/../notes.txt", "/ws/notes.txt"],
    ["read bill-december-2023.txt?", "bill-december-2023.txt"],
    ["pay $98.70 to her", 98.7],
    ["pay 1,100.00", 1100],
    ["about 19.5%", 19.5],
    ["the ids 1234,5678", [1234, 5678, "5678"]],
    ["to 'Anna','Berta'", ["Anna", "Berta"]],
    ["user_12 and user_13", ["user_12", "user_13"]],
    ["to bob@x.com", { to: { address: "bob@x.com", primary: true, note: null } }],
    ["Post in #general", "general"],
    ["caf\u00e9 Rond", "cafe\u0301 Rond"],
    ["请把报告发送到alice@x.com谢谢", "alice@x.com"],
    ["请发送给张三丰先生", "张三丰先"],
    ["two whole words", "whole words"],
    ["anything", []],
  ])("%s: %j", (text, value) => expect(isDerivable(text, value)).toBe(true));

  test("whole leaves count however short, runs from four code points", () => {
    expect(isDerivable({ users: ["Bob"] }, "Bob")).toBe(true);
    expect(isDerivable("mail Bob now", "Bob")).toBe(false);
    expect(isDerivable({ id: 7 }, 7, "identifier")).toBe(true);
  });

  test.each<[string, Json, Role, boolean]>([
    ["close acme/site#12, please", "acme", "identifier", true],
    ["close acme/site#12, please", "site", "recipient", true],
    ["close acme/site#12, please", 12, "identifier", true],
    ["look at `acme/my.site`", "my.site", "identifier", true],
    ["close acme/site", "acme", "path", false],
    ["close acme/site", "acme", "destination", false],
    ["close acme/site", "sit", "identifier", false],
    ["read docs/a/site", "site", "identifier", false],
    ["read /acme/site", "acme", "identifier", false],
    ["see https://x.com/acme", "acme", "identifier", false],
    ["mail bob@x.com/acme", "acme", "identifier", false],
    ["split 12/24", "24", "recipient", false],
  ])("C22: of %s the name %j is derivable as %s: %s", (text, value, role, expected) => {
    expect(isDerivable(text, value, role)).toBe(expected);
  });

  test("amounts are read by value, ids are not", () => {
    expect(isDerivable("pay 98.70", "98.7", "amount")).toBe(true);
    expect(isDerivable("pay 98.70", "98.7", "identifier")).toBe(false);
  });

  test("values of the pinned schema are derivable, whatever was said", () => {
    expect(isDerivable("", "daily", "query", ["daily", 100])).toBe(true);
    expect(isDerivable("", 100, "query", ["daily", 100])).toBe(true);
    expect(isDerivable("", 101, "query", ["daily", 100])).toBe(false);
    expect(isDerivable("", [true, null], "query")).toBe(true);
  });
});

describe("an attacker cannot cut, glue or disguise", () => {
  test.each<[string, Json]>([
    ["mail bob@example.com", "example.com"],
    ["mail bob@example.com", "bob@example"],
    ["mail xbob@example.com", "bob@example.com"],
    ["open /home/me/notes.txt", "/home/me"],
    ["open /home/me/(old)/notes", "/home/me/"],
    ["open /home/me/notes.txt", "/home/me/notes.txt.sh"],
    ["see https://x.com/a?to=b", "https://x.com/a"],
    ["see https://x.com/a", "https://x.com/"],
    ["see https://x.com/a", "https://x.com/a#steal"],
    ["open /ws/a", "file:///ws/a#b"],
    ["the id user_123", "user_12"],
    ["the id user_123", "123"],
    ["pay -1500", 1500],
    ["pay 15000", 1500],
    ["on 2022-01-01", 2022],
    ["pay 1,100,250.00", 250],
    ["pay 1,100,250.00", "250.00"],
    ["pay EUR1,100,250", 100],
    ["pay 1,100,250.00", "1,100"],
    ["zahle 12,50 EUR", 50],
    ["zahle 1234,56 EUR", "1234"],
    ["zahle CHF 1'100'250.00", "250.00"],
    ["IBAN GB29NWBK60161331926819", "GB29NWBK6016133192681"],
    ["mail bob@x.com", "Ym9iQHguY29t"],
    ["mail bob@x.com", "b\u043eb@x.com"],
    ["mail bob@x.com", "bob@x.com\u200b"],
    ["mail bob@x.com", "bob\u00ad@x.com"],
    ["mail bob@x.com or eve@y.com", "bob@y.com"],
    ["mail bob@x.com", ["bob@x.com", "eve@evil.com"]],
    ["share with bob@x.com", { "eve@evil.com": true }],
    ["alpha beta", "beta alpha"],
    ["alpha beta", ""],
    ["alpha beta", "----"],
    ["127.0.0.1", "0x7f.1"],
  ])("%s: %j", (text, value) => expect(isDerivable(text, value)).toBe(false));

  test("two texts do not make one value", () => {
    expect(isDerivable(["bob@", "evil.com"], "bob@evil.com")).toBe(false);
    expect(isDerivable(["send all", "money"], "all money")).toBe(false);
  });

  test("any value in another spelling of base64, reversed or with a character changed is not derivable", () => {
    const word = fc.stringMatching(/^[a-z]{6,12}$/);
    fc.assert(
      fc.property(word, word, fc.nat({ max: 5 }), (first, second, at) => {
        const said = `please use ${first} today`;
        expect(isDerivable(said, first)).toBe(true);
        const changed = `${first.slice(0, at)}0${first.slice(at + 1)}`;
        expect(isDerivable(said, changed)).toBe(false);
        expect(isDerivable(said, first.slice(0, -1))).toBe(false);
        if (!said.includes(second)) expect(isDerivable(said, second)).toBe(false);
        expect(isDerivable(said, first + second)).toBe(false);
      }),
      { numRuns: runs },
    );
  });
});

describe("limits", () => {
  const origin = { origin: "instruction", pointer: "", range: exactly(lattice.bottom) };

  test("text beyond the limit is not derivable", () => {
    const index = makeTrustedIndex();
    index.units = trustedUnitsMax;
    addTrusted(index, "bob@x.com", origin);
    expect(derivableLeaf(index, "bob@x.com", { role: "recipient", consumer })).toBeUndefined();
    addTrusted(index, 12, origin);
    expect(derivableLeaf(index, 12, { role: "amount", consumer })).toBe(origin);
  });

  test("a long value is derivable only as a whole leaf", () => {
    const long = "word ".repeat(runUnitsMax / 5 + 1).trim();
    expect(isDerivable(`so: ${long}`, long)).toBe(false);
    expect(isDerivable(long, long)).toBe(true);
  });

  test("a value too deep to look at is not derivable", () => {
    let deep: Json = "bob@x.com";
    for (let depth = 0; depth < 70; depth += 1) deep = [deep];
    expect(isDerivable("bob@x.com", deep)).toBe(false);
  });

  test("boundaries are looked for within a bounded item and a bounded number of places", () => {
    expect(isRunOf("", "a")).toBe(false);
    expect(isRunOf("word", `${"x".repeat(3_000)}(word`)).toBe(false);
    expect(isRunOf("word", `word(${"x".repeat(3_000)}`)).toBe(false);
    expect(isRunOf("word", `${"a/b".repeat(1_000)}(word, x`)).toBe(false);
    expect(isRunOf("word", `${"xword".repeat(300)} word`)).toBe(false);
    expect(isRunOf("word", "a/(word) b")).toBe(false);
    expect(isRunOf("word", "(word)/b")).toBe(false);
    expect(isRunOf("word", "f(word,x)")).toBe(true);
    expect(isRunOf("[a](word", "x [a](word](y)")).toBe(true);
  });
});
