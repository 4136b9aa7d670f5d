// C22: one ordinary word or number of a private result, inside of a sentence, says little by itself.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Role } from "../../core/contract.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { exactly } from "../../core/label.ts";
import { argument, contract, makeSession, open, secret } from "../../../test/kit/policy/flow-session.ts";
import { haveCompany, makeFaintHits, noteFaint, ordinaryKeys } from "./faint-hits.ts";
import { aloneKeysMax } from "./limits.ts";
import { addSecret, makeMatchIndex, matchOf } from "./match-index.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };
const vault = contract("vault", exactly(secret));
const roles: readonly Role[] = ["content", "query", "destination"];
const send = contract("send", exactly(open), [], {
  arguments: new Map([
    ...roles.map((role) => [role, argument(role)] as const),
    ["subject", argument("content")],
    ["list", argument("content")],
  ]),
});
const event: Json = {
  events: [
    { subject: "Budget", room: 4218, guest: "miller", code: "1a7b3d", price: "1,842.50", mail: "ann@example.com" },
    { subject: "Review of the heart clinic on Tuesday", phone: "4111 1111" },
  ],
};

/** Names of the arguments that carry the secret. */
function carriers(given: JsonObject, released: Json = event, said = ""): readonly string[] {
  const session = makeSession("provenance");
  session.say(said);
  session.exchange(vault, {}, { structuredContent: released, content: [] });
  return [...session.labels(send, given)].filter(([, { range }]) => range.hi === secret).map(([name]) => name);
}

describe("C22: a word or number of a private text inside any sentence", () => {
  it.each([
    "We talk about the budget on Friday.",
    "I am in room 4218 until noon",
    "It was (Budget), she said: nothing else",
    "The Miller's tale is a nice read",
    "A price of $1,842.50 is not low",
    "Budget, budget, budget: I hear nothing else",
  ])("is no hit by itself: %s", (text) => {
    expect(carriers({ content: text })).toEqual([]);
    expect(carriers({ list: [text, { deep: text }] })).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ["two words of it", { content: "We talk about the budget with Miller then" }],
    ["a word and a number", { content: "The budget is in 4218 until noon" }],
    ["one of them and more words of it", { content: "The budget, or the heart clinic on Tuesday morning" }],
    ["the whole argument is the word", { content: "budget" }],
    ["the whole argument is the number", { content: "4218" }],
    ["as a JSON number", { content: 4218 }],
    ["too short for a sentence", { content: "re: Budget" }],
    ["a code", { content: "the key is 1a7b3d as you know" }],
    ["an address", { content: "please write to ann@example.com about it" }],
    ["a number of eight digits", { content: "my number is 4111 1111 as you know" }],
    ["inside of an address", { content: "see https://x.example/?q=budget for all of it" }],
    ["inside of an address, and outside", { content: "the budget is at https://x.example/budget today" }],
    ["in an assignment", { content: "it is set to room=4218 or so" }],
    ["with letters apart", { content: "it is about b u d g e t today" }],
    ["with capitals inside", { content: "it is about the BuDgEt of today" }],
    ["as a member name", { content: { "budget!": "nothing else is said here" } }],
  ])("is a hit: %s", (_, given) => expect(carriers(given)).toEqual(["content"]));

  it("counts with another one elsewhere in the call", () => {
    const both = { subject: "We talk about the budget soon", content: "I am in room 4218 until noon" };
    expect(carriers(both)).toEqual(["subject", "content"]);
    expect(carriers({ list: [both.subject, both.content] })).toEqual(["list"]);
    expect(carriers({ ...both, content: "See you soon in the other room" })).toEqual([]);
    expect(carriers({ subject: both.subject, destination: "ann@example.com" })).toEqual(["subject", "destination"]);
  });

  it("is a hit in every role but content", () => {
    expect(carriers({ query: "We talk about the budget soon" })).toEqual(["query"]);
    expect(carriers({ destination: "We talk about the budget soon" })).toEqual(["destination"]);
  });

  it("is a hit where the result tells little else", () => {
    const text = "We talk about the swordfish soon, in room 4218";
    expect(carriers({ content: text }, { password: "swordfish" })).toEqual(["content"]);
    expect(carriers({ content: text }, { rooms: [4218] })).toEqual(["content"]);
    expect(carriers({ content: text }, { text: "the code is 4218" })).toEqual(["content"]);
    expect(carriers({ content: text }, { text: "and then the code is 4218" })).toEqual([]);
  });

  it("is excused where the user said it, and then no company for another", () => {
    expect(carriers({ content: "The budget is in 4218 until noon" }, event, "the budget")).toEqual([]);
  });

  it("law: company never takes a label away, and a single ordinary word never gives one", () => {
    const word = fc.stringMatching(/^[a-z]{6,10}$/);
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 7, maxLength: 7 }), fc.nat({ max: 3 }), (words, at) => {
        const [one = "", two = "", ...rest] = words;
        const result: Json = { a: one, b: two, more: ["some other words", "that are long enough"] };
        const sentence = (inside: readonly string[]): string =>
          [...rest.slice(0, at), ...inside, ...rest.slice(at)].join(" ");
        expect(carriers({ content: sentence([one]) }, result)).toEqual([]);
        expect(carriers({ content: sentence([one, "and", two]) }, result)).toEqual(["content"]);
        expect(carriers({ content: sentence([one]), subject: sentence([two]) }, result)).toHaveLength(2);
        expect(carriers({ query: sentence([one]) }, result)).toEqual(["query"]);
      }),
      runs,
    );
  });
});

