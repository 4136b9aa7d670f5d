import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { categoryLabel, exactly, join, makeLattice, withTrust, type Label, type LabelRange } from "../../core/label.ts";
import { addKey, makeKeyTable, maskOf, sourceOf } from "./key-table.ts";
import { argumentUnitsMax, rangesMax, resultUnitsMax, tableKeysMax } from "./limits.ts";
import { addSecret, makeMatchIndex, matchOf } from "./match-index.ts";
import { makeProvenanceIndex, matches, registerText, releaseValue, type ProvenanceIndex } from "./provenance-index.ts";

const runs = Number(process.env.SLUICEGATE_RUNS ?? 200);
const made = makeLattice({ levels: ["public"], categories: ["medical", "finance", "legal"], groups: [] });
if (!made.ok) throw new Error(made.error);
const lattice = made.value;
const medical = categoryLabel(lattice, "medical") ?? lattice.top;
const finance = categoryLabel(lattice, "finance") ?? lattice.top;

function release(index: ProvenanceIndex, value: Json, label: Label | LabelRange = medical, fields = {}): void {
  const range = typeof label === "number" ? exactly(label) : label;
  const declared = Object.entries(fields).map(([pointer, own]) => ({ pointer, range: exactly(own as Label) }));
  const call = { call: "c1", server: "clinic", tool: "read" };
  releaseValue(index, { at: 0, kind: "released", ...call, how: "pass", label: range, fields: declared, value });
}

function labelOf(released: Json, argument: Json, instruction = ""): number {
  const index = makeProvenanceIndex(lattice);
  registerText(index, { source: "instruction", value: instruction });
  release(index, { content: [{ type: "text", text: released }] });
  return matches(index, argument)?.range.hi ?? lattice.bottom;
}

const report =
  "The patient John Miller, born 1971-03-02, suffers from a rare condition of the heart and takes 40 mg of it.";

/** An excerpt of the report in the letters that begin at this code point. */
function inDress(a: number): string {
  return "a rare condition of the heart".replace(/[a-z]/g, (letter) =>
    String.fromCodePoint(letter.charCodeAt(0) - 97 + a),
  );
}

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");

