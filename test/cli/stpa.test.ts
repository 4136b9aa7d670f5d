// `stpa check`, `compile`, `draft` and `report` as a person and as a machine use them.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { smallPolicyText, smallText } from "../kit/policy/stpa-document.ts";
import { repository, Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

const small = terminal.file("stpa.yaml", smallText);
const policy = terminal.file("policy.yaml", smallPolicyText);
const example = (name: string): string => join(repository, "examples/stpa", name);

describe("stpa check", () => {
  test("without gaps", async () => {
    expect(await terminal.json("stpa", "check", small, "--policy", policy)).toEqual({
      code: 0,
      value: { ok: true, diagnostics: [] },
    });
    expect((await terminal.run("stpa", "check", small)).stdout).toBe("The analysis has no gaps.\n");
  });

  test("gaps have a place and a remedy, and exit code 1", async () => {
    const open = terminal.file("open.yaml", smallText.slice(0, smallText.indexOf("requirements:")));
    const ran = await terminal.run("stpa", "check", open);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("open.yaml:16:3: no requirement prevents `U1`: add it to the `ucas` of a requirement");
    expect(ran.stdout).toContain("1 gap.");
  });

  test("a policy that proves nothing is a gap in the policy", async () => {
    // Where a policy only observes, regulation refuses nothing either.
    const loose = terminal.file(
      "loose.yaml",
      smallPolicyText
        .replace("stpa: stpa.yaml", "stpa: stpa.yaml\nmode: observe")
        .replace("tier: block", "tier: allow")
        .replace(", by: R1", ""),
    );
    const { code, value } = await terminal.json("stpa", "check", small, "--policy", loose);
    expect(code).toBe(1);
    const { diagnostics } = value as { diagnostics: { code: string; file: string; line: number }[] };
    expect(diagnostics.map((found) => [found.code, found.line])).toEqual([
      ["SG-STPA-TIER", 23],
      ["SG-STPA-PROOF", 9],
    ]);
  });

  test("a saved proof is believed instead", async () => {
    const proof = terminal.file("proof.json", { properties: [{ id: "H1", verdict: "refuted" }] });
    const ran = await terminal.run("stpa", "check", small, "--policy", policy, "--proof", proof);
    expect(ran).toMatchObject({ code: 1, stdout: expect.stringContaining("the proof says `refuted`") });
  });

  test("bad input is an error with its place, and exit code 2", async () => {
    const bad = terminal.file("bad.yaml", smallText.replace("form: provided", "form: provide"));
    const ran = await terminal.run("stpa", "check", bad);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("error: ");
    expect(ran.stderr).toContain("bad.yaml:16:45: `provide` is not a form: did you mean `provided`? [SG-POLICY-WORD]");
    const { code, value } = await terminal.json("stpa", "check", bad);
    expect(code).toBe(2);
    expect(value).toMatchObject({ ok: false, error: { code: "SG-STPA" }, diagnostics: [{ line: 16, column: 45 }] });
  });
});

describe("policy check", () => {
  const checked = async (name: string, text: string): Promise<readonly unknown[]> => {
    const { value } = await terminal.json("policy", "check", terminal.file(name, text));
    const { diagnostics } = value as {
      diagnostics: { code: string; severity: string; line: number; message: string }[];
    };
    return diagnostics.map(({ code, severity, line, message }) => [code, severity, line, message]);
  };

  test("holds the ids of a policy against the document that it names", async () => {
    expect(await checked("policy.yaml", smallPolicyText)).toEqual([]);
    const [first] = await checked("other.yaml", smallPolicyText.replace("serves: SR1", "serves: SR7"));
    expect(first).toEqual(["SG-STPA-SERVES", "warning", 10, expect.stringContaining("serves `SR7`")]);
  });

  test("says when the document is gone or wrong", async () => {
    const gone = await checked("gone.yaml", smallPolicyText.replace("stpa: stpa.yaml", "stpa: none.yaml"));
    expect(gone).toEqual([["SG-STPA", "warning", 2, "the STPA document `none.yaml` cannot be read"]]);
    terminal.file("wrong-stpa.yaml", "version: 1\n");
    const wrong = await checked("wrong.yaml", smallPolicyText.replace("stpa: stpa.yaml", "stpa: wrong-stpa.yaml"));
    expect(wrong).toEqual([["SG-STPA", "warning", 2, "the STPA document `wrong-stpa.yaml` has errors"]]);
  });
});

describe("stpa compile", () => {
  test("writes a policy that loads over the labels", async () => {
    const out = join(terminal.root, "made.yaml");
    const ran = await terminal.run("stpa", "compile", small, "--over", policy, "--out", out);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("made.yaml") });
    expect(readFileSync(out, "utf8")).toContain("serves: SR1");
    expect((await terminal.run("policy", "check", out)).code).toBe(0);
  });
});

