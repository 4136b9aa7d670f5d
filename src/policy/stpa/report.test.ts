import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type Change,
  smallDocument,
  smallPolicy,
  smallSource,
  smallText,
} from "../../../test/kit/policy/stpa-document.ts";
import { judgeExpectation } from "../../app/policy/expectations.ts";
import type { JsonObject } from "../../core/json.ts";
import { sha256 } from "../../app/policy/policy-source.ts";
import { diagnose } from "../document/parse.ts";
import { type StpaDocument, matrixRowsMax } from "./document.ts";
import { documentGaps } from "./gaps.ts";
import { htmlReport } from "./html.ts";
import { type ReportInput, type StpaReport, markdownReport, makeReport } from "./report.ts";
import { proofGaps } from "./policy-gaps.ts";
import { proofResults } from "./proof-results.ts";
import { traceMatrix } from "./trace.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const cost = { judge: judgeExpectation, proves: () => undefined, hash: sha256 };

function report(input: Partial<ReportInput> & { readonly document: StpaDocument }): StpaReport {
  return makeReport({ gaps: [], cost, ...input });
}

function proof(verdict: string, more: JsonObject = {}) {
  const read = proofResults({ properties: [{ id: "H1", verdict, ...more }] });
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

const cells = (made: StpaReport, title: string): readonly string[] =>
  (made.tables.find((table) => table.title === title)?.rows ?? []).map((row) =>
    row.map(({ text, mark }) => (mark === undefined ? text : `${text}:${mark}`)).join(" | "),
  );

describe("the trace matrix", () => {
  const document = smallDocument();

  it("goes from a loss to its proof", () => {
    const { rows } = traceMatrix(document, { policy: smallPolicy().policy, proofs: proof("proved") });
    expect(rows).toEqual([
      {
        loss: "L1",
        hazard: "H1",
        uca: "U1",
        requirement: "SR1",
        rules: ["R1"],
        properties: [{ id: "H1", proof: "proved", proved: true }],
      },
    ]);
  });

  it("takes the document's own rules where there is no policy", () => {
    expect(traceMatrix(document, {}).rows[0]).toMatchObject({
      rules: ["R1"],
      properties: [{ id: "H1", proof: "not computed", proved: false }],
    });
  });

  it("shows where a way ends", () => {
    const broken: readonly Change[] = [
      ["hazards:\n", "  L2: {says: x, harms: V1}\nhazards:\n"],
      ["control:", "  H2: {says: x, losses: L1}\n  H3: {says: x, losses: L1}\ncontrol:"],
      ["scenarios:", "  U2: {controller: agent, action: A1, form: not-provided, hazards: H1, context: c}\nscenarios:"],
      ["  SR1:\n", "  SR2: {says: s, hazards: H3, tier: block, reason: r}\n  SR1:\n"],
    ];
    expect(cells(report({ document: smallDocument(...broken) }), "Trace matrix")).toEqual([
      "L1 | H1 | U1 | SR1 | R1 | H1 | not computed",
      "L1 | H1 | U2 | no requirement:gap | no rule:gap | - | no proof:gap",
      "L1 | H2 | none:gap | no requirement:gap | no rule:gap | - | no proof:gap",
      "L1 | H3 | (the hazard itself) | SR2 | no rule:gap | - | no proof:gap",
      "L2 | no hazard:gap | none:gap | no requirement:gap | no rule:gap | - | no proof:gap",
    ]);
  });

  it("does not name a requirement twice that names both the hazard and its action", () => {
    expect(traceMatrix(smallDocument(["ucas: [U1]", "ucas: [U1]\n    hazards: H1"]), {}).rows).toHaveLength(1);
  });

  it("gives a rule the property of its hazard, wherever that stands", () => {
    const split: Change = [
      "    rules: [{id: R1",
      "  SR2:\n    {says: s, hazards: H1, tier: block, reason: r, rules: [{id: R1",
    ];
    const end: Change = ["private}}}]\n", "private}}}]}\n"];
    const rows = cells(report({ document: smallDocument(split, end) }), "Trace matrix");
    expect(rows).toEqual([
      "L1 | H1 | U1 | SR1 | - | H1 | not computed",
      "L1 | H1 | (the hazard itself) | SR2 | R1 | H1 | not computed",
    ]);
  });

  it("regression: prose alone has no proof, and what makes it precise has its own", () => {
    const alone: Change = ["  SR1:\n", "  SR2: {says: s, hazards: H1, tier: block, reason: r}\n  SR1:\n"];
    const rowOf = (name: string, ...changes: readonly Change[]) =>
      cells(report({ document: smallDocument(...changes) }), "Trace matrix").find((row) => row.includes(`| ${name} |`));
    expect(rowOf("SR2", alone)).toBe("L1 | H1 | (the hazard itself) | SR2 | no rule:gap | - | no proof:gap");
    const refined: Change = ["    says: no secret in a mail\n", "    says: no secret in a mail\n    refines: SR2\n"];
    expect(rowOf("SR2", alone, refined)).toBe("L1 | H1 | (the hazard itself) | SR2 | - | H1 | not computed");
    // At any remove, in a circle of two that the reader refuses elsewhere, and never by a requirement beside it.
    const middle: Change = ["  SR1:\n", "  SR3: {says: s, refines: SR2, tier: block, reason: r}\n  SR1:\n"];
    const lower: Change = ["    says: no secret in a mail\n", "    says: no secret in a mail\n    refines: SR3\n"];
    expect(rowOf("SR2", alone, middle, lower)).toContain("| H1 | not computed");
    expect(rowOf("SR2", alone, middle)).toContain("no proof:gap");
  });

  it("regression: the summary names hazards that no proved property covers", () => {
    const more: Change = ["control:", "  H2: {says: x, losses: L1}\ncontrol:"];
    const summary = (...changes: readonly Change[]) =>
      report({ document: smallDocument(...changes), policy: smallPolicy(), proofs: proof("proved") }).summary[2];
    expect(summary()).toBe("1 of 1 hazards are covered by properties that are proved");
    expect(summary(more)).toBe("1 of 2 hazards are covered by properties that are proved; not H2");
    const many = Array.from({ length: 9 }, (_, index) => `  X${index}: {says: x, losses: L1}\n`).join("");
    expect(summary(["control:", `${many}control:`])).toMatch(/^1 of 10 .*; not X0, .*, X7, \.\.\.$/);
    expect(report({ document: smallDocument() }).summary[2]).toBe(
      "0 of 1 hazards are covered by properties that are proved; not H1",
    );
  });

  it("has a limit and says so", () => {
    const ids = Array.from({ length: 80 }, (_, index) => `X${index}`);
    const losses = ids.map((id) => `  L${id}: {says: x, harms: V1}\n`).join("");
    const hazards = ids
      .map((id) => `  H${id}: {says: x, losses: [${ids.map((one) => `L${one}`).join(",")}]}\n`)
      .join("");
    const made = report({
      document: smallDocument(["hazards:\n", `${losses}hazards:\n${hazards}`]),
    });
    expect(made.matrix.rows).toHaveLength(matrixRowsMax);
    expect(made.summary).toContain(`${made.matrix.rowsLeftOut} rows of the matrix are left out`);
    expect(made.matrix.rowsLeftOut).toBe(80 * 80 + 1 - matrixRowsMax);
  });
});

describe("a report", () => {
  it("says what is proved and what is not", () => {
    const policy = smallPolicy();
    const at = (verdict: string, more: JsonObject = {}) =>
      cells(report({ document: smallDocument(), policy, proofs: proof(verdict, more) }), "Trace matrix")[0];
    expect(at("proved")).toContain("| proved:good");
    expect(at("refuted")).toContain("| refuted:gap");
    // Regression: what regulation prevents need not be repeated as a rule.
    expect(at("refuted", { enforcedBy: "regulation" })).toContain("| prevented by regulation:good");
    expect(proofGaps(policy, proof("refuted", { enforcedBy: "regulation" }))).toEqual([]);
    expect(proofGaps(policy, proof("refuted", { enforcedBy: "none" }))).toHaveLength(1);
    expect(at("proved", { enforcedBy: "consent" })).toContain("| proved, where the user is asked:gap");
    expect(at("proved", { without: { verdict: "proved" } })).toContain("| proved, even without rules:good");
    const other = proofResults({ properties: [] });
    if (!other.ok) throw new Error(other.error);
    const none = report({ document: smallDocument(), policy, proofs: other.value });
    expect(cells(none, "Trace matrix")[0]).toContain("| not proved:gap");
    expect(none.summary[1]).toBe("0 of 1 properties proved, 0 gaps");
  });

  it("shows the price of each tier, and the reason of the chosen one", () => {
    const proves = (policy: ReturnType<typeof smallPolicy>) => policy.policy.rules.length > 0;
    const made = report({ document: smallDocument(), policy: smallPolicy(), cost: { ...cost, proves } });
    expect(cells(made, "What each requirement costs")).toEqual([
      "SR1 | block:chosen | 1 of 1 | 0 | 0 | 1 of 1 | 0 | yes:good | it is never right",
      "SR1 | confirm | 1 of 1 | 0 | 0 | 0 of 1 | 1 | yes:good | ",
      "SR1 | no rule | 1 of 1 | 0 | 0 | 0 of 1 | 1 | no:gap | ",
    ]);
  });

  it("says for which requirements too much would have to be judged", () => {
    const trace = "  - {trace: [mail.list], verdict: allow}\n";
    const policy = smallPolicy(["expect:\n", `expect:\n${trace.repeat(10_000)}`]);
    const table = report({ document: smallDocument(), policy }).tables[1];
    expect(table?.says).toContain("Too many traces for SR1.");
  });

  it("lists the gaps with their places", () => {
    const source = smallSource(["values: {", "values: {V2: quiet, "]);
    const gaps = documentGaps(source.document).map((found) => diagnose(found, source));
    const made = report({ document: source.document, gaps: [...gaps, ...gaps.map((one) => ({ ...one, line: 0 }))] });
    expect(cells(made, "Gaps").map((row) => row.split(" | ")[0])).toEqual(["stpa.yaml:3", "stpa.yaml"]);
    expect(made.summary[1]).toContain("2 gaps");
  });

  it("repeats the analysis, and only the parts that there are", () => {
    const titles = report({ document: smallDocument() }).tables.map(({ title }) => title);
    expect(titles).toContain("Loss scenarios");
    const bare = smallDocument(
      [smallText, smallText.slice(0, smallText.indexOf("ucas:"))],
      ["says: a secret is out", "says: everything is out"],
    );
    const less = report({ document: bare });
    expect(less.tables.map(({ title }) => title)).not.toContain("Loss scenarios");
    expect(less.summary[0]).toBe("1 loss, 1 hazard, 0 unsafe control actions, 0 requirements");
  });
});

const evil = `<script>alert(1)</script> [x](javascript:y) **b** | \`c\` & "q" 'r' <!-- https://e.example www.e.example @all`;

const whole = report({ document: { ...smallDocument(), system: "s" }, policy: smallPolicy() });

/** The report with one text wherever a text can stand. */
function withEverywhere(text: string): StpaReport {
  const made = { ...whole, title: text };
  const poisoned = made.tables.map((table) => ({
    title: text,
    says: text,
    head: [text],
    rows: table.rows.map((row) => row.map((cell) => ({ ...cell, text }))),
  }));
  return { ...made, summary: [text], tables: [...poisoned, { title: text, says: "", head: [], rows: [] }] };
}

describe("text from files stays text", () => {
  it("in HTML", () => {
    const page = htmlReport(withEverywhere(evil));
    expect(page).not.toContain("<script");
    expect(page).not.toContain("<!-- https");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).toContain("default-src 'none'");
  });

  it("in Markdown", () => {
    const text = markdownReport(withEverywhere(evil));
    expect(text).toContain("\\<script\\>alert(1)\\</script\\>");
    expect(text).toContain("\\[x\\](javascript:y) \\*\\*b\\*\\* \\| \\`c\\`");
    expect(text).toContain("https\\://e.example www\\.e.example \\@all");
  });

  test("law: whatever a text holds, the page has the same tags, and the Markdown as many lines and cells", () => {
    const shape = (page: string): readonly string[] => page.match(/<\/?[a-z][^>]*>/g) ?? [];
    const plain = withEverywhere("plain");
    const tags = shape(htmlReport(plain));
    const bars = (text: string): readonly number[] =>
      text.split("\n").map((line) => line.replace(/\\\\/g, "").match(/(?<!\\)\|/g)?.length ?? 0);
    const grid = bars(markdownReport(plain));
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
        const made = withEverywhere(`x${text}x`);
        expect(shape(htmlReport(made))).toEqual(tags);
        expect(bars(markdownReport(made))).toEqual(grid);
        expect(htmlReport(made)).not.toMatch(/\p{Cf}/u);
      }),
      { numRuns: runs },
    );
  });
});