describe("an argument carries the label of what it is or contains", () => {
  test.each<[string, Json, Json]>([
    ["the whole text", report, report],
    ["an excerpt in a body", report, `Hello! ${report.slice(40, 90)} Bye.`],
    ["an excerpt in another case and spacing", report, "SUFFERS   FROM A\nRARE CONDITION of the"],
    [
      "an excerpt with JSON escapes",
      'say "a rare\ncondition of the heart"',
      '{\\"x\\": \\"a rare\\ncondition of the heart\\"}',
    ],
    ["an excerpt in a URL", report, "https://evil.com/?q=a%20rare%20condition%20of%20the%20heart"],
    [
      "an excerpt with Unicode escapes",
      'say "a rare condition of the heart"',
      "\\u0061 rare condition \\u006ff the heart",
    ],
    ["an excerpt beside bad percent-encoding", report, "%ff%fe a rare condition of the heart"],
    ["an excerpt with a backslash of its own", report, "C:\\q a rare condition\\\\of the heart"],
    ["an excerpt that is encoded twice", report, "?next=a%2520rare%2520condition%2520of%2520the%2520heart"],
    [
      "an excerpt whose blanks share a run with a bad byte",
      "a rare größe of the heart",
      "a%20rare%20gr%F6%DFe of the heart",
    ],
    [
      "an excerpt as JSON text in JSON text",
      "a rare condition\nof the heart",
      '"{\\"x\\": \\"a rare condition\\\\nof the heart',
    ],
    ["all of it in base64", report, `see ${Buffer.from(report).toString("base64")}.`],
    ["an excerpt in base64 for URLs", report, `?q=${Buffer.from(report.slice(40, 90)).toString("base64url")}&x=1`],
    [
      "an excerpt in base64, encoded again",
      report,
      Buffer.from(Buffer.from(report.slice(40, 90)).toString("base64")).toString("base64"),
    ],
    [
      "an excerpt in base64 in a path",
      report,
      `https://x.example/p/${btoa(report.slice(40, 90)).replaceAll("=", "")}/y`,
    ],
    ["an excerpt in hexadecimal digits", report, Buffer.from(report.slice(40, 90)).toString("hex")],
    ["an excerpt in escapes of bytes", report, report.slice(40, 90).replace(/./gs, (one) => `\\x${hex(one)}`)],
    ["an excerpt in base64 in short lines", report, btoa(report.slice(40, 90)).replace(/.{10}/g, "$&\n")],
    ["an excerpt in base64 behind a letter", report, `k${btoa(report.slice(40, 90))}`],
    ["an excerpt in base64 of UTF-16", report, Buffer.from(report.slice(40, 90), "utf16le").toString("base64")],
    ["an excerpt in digits with a prefix", report, `0x${Buffer.from(report.slice(40, 90)).toString("hex")}`],
    ["an excerpt in parted digits", report, report.slice(40, 90).replace(/./gs, (one) => `${hex(one)}:`)],
    ["an excerpt in HTML entities", report, report.slice(40, 90).replace(/./gs, (one) => `&#${one.charCodeAt(0)};`)],
    ["an excerpt in quoted-printable", report, report.slice(40, 90).replace(/[^o]/gs, (one) => `=${hex(one)}`)],
    ["an excerpt in tags", report, inDress(0xe0061).replaceAll(" ", "\u{e0020}")],
    ["an excerpt with marks on its letters", report, "a rare condition of the heart".replace(/\w/g, "$&\u0336\u0301")],
    ["a code in digits inside of an address", "Secret key is 1a7b3d.", "316137623364@evil.com"],
    ["a text that came in base64, as blobs of resources do", Buffer.from(report).toString("base64"), report],
    ["an excerpt in full-width letters", report, inDress(0xff41)],
    ["an excerpt in bold letters", report, inDress(0x1d41a)],
    ["an excerpt with invisible marks", report, "a rare condition of the heart".replace(/./g, "$&\ufe0f\u034f\u200b")],
    ["capitals of another language", "Die Straße ist größer als Weißensee", "DIE STRASSE IST GRÖSSER ALS WEISSENSEE"],
    ["capitals with one lower case for two", "ο μεγάλος πόλεμος των κόσμων", "Ο ΜΕΓΆΛΟΣΠΌΛΕΜΟΣ ΤΩΝ ΚΌΣΜΩΝ"],
    ["a ligature", "the ﬁnal oﬃce of the commander", "the final office of the commander"],
    ["a short run of its words", report, "John Miller"],
    ["one word of it", report, "condition"],
    ["a date in it", report, "born on 1971-03-02, they say"],
    ["a code in it", "Secret key is 1a7b3d.", "the key: 1a7b3d!"],
    ["an address in it", "ask bob@x.com about it", "cc: BOB@x.com"],
    ["a number by value", "the balance is 1842.50 now", 1842.5],
    ["a number in a text", "the balance is 1842.50 now", "I have 1,842.5 left"],
    ["a number in a list", report.replace("40", "4012"), ["a", { deep: [4012] }]],
    ["a member name", report, { "John Miller": true }],
    ["a card number in groups", "card 4111 1111 1111 1111", "4111111111111111"],
    ["ideographs", "患者张三丰被诊断为罕见心脏病", "听说张三丰被诊断为罕见心脏病了"],
  ])("%s", (_, released, argument) => expect(labelOf(released, argument)).toBe(medical));

  test.each<[string, Json, Json]>([
    ["nothing in common", report, "See you at noon"],
    ["a few words", report, "the heart of the matter is born from"],
    ["a year or a small number", "in 2022 there were 12", "in 2022 and 12 more"],
    ["a count", "12 items", 12],
    ["a state in lower case", "open", "please open the door"],
  ])("not: %s", (_, released, argument) => expect(labelOf(released, argument)).toBe(lattice.bottom));

  test.each<[string, string]>([
    ["ok s11-0", "s1-10"],
    ["ok s1-12", "s11-2"],
    ["move a1 b", "a 1b"],
    ["row 12 3 done", "1 23"],
    ["the rest room is here", "there stroom"],
  ])("C22: a similar name is another name: %s, %s", (released, argument) => {
    expect(labelOf(released, argument)).toBe(lattice.bottom);
    expect(labelOf(released, released.split(" ").slice(1).join(" "))).toBe(medical);
  });

  test("C22: of 400 ordinary names after results none is taken for a copy of another", () => {
    const index = makeProvenanceIndex(lattice);
    for (let at = 0; at < 20; at += 1) {
      expect(Array.from({ length: 20 }, (_, other) => matches(index, `s${at}-${other}`)).filter(Boolean)).toEqual([]);
      for (let other = 0; other < 20; other += 1)
        release(index, { content: [{ type: "text", text: `ok s${at}-${other}` }] });
    }
  });

  test("a short leaf is found inside an argument, a name by its capital", () => {
    const index = makeProvenanceIndex(lattice);
    release(index, { title: "Lunch", state: "done", ward: "oncology" });
    expect(matches(index, "see you at lunch")?.range.hi).toBe(medical);
    expect(matches(index, "the oncology people")?.range.hi).toBe(medical);
    expect(matches(index, "it is done")).toBeUndefined();
  });

  test("what the person said excuses the same words, and nothing beyond them", () => {
    expect(labelOf(report, "John Miller", "Ask John Miller for a date")).toBe(lattice.bottom);
    expect(labelOf(report, "suffers from a rare condition of", "Ask John Miller")).toBe(medical);
    expect(labelOf("Secret key is 1a7b3d.", "1a7b3d", "use 1a7b3d")).toBe(lattice.bottom);
  });
});

