import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { policyDepthMax, policyTextUnitsMax, policyValuesMax } from "../values/limits.ts";
import { checkDocument, parsePolicy } from "./policy-document.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

/** Code, line, column and remedy of the first diagnostic. */
function first(text: string): readonly unknown[] {
  const parsed = parsePolicy(text, "p.yaml");
  if (parsed.ok) return ["ok"];
  const found = parsed.error[0];
  return [found?.code, found?.line, found?.column, found?.remedy];
}

describe("mistakes are shown where they are, with the nearest legal word", () => {
  test.each([
    ["version: 1\nrulse: []\n", ["SG-POLICY-KEY", 2, 1, "did you mean `rules`?"]],
    ["version: 2\n", ["SG-POLICY-WORD", 1, 10, "write `1`"]],
    [
      "rules: []\n",
      ["SG-POLICY-MISSING", 1, 1, "add `version: 1`, or name another file; without it nothing of the file is shown"],
    ],
    ["version: 1\nmode: enforced\n", ["SG-POLICY-WORD", 2, 7, "did you mean `enforce`?"]],
    [
      "version: 1\nrules:\n  - {id: R, tier: blok, why: x, when: a.b}\n",
      ["SG-POLICY-WORD", 3, 19, "did you mean `block`?"],
    ],
    ["version: 1\nlabels: []\n", ["SG-POLICY-TYPE", 2, 9, "write `key: value`"]],
    ["version: 1\nhost: 5\n", ["SG-POLICY-TYPE", 2, 7, undefined]],
    ["version: 1\nkeep: [{trace: [a], firm: 7}]\n", ["SG-POLICY-TYPE", 2, 27, "write `true` or `false`"]],
    ["version: 1\nmode: 5\n", ["SG-POLICY-TYPE", 2, 7, "write a mode"]],
    ["version: true\n", ["SG-POLICY-TYPE", 1, 10, "write `1`"]],
    ["version: 1\nhost: {send: 5}\n", ["SG-POLICY-TYPE", 2, 14, undefined]],
    ["version: 1\nstpa:\n", ["SG-POLICY-TYPE", 2, undefined, undefined]],
    ["version: 1\nrules: {}\n", ["SG-POLICY-TYPE", 2, 8, "write a list"]],
    ["version: 1\nrules: [{id: R, tier: block, why: x}]\n", ["SG-POLICY-CHOICE", 2, 9, "keep exactly one of them"]],
    [
      "version: 1\nrules: [{id: R, tier: block, why: x, when: {arg: {to: {glob: a, regex: b}}}}]\n",
      ["SG-POLICY-CHOICE", 2, 55, "keep exactly one of them"],
    ],
    [
      "version: 1\nrules: [{id: R, tier: block, why: x, atMost: {of: a, count: 1, within: 10 minutes}}]\n",
      ["SG-POLICY-FORM", 2, 72, "write a duration above zero such as `10m`"],
    ],
    [
      "version: 1\nrules: [{id: R, tier: must, why: x, gate: {before: a, need: b, key: [x, y]}}]\n",
      ["SG-POLICY-TYPE", 2, 69, "write one argument (a rule has one key)"],
    ],
    [
      "version: 1\nlabels: {a.b: {effects: [write.externl]}}\n",
      ["SG-POLICY-FORM", 2, 26, "write an effect such as `write.external.send`"],
    ],
    [
      "version: 1\nlabels: {a.b: {output: {fields: {events: private}}}}\n",
      ["SG-POLICY-KEY", 2, 34, "write a JSON Pointer"],
    ],
    ["version: 1\nrules: [{id: R, tier: block, why: x, when: {}}]\n", ["SG-POLICY-EMPTY", 2, 44, undefined]],
    ["version: 1\naudit: {keepDays: 0}\n", ["SG-POLICY-RANGE", 2, 19, "write a whole number from 1 to 36500"]],
    ["version: 1\nkeep: [{trace: []}]\n", ["SG-POLICY-LENGTH", 2, 16, "write at least 1"]],
    ["version: 1\n1: x\n", ["SG-POLICY-KEY", 2, 1, undefined]],
    [
      "[]\n",
      [
        "SG-POLICY-TYPE",
        1,
        1,
        "write a map with keys such as `version`, `extends`, `match`, `mode`, `stpa`, `lattice`",
      ],
    ],
    ["", ["SG-POLICY-EMPTY", 1, 1, "start with `version: 1`"]],
    ["version: 1\nversion: 1\n", ["SG-POLICY-DUPLICATE", 2, 1, "keep one of them"]],
    ["version: 1\nmode: !!js/function x\n", ["SG-POLICY-TAG", 2, 7, "remove the tag"]],
    ["version: 1\nstpa: !!binary aGk=\n", ["SG-POLICY-TAG", undefined, undefined, "remove the tag"]],
    ["version: 1\nmode: [\n", ["SG-POLICY-SYNTAX", undefined, undefined, "fix the syntax here"]],
    ["version: 1\n? {a: b}\n: c\n", ["SG-POLICY-KEY", 2, 3, "write a plain word before the colon"]],
    ["version: 1\n<<: {mode: observe}\n", ["SG-POLICY-KEY", 2, 1, undefined]],
    ["version: 1\n__proto__: {mode: observe}\n", ["SG-POLICY-KEY", 2, 1, undefined]],
    [
      "version: 1\nrules: [{id: R, tier: block, why: x, when: {arg: {a: {range: {max: 90071992547409931}}}}}]\n",
      ["SG-POLICY-NUMBER", 2, 68, "write it in quotes, as exact text"],
    ],
    ["version: 1\nregulation: {epsilon: .nan}\n", ["SG-POLICY-NUMBER", 2, 23, undefined]],
    [
      'version: 1\nstpa: "\\ud800"\n',
      ["SG-POLICY-TEXT", 2, 7, "remove the broken character, or save the file as UTF-8"],
    ],
    ['version: 1\nservers: {"\\ud800": {}}\n', ["SG-POLICY-TEXT", 2, 10, undefined]],
    ["version: 1\n---\nversion: 1\n", ["SG-POLICY-SYNTAX", undefined, undefined, undefined]],
  ])("%j", (text, wanted) => {
    const found = first(text);
    wanted.forEach((each, index) => {
      if (each !== undefined) expect(found[index]).toBe(each);
    });
    expect(found[0]).not.toBe("ok");
  });
});

