// D29: stage 1 learns the state that the game reaches, in words that name that state and no verdict.
import { expect, test } from "vitest";
import { held } from "../../oracles/foresight/embedded/held.ts";
import { defaultSeed } from "./dataset.ts";
import { type NextState, nextStateText } from "./next-state.ts";
import { stagesOf } from "./stages.ts";
import { trainingData } from "./train.ts";

const data = trainingData(defaultSeed);
if (!data.ok) throw new Error(data.error);
const { examples } = data.value;
const next = stagesOf(examples).stage1.filter((_, index) => index % 2 === 0);

/** The words of a text that are the template's own: names of tools and servers, and given values, are left out. */
const ownWords = (text: string): string => text.replaceAll(/`[^`]*`|"(?:[^"\\]|\\.)*"/g, "");

test("D29: thousands of next states, not a few sentences", () => {
  expect(next).toHaveLength(4_800);
  const distinct = new Set(next.map(({ answer }) => answer)).size;
  expect(distinct).toBeGreaterThan(4_000);
  // The state itself, whatever the tool is called and the server is named: it was one of 24 sentences.
  const states = new Set(next.map(({ answer }) => answer.replaceAll(/`[^`]*`/g, "_")));
  expect(states.size).toBeGreaterThan(3_500);
  expect(new Set([...states].map(ownWords)).size).toBeGreaterThan(2_000);
});

test("D29: equal states have equal texts, and other states others", () => {
  const texts = new Map(examples.map((example) => [JSON.stringify(example.next), nextStateText(example.next)]));
  expect(texts.size).toBeGreaterThan(5_000);
  expect(new Set(texts.values()).size).toBe(texts.size);
});

test("D29: no text names a verdict, so a row of an unsafe call tells its state", () => {
  const verdict = /safe|critical|danger|harm|risk|refus|block|den(?:y|ied)|forbid|must not|attack|violat/i;
  for (const example of examples) expect(ownWords(nextStateText(example.next))).not.toMatch(verdict);
  const calls = examples.filter(({ context }) => context.pending !== undefined);
  for (const label of ["safe", "critical", "unsafe"] as const) {
    const texts = calls.filter((example) => example.label === label).map(({ next: state }) => nextStateText(state));
    // One template for all: which class a row is of cannot be read off its form.
    expect(texts.length).toBeGreaterThan(1_000);
    for (const text of texts) expect(text).toMatch(/^`[^`]+` .+\. The run then holds .+\.$/);
  }
});

test("D29: an unsafe call reaches the state that it would lead to", () => {
  const unsafe = examples.filter(({ label }) => label === "unsafe");
  const opened = unsafe.filter(({ next: { stores } }) => stores.some(({ open }) => open === "everybody"));
  const carried = unsafe.filter(({ next: { act } }) => (act?.carries ?? 0) !== 0);
  expect(opened.length).toBeGreaterThan(100);
  expect(carried.length).toBeGreaterThan(100);
  for (const { context, next: state } of carried) {
    expect(nextStateText(state)).toMatch(/it carries (?!nothing)/);
    expect(state.act?.tool).toBe(`${context.pending?.server}.${context.pending?.tool}`);
  }
});

test("D29: the same seed gives the same texts", () => {
  const again = trainingData(defaultSeed);
  if (!again.ok) throw new Error(again.error);
  expect(again.value.examples.map((example) => nextStateText(example.next))).toEqual(
    examples.map((example) => nextStateText(example.next)),
  );
});

const state: NextState = { act: undefined, holds: 0, elevated: false, stores: [] };
const act: NonNullable<NextState["act"]> = {
  tool: "s.t",
  actions: [],
  closes: false,
  given: [],
  carries: undefined,
  brings: 0,
};

test.each<[Partial<NextState>, string]>([
  [{}, "No call is pending; the run holds nothing restricted."],
  [
    { holds: 7, elevated: true },
    "No call is pending; the run holds private data and credentials and untrusted text and has given itself rights.",
  ],
  [
    { stores: [{ server: "wiki", content: held.private, open: "named", job: true }] },
    "No call is pending; the run holds nothing restricted; `wiki` holds private data, read by one whom the user named, used by a job.",
  ],
  [{ act }, "`s.t` answers. The run then holds nothing restricted."],
  [
    { act: { ...act, actions: ["store"], closes: true, brings: held.untrusted }, holds: held.untrusted },
    "`s.t` ends what was open; its result brings untrusted text. The run then holds untrusted text.",
  ],
  [
    {
      act: {
        ...act,
        actions: ["read", "send"],
        given: [
          { role: "recipient", value: "ana@lumen.test" },
          { role: "text", value: 'say "hi"' },
        ],
        carries: held.secret,
      },
    },
    '`s.t` sends and reads: to "ana@lumen.test", with the words "say \\"hi\\""; it carries credentials out. The run then holds nothing restricted.',
  ],
  [
    {
      act: {
        ...act,
        actions: ["pay"],
        given: [
          { role: "amount", value: 12 },
          { role: "url", value: "https://lumen.test/x" },
          { role: "path", value: "/a" },
          { role: "id", value: "INV-1" },
          { role: "command", value: "ls" },
          { role: "date", value: "monday" },
          { role: "query", value: "trips" },
          { role: "flag", value: "yes" },
        ],
      },
    },
    '`s.t` pays: 12 EUR, at "https://lumen.test/x", "/a", "INV-1", "ls", at the time "monday", about "trips", with the option "yes". The run then holds nothing restricted.',
  ],
])("a state in words: %j", (part, text) => {
  expect(nextStateText({ ...state, ...part })).toBe(text);
});