describe("codes and numbers are recognised wherever they stand", () => {
  const card = 4111222233334444;
  test.each<[string, Json, Json]>([
    ["a code in a query", "The key is 1a7b3d.", "https://evil.com/?k=1a7b3d&x=1"],
    ["a code in a path", "The key is 1a7b3d.", "https://evil.com/a/1a7b3d/b"],
    ["a code in a host name", "The key is 1a7b3d.", "https://1a7b3d.evil.com"],
    ["a code of several words in a query", "The key is K7X-abc-d.", "https://evil.com/?k=K7X-abc-d"],
    ["an address in a query", "ask bob@mail.example about it", "https://evil.com/?k=bob@mail.example"],
    ["a code that was assigned", "API_KEY=1a7b3d", "it says 1a7b3d, I think"],
    ["a code in a path that was read", "see /keys/1a7b3d/live", "it says 1a7b3d, I think"],
    ["a number in a query", { card }, "https://evil.com/?q=4111222233334444"],
    ["a number in groups", { card }, "my card: 4111-2222 3333-4444"],
    ["a number glued to letters", { card }, "no4111222233334444x"],
    ["a number that was written in groups", "card 4111-2222-3333-4444", card],
    ["a number that was assigned", "pay=84250;", 84250],
    ["a number with its currency", "pays 084250EUR", { pay: 84250 }],
    ["thousands in the way of the country", { pay: 84250 }, "about 84.250 or 84'250"],
    ["a decimal comma", { pay: 1842.5 }, "about 1.842,50 EUR"],
    ["a decimal in a query", { at: 48.137154 }, "https://maps.example/?ll=48.137154,11.5"],
    ["a short secret with blanks between its letters", { password: "Swordfish" }, "it is S w o r d f i s h"],
  ])("%s", (_, released, argument) => {
    const index = makeProvenanceIndex(lattice);
    release(index, released);
    expect(matches(index, argument)?.range.hi).toBe(medical);
  });

  test("a number is found whatever is written before, after and between its digits", () => {
    const marks = fc.constantFrom("", " ", "-", ".", ",", "'", "/", "%20");
    const around = fc.constantFrom("", " ", "=", "/", "x", "_", "(", "https://evil.com/?q=");
    fc.assert(
      fc.property(fc.integer({ min: 1e8, max: 1e14 }), marks, around, around, (start, mark, before, after) => {
        const number = start * 10 + 7; // a round number says too little
        const digits = String(number);
        const written = `${before}${digits.slice(0, -6)}${mark}${digits.slice(-6, -3)}${mark}${digits.slice(-3)}${after}`;
        for (const [released, argument] of [
          [{ number }, written],
          [{ text: written }, number],
        ]) {
          const index = makeProvenanceIndex(lattice);
          release(index, released ?? null);
          expect(matches(index, argument ?? null)?.range.hi).toBe(medical);
        }
      }),
      { numRuns: runs },
    );
  });
});

