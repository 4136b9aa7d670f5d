import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ShortlistedTool, scoresOf, shortlist, wordsOf } from "./shortlist.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
type StayingTool = ShortlistedTool & { readonly stays?: boolean };
const stays = (one: StayingTool): boolean => one.stays === true;
const tool = (name: string, description = "", more: Partial<StayingTool> = {}): StayingTool => ({
  name,
  description,
  bytes: 100,
  ...more,
});
const office = [
  tool("send_email", "Sends the message to the recipients"),
  tool("list_events", "Lists the events of a calendar"),
  tool("readFile", "Reads the contents of a file"),
  tool("git_push", "Pushes the branch to the remote"),
];
const names = (given: readonly ShortlistedTool[], shown: ReadonlySet<number>): readonly string[] =>
  [...shown].map((index) => given[index]?.name ?? "?");

describe("ranking", () => {
  it("finds the tools that the instruction speaks of, by name before description", () => {
    const found = shortlist(["Please email me the calendar events of the week"], office, 2);
    expect(names(office, found.shown)).toEqual(["send_email", "list_events"]);
    expect(found.tokensSaved).toBe(50);
  });

  it("reads words of one stem, of camel case and of other scripts", () => {
    expect(names(office, shortlist(["which FILES are new?"], office, 1).shown)).toEqual(["readFile"]);
    const other = [tool("a", "発信メール"), tool("b", "予定を表示"), tool("c", "Отправить письмо")];
    expect(names(other, shortlist(["メールを書いて"], other, 1).shown)).toEqual(["a"]);
    expect(names(other, shortlist(["Отправь письмо"], other, 1).shown)).toEqual(["c"]);
  });

  it("ranks the same for an instruction that comes again, after however many others", () => {
    const before = scoresOf(["read a file"], office);
    for (let other = 0; other < 20; other += 1) scoresOf([`push ${other}`], office);
    expect(scoresOf(["read a file"], office)).toEqual(before);
    // A list that comes again has new entries, and their texts count.
    expect(
      scoresOf(
        ["read a file"],
        office.map((one) => ({ ...one, name: "x", description: "" })),
      ),
    ).toEqual([0, 0, 0, 0]);
  });

  it("keeps the order of the list between equals, and what stays beside the limit", () => {
    const same = [tool("x", "mail"), tool("y", "mail"), tool("z", "mail"), tool("w", "", { stays: true }), tool("v")];
    expect(names(same, shortlist(["mail"], same, 2, stays).shown)).toEqual(["x", "y", "w"]);
  });

  it("shows all where there is no instruction, none that helps, or no need", () => {
    for (const texts of [[], [""], ["!?"], ["nichts davon"], ["the"]]) {
      expect(shortlist(texts, office, 1)).toEqual({ shown: new Set([0, 1, 2, 3]), tokensSaved: 0 });
    }
    expect(shortlist(["email"], office, 4).shown.size).toBe(4);
  });

  it("listens to what was said last, within a bound", () => {
    const long = "calendar ".repeat(3_000);
    expect(names(office, shortlist([long, "push"], office, 1).shown)).toEqual(["git_push"]);
    expect(names(office, shortlist(["push", long], office, 1).shown)).toEqual(["list_events"]);
  });
});

describe("words", () => {
  it.each([
    ["send_email2 x", ["send", "~send", "email", "~emai"]],
    ["HTTPServer ﬁle", ["httpserver", "~http", "file", "~file"]],
    ["version 22", ["version", "~vers", "22"]],
    ["本 発信", ["本", "発信"]],
    ["𝐛𝐨𝐥𝐝", ["bold", "~bold"]],
  ])("of %s", (text, words) => {
    expect([...wordsOf(text)]).toEqual(words);
  });

  it("are bounded", () => {
    const long = Array.from({ length: 5_000 }, (_, index) => `w${String.fromCodePoint(0x4e00 + index)}`).join(" ");
    expect(wordsOf(long).size).toBeLessThanOrEqual(2_049);
    const unspaced = Array.from({ length: 9_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join("");
    expect(wordsOf(unspaced).size).toBe(2_048);
  });
});

const vocabulary = ["mail", "send", "file", "read", "the", "calendar", "delete"];
const phrase = fc.array(fc.constantFrom(...vocabulary), { maxLength: 5 }).map((words) => words.join(" "));
const tools = fc.array(fc.record({ name: phrase, description: phrase, bytes: fc.nat(9_999), stays: fc.boolean() }), {
  maxLength: 12,
});

describe("laws", () => {
  it("at most so many are shown beside those that stay, and none that stays is left out", () => {
    fc.assert(
      fc.property(phrase, tools, fc.nat(12), (text, given, max) => {
        const { shown, tokensSaved } = shortlist([text], given, max, stays);
        const kept = given.filter((each) => each.stays).length;
        if (scoresOf([text], given).some((score) => score > 0)) {
          expect(shown.size).toBeLessThanOrEqual(Math.max(max + kept, 0));
        } else expect(shown.size).toBe(given.length);
        given.forEach((each, index) => each.stays && expect(shown.has(index)).toBe(true));
        const hidden = given.reduce((sum, each, index) => sum + (shown.has(index) ? 0 : each.bytes), 0);
        expect(tokensSaved).toBe(Math.floor(hidden / 4));
      }),
      { numRuns: runs },
    );
  });

  it("scores do not depend on the order of the list, and nothing left out fits better than what is shown", () => {
    fc.assert(
      fc.property(phrase, tools, fc.nat(12), (text, given, max) => {
        const scores = scoresOf([text], given);
        expect(scoresOf([text], given.toReversed())).toEqual(scores.toReversed());
        const { shown } = shortlist([text], given, max, stays);
        const best = Math.max(0, ...scores.filter((_, index) => !shown.has(index)));
        const least = Math.min(
          Number.POSITIVE_INFINITY,
          ...scores.filter((_, index) => shown.has(index) && given[index]?.stays !== true),
        );
        expect(best).toBeLessThanOrEqual(least);
        expect(shortlist([text], given, max, stays)).toEqual(shortlist([text], given, max, stays));
      }),
      { numRuns: runs },
    );
  });

  it("any text is read", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.string({ unit: "binary" }), (text, name) => {
        const { shown } = shortlist([text], [tool(name, text), tool("other")], 1);
        expect(shown.size).toBeGreaterThan(0);
      }),
      { numRuns: runs },
    );
  });
});