describe("stpa compile --over", () => {
  test("checks what it names, and names it from where the new policy lies", async () => {
    const folder = join(terminal.root, "below");
    mkdirSync(folder);
    const out = join(folder, "made.yaml");
    for (const [over, said] of [
      ["nowhere.yaml", "there is no such file"],
      ["below", "it is a folder"],
      [terminal.file("broken.yaml", "version: 1\nlabls: {}\n"), "broken.yaml:2:1"],
    ] as const) {
      expect(await terminal.json("stpa", "compile", small, "--over", over, "--out", out)).toMatchObject({
        code: 2,
        value: { error: { code: "SG-POLICY", message: expect.stringContaining(said) as string } },
      });
    }
    // The terminal stands in the folder above.
    expect(await terminal.run("stpa", "compile", "stpa.yaml", "--over", "policy.yaml", "--out", out)).toMatchObject({
      code: 0,
    });
    expect(readFileSync(out, "utf8")).toMatch(/^ {2}- \.\.\/policy\.yaml\nstpa: \.\.\/stpa\.yaml$/m);
    expect((await terminal.run("policy", "check", out)).code).toBe(0);
  });
});

describe("stpa draft", () => {
  test("writes a document that can be checked", async () => {
    const manifest = terminal.file("mail.json", [{ name: "list" }, { name: "send" }]);
    const out = join(terminal.root, "draft.yaml");
    expect((await terminal.run("stpa", "draft", "--manifest", manifest, "--policy", policy, "--out", out)).code).toBe(
      0,
    );
    expect(readFileSync(out, "utf8")).toContain("UCA.mail.send.private-data:");
    const checked = await terminal.run("stpa", "check", out);
    expect(checked.code).toBe(1);
    // A person goes on with what was written, so it is never written over.
    for (const words of [
      ["draft", "--manifest", manifest],
      ["compile", out],
    ])
      expect(await terminal.run("stpa", ...words, "--out", out)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("is there and may hold your own words") as string,
      });
    expect(checked.stdout).toContain("no requirement prevents `UCA.mail.send.private-data`");
    const { value } = await terminal.json("stpa", "draft", "--manifest", manifest);
    expect(value).toMatchObject({ document: { version: 1 }, leftOut: { tools: 0, questions: 0 } });
  });
});

describe("stpa report", () => {
  test("as Markdown, as HTML and for machines", async () => {
    const words = ["stpa", "report", example("calendar/stpa.yaml"), "--policy", example("calendar/policy.yaml")];
    const markdown = await terminal.run(...words);
    expect(markdown.code).toBe(0);
    expect(markdown.stdout).toContain("| L1 | H1 | U1 | SR1 | R1 | H1 | proved |");
    expect(markdown.stdout).toContain("6 of 6 properties proved, 0 gaps");
    const page = await terminal.run(...words, "--html");
    expect(page.stdout).toContain("<!doctype html>");
    expect(page.stdout).toContain('<td class="good">proved</td>');
    const { value } = await terminal.json(...words);
    expect(value).toHaveProperty("costs.requirements[0].requirement", "SR1");
    expect(value).toHaveProperty("matrix.rowsLeftOut", 0);
  });

  test("without a policy shows the analysis alone", async () => {
    const ran = await terminal.run("stpa", "report", small);
    expect(ran.stdout).toContain("| L1 | H1 | U1 | SR1 | R1 | H1 | not computed |");
    expect(ran.stdout).not.toContain("What each requirement costs");
  });
});