describe("three values are kept apart (formal.md example 10)", () => {
  const index = makeProvenanceIndex(lattice);
  release(index, { note: "hypertension since childhood" }, medical);
  release(index, { note: "mortgage of the summer house" }, finance);
  release(index, { note: "weather in the mountains" }, lattice.bottom);
  test.each<[string, number]>([
    ["weather in the mountains", lattice.bottom],
    ["hypertension since childhood", medical],
    ["mortgage of the summer house", finance],
    ["hypertension since childhood; mortgage of the summer house", join(medical, finance)],
  ])("%s", (argument, label) => expect(matches(index, argument)?.range.hi ?? lattice.bottom).toBe(label));

  test("the path names the call and the place", () => {
    const [origin] = matches(index, "hypertension since childhood")?.origins ?? [];
    expect(origin).toMatchObject({ origin: "c1", server: "clinic", tool: "read", pointer: "/note" });
  });
});

describe("fields", () => {
  test("text beside the structured result does not undo the labels of its fields", () => {
    const index = makeProvenanceIndex(lattice);
    const structuredContent = { id: "case-4471", name: "John Miller" };
    const text = "id: case-4471\nname: John Miller\nfinding: arrhythmia";
    release(index, { structuredContent, content: [{ type: "text", text }] }, medical, { "/id": lattice.bottom });
    expect(matches(index, "case-4471")).toBeUndefined();
    expect(matches(index, "John Miller")?.range.hi).toBe(medical);
    expect(matches(index, "arrhythmia")?.range.hi).toBe(medical);
  });
});

describe("what cannot be indexed labels everything", () => {
  test("a result beyond the limit", () => {
    const index = makeProvenanceIndex(lattice);
    release(index, "x".repeat(resultUnitsMax + 1), exactly(withTrust(lattice, finance, "untrusted")));
    expect(matches(index, "unrelated")?.range.hi).toBe(finance);
    release(index, "y".repeat(resultUnitsMax + 1), lattice.bottom);
    expect(matches(index, "unrelated")?.range.hi).toBe(finance);
    release(index, "z".repeat(resultUnitsMax + 1), medical, { "/a": finance });
    expect(matches(index, "unrelated")?.range.hi).toBe(join(medical, finance));
  });

  test("a result whose names are beyond the limit", () => {
    const index = makeProvenanceIndex(lattice);
    release(index, { ["a b".repeat(resultUnitsMax / 2)]: 1 });
    expect(matches(index, "unrelated")?.range.hi).toBe(medical);
  });

  test("a result or an argument that is too deep", () => {
    let deep: Json = "bottom";
    for (let depth = 0; depth < 70; depth += 1) deep = { deep };
    const index = makeProvenanceIndex(lattice);
    expect(matches(index, deep)).toBeUndefined();
    release(index, "hypertension", medical);
    expect(matches(index, deep)?.range.hi).toBe(medical);
    release(index, deep, finance);
    expect(matches(index, deep)?.range.hi).toBe(join(medical, finance));
    expect(matches(index, "unrelated")?.range.hi).toBe(finance);
  });

  test("an argument beyond the limit carries all", () => {
    const index = makeProvenanceIndex(lattice);
    release(index, "hypertension", medical);
    expect(matches(index, "q".repeat(argumentUnitsMax + 1))?.range.hi).toBe(medical);
  });

  test("a full table", () => {
    const index = makeMatchIndex();
    index.table.count = tableKeysMax;
    const origin = { origin: "c1", pointer: "", range: exactly(medical) };
    addSecret(index, { value: "hypertension", pointer: "", range: exactly(medical) }, origin, {
      exempt: undefined,
      alone: false,
    });
    expect(matchOf(index, ["unrelated"])?.range.hi).toBe(medical);
  });

  test("more label ranges than bits: the last takes the join, and its lower end only falls", () => {
    const index = makeMatchIndex();
    for (let number = 0; number <= rangesMax; number += 1) {
      const range = { lo: lattice.bottom, hi: (number < rangesMax ? number : 64) as Label };
      const origin = { origin: `c${number}`, pointer: "", range };
      addSecret(index, { value: `Value${number}`, pointer: "", range }, origin, { exempt: undefined, alone: false });
    }
    expect(index.ranges).toHaveLength(rangesMax);
    expect(index.ranges.at(-1)?.range.hi).toBe((rangesMax - 1) | 64);
  });
});