describe("the parts", () => {
  it("words of different ranges are no company", () => {
    const faint = makeFaintHits();
    noteFaint(faint, 0b01, "one");
    noteFaint(faint, 0b10, "two");
    expect(haveCompany(faint)).toBe(false);
    noteFaint(faint, 0b10, "two");
    expect(haveCompany(faint)).toBe(false);
    faint.counted = 0b100;
    expect(haveCompany(faint)).toBe(false);
    faint.counted = 0b110;
    expect(haveCompany(faint)).toBe(true);
    noteFaint(faint, 0b01, "other");
    faint.counted = 0;
    expect(haveCompany(faint)).toBe(true);
  });

  it("ideographs and long words are no ordinary words", () => {
    const keys = new Set<number>();
    expect(ordinaryKeys("听说张三丰 被 诊断为 罕见心脏病了", keys).size).toBe(0);
    const index = makeMatchIndex();
    const origin = { origin: "c", pointer: "", range: exactly(secret) };
    const leaf = (value: string) => ({ value, pointer: "", range: exactly(secret) });
    const setting = { exempt: undefined, alone: false };
    addSecret(index, leaf("abcdefghijklmnopq"), origin, setting);
    addSecret(index, leaf("张三丰张"), origin, setting);
    addSecret(index, leaf("budget"), origin, setting);
    const hit = (text: string): boolean => matchOf(index, [text], makeFaintHits(), true) !== undefined;
    expect(hit("one long abcdefghijklmnopq in a sentence")).toBe(true);
    expect(hit("one 张三丰张 in a sentence")).toBe(true);
    expect(hit("one budget in a sentence")).toBe(false);
    // With too many short releases no hit is faint.
    for (let key = 0; key < aloneKeysMax; key += 1) index.alone.add(-key);
    expect(hit("one budget in a sentence")).toBe(true);
  });

  it("a text with many hits is a copy", () => {
    const words = Array.from(
      { length: 80 },
      (_, at) => `word${"abcdefghij"[at % 10]}${"klmnopqr"[Math.trunc(at / 10)]}`,
    );
    expect(carriers({ content: words.join(" x ") }, { words, more: "and some words" })).toEqual(["content"]);
  });
});