test("JSON is read as well, with positions", () => {
  expect(parsePolicy('{"version": 1, "mode": "observe"}', "p.json").ok).toBe(true);
  expect(first('{\n "version": 1,\n "mode": "obsrve"\n}').slice(0, 3)).toEqual(["SG-POLICY-WORD", 3, 10]);
});

test("an alias bomb, a cycle, a nest and a huge file are refused in bounded time", () => {
  const levels = Array.from({ length: 12 }, (_, index) =>
    index === 0
      ? "a0: &a0 [x, x, x, x, x, x, x, x, x]"
      : `a${index}: &a${index} [${Array(9)
          .fill(`*a${index - 1}`)
          .join(", ")}]`,
  );
  expect(first(`version: 1\n${levels.join("\n")}\n`)[0]).toBe("SG-POLICY-ALIAS");
  expect(first("version: 1\nexpect: &a [*a]\n")[0]).toBe("SG-POLICY-DEPTH");
  expect(first(`version: 1\nexpect: ${"[".repeat(200)}${"]".repeat(200)}\n`)[0]).toBe("SG-POLICY-DEPTH");
  expect(first(`version: 1\nexpect: ${"[".repeat(100_000)}`)[0]).toBe("SG-POLICY-SYNTAX");
  expect(first("#".repeat(policyTextUnitsMax + 1))[0]).toBe("SG-POLICY-SIZE");
  const many = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join("\n");
  expect(first(`version: 1\n${many}`)[0]).toBe("SG-POLICY-KEY");
});

test("a place inside an alias is found", () => {
  const text = "version: 1\nlabels:\n  a.x: &l {effects: [read.local]}\n  a.y: *l\n  a.z: {effects: 7}\n";
  expect(first(text).slice(0, 3)).toEqual(["SG-POLICY-TYPE", 5, 18]);
});

test("documents of code are checked too", () => {
  expect(checkDocument({ version: 1, mode: "observe" }, "b").ok).toBe(true);
  for (const bad of [
    undefined,
    { version: 1n },
    { version: 1, mode: (): void => undefined },
    { version: 1, x: undefined },
  ]) {
    expect(checkDocument(bad, "b").ok).toBe(false);
  }
});

test("law: no text makes the parser throw, and every diagnostic is short and placed", () => {
  const word = fc.constantFrom(
    "version",
    "rules",
    "labels",
    ": ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a",
    "*a",
    "!!x ",
    '"',
    "'",
    "|",
    ">",
    "#",
    "1",
    "~",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 60 }).map((words) => words.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parsePolicy(text, "p");
      if (parsed.ok) return;
      expect(parsed.error.length).toBeGreaterThan(0);
      for (const found of parsed.error) {
        expect(found.message.length).toBeLessThanOrEqual(240);
        expect(found.line).toBeGreaterThan(0);
        expect(found.column).toBeGreaterThan(0);
        expect(found.message + found.remedy).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }
    }),
    { numRuns: runs },
  );
});

test("a document that was built in code is bounded like one that was written", () => {
  let deep: unknown = "end";
  for (let level = 0; level < 2 * policyDepthMax; level += 1) deep = { allOf: [deep] };
  const found = checkDocument({ version: 1, labels: { t: deep } }, "built");
  expect(found.ok ? [] : found.error.map(({ code }) => code)).toEqual(["SG-POLICY-DEPTH"]);
  const wide = checkDocument({ version: 1, extends: Array.from({ length: policyValuesMax }, () => "x") }, "built");
  expect(wide.ok ? [] : wide.error.map(({ code }) => code)).toEqual(["SG-POLICY-SIZE"]);
});

describe("regression: a file that does not say that it is a policy is not quoted", () => {
  test.each([
    "hunter2:*:19000:0:99999:7:::\ndaemon:*:19000:::\n",
    "hunter2:x:0\nabc:x:1\n",
    "*hunter2\n",
    "a: *hunter2\n",
    "a: !hunter2 x\n",
    "!hunter2 {a: 1}\n",
    '{"hunter2": 1}',
    "hunter2: {a: 1}\nhunter2: {}\n",
    "[hunter2]",
    "hunter2",
    "- hunter2: 1",
    "? [hunter2]\n: 1",
    "%hunter2 1\n---\na: 1",
    '"\\hunter2"',
    "hunter2: 99999999999999999999999",
    "version: hunter2",
    "versions: 1\nhunter2: 1",
  ])("%j", (text) => {
    const parsed = parsePolicy(text, "p.yaml");
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(JSON.stringify(parsed.error)).not.toContain("hunter2");
  });

  test("where it does, the key that is wrong is named", () => {
    const parsed = parsePolicy("version: 1\nhunter2: 1\n", "p.yaml");
    expect(JSON.stringify(parsed)).toContain("hunter2");
  });
});