test("any excerpt of 23 letters or more is found, wherever it is cut and put", () => {
  const word = fc.stringMatching(/^[a-z]{2,9}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 12, maxLength: 60 }), fc.nat(), word, (words, seed, other) => {
      const letters = words.join("");
      const from = seed % Math.max(1, letters.length - 23);
      const excerpt = letters.slice(from, from + 23);
      const index = makeProvenanceIndex(lattice);
      release(index, words.join(" "));
      if (excerpt.length === 23) expect(matches(index, `${other} ${excerpt} ${other}`)?.range.hi).toBe(medical);
    }),
    { numRuns: runs },
  );
});

test("folding the releases again gives the same answers", () => {
  const text = fc.array(fc.constantFrom("Lunch", "at", "1a7b3d", "noon", "with", "Miller", "4012"), { maxLength: 9 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), text, (released, argument) => {
      const stepwise = makeProvenanceIndex(lattice);
      const atOnce = makeProvenanceIndex(lattice);
      released.forEach((words, index) => {
        release(stepwise, words.join(" "), index % 2 === 0 ? medical : finance);
        matches(stepwise, words.join(" "));
        release(atOnce, words.join(" "), index % 2 === 0 ? medical : finance);
      });
      expect(matches(stepwise, argument.join(" "))).toEqual(matches(atOnce, argument.join(" ")));
    }),
    { numRuns: runs },
  );
});

test("the key table grows and loses nothing", () => {
  const table = makeKeyTable();
  for (let key = -5_000; key < 5_000; key += 1) addKey(table, key * 31, 1 << (key & 15), key + 5_000);
  expect(table.count).toBe(10_000);
  for (let key = -5_000; key < 5_000; key += 1) {
    expect(maskOf(table, key * 31)).toBe(1 << (key & 15));
    expect(sourceOf(table, key * 31)).toBe(key + 5_000);
  }
});

test("the key table agrees with a map", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: -3_000, max: 3_000 }), fc.nat({ max: 30 })), { maxLength: 3_000 }),
      (entries) => {
        const table = makeKeyTable();
        const map = new Map<number, { mask: number; source: number }>();
        entries.forEach(([key, bit], source) => {
          expect(addKey(table, key, 1 << bit, source)).toBe(true);
          const known = map.get(key);
          map.set(key, { mask: (known?.mask ?? 0) | (1 << bit), source: known?.source ?? source });
        });
        for (const [key, { mask, source }] of map) {
          expect(maskOf(table, key)).toBe(mask);
          expect(sourceOf(table, key)).toBe(source);
        }
        expect(maskOf(table, 9_999)).toBe(0);
      },
    ),
    { numRuns: Math.ceil(runs / 10) },
  );
});
