import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { restrictionNames } from "../../core/explain/restriction-names.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (judge: string, more = "") =>
  loadPolicy(
    { file: "p.yaml", text: `version: 1\nlattice: {categories: [medical]}\njudges:\n  j: ${judge}\n${more}` },
    { loader: () => undefined, hash },
  );

function kept(judge: string): readonly string[] {
  const { policy } = load(judge);
  const found = policy?.judges.get("j");
  return policy === undefined || found === undefined ? ["?"] : restrictionNames(policy.ir.lattice, found.forbidden);
}

it("writes defaults out, so that the canonical policy says what holds", () => {
  const { policy } = load('{url: "https://models.example/v1/", model: m, wait: 1000ms}');
  expect(policy?.policy.judges).toEqual({
    j: {
      url: "https://models.example/v1/",
      model: "m",
      kind: "openai",
      above: "shapes",
      wait: "1s",
      tokensMax: 8_192,
      runTokensMax: 500_000,
      canary: true,
      answers: "schema",
      labelFirst: true,
    },
  });
  expect(policy?.judges.get("j")).toMatchObject({ url: "https://models.example/v1", waitMs: 1_000, local: false });
  expect(
    loadPolicy({ file: "c", text: policy?.canonical ?? "" }, { loader: () => undefined, hash }).policy?.digest,
  ).toBe(policy?.digest);
});

it("says nothing of judges where the policy says nothing", () => {
  const { policy } = loadPolicy({ file: "p", text: "version: 1\n" }, { loader: () => undefined, hash });
  expect(policy?.judges.size).toBe(0);
  expect(policy?.policy).not.toHaveProperty("judges");
});

describe("what a judge may be told", () => {
  it.each<[string, readonly string[]]>([
    ['{url: "https://x.example", model: m}', ["private", "medical", "not anyone"]],
    ['{url: "https://x.example", model: m, bound: {confidentiality: private, categories: [medical]}}', ["not anyone"]],
    ['{url: "http://127.0.0.1:8080", model: m}', []],
    ['{url: "http://localhost:8080", model: m}', []],
    ['{url: "http://[::1]:8080", model: m}', []],
    ['{url: "http://127.0.0.1:8080", model: m, bound: public}', ["private", "medical"]],
    ["{kind: gguf, model: /models/small.gguf}", []],
    ['{url: "http://127.0.0.1:8080", model: m, audience: anyone}', ["not anyone"]],
    [
      '{url: "https://x.example", model: m, audience: me, bound: {confidentiality: private, categories: [medical]}}',
      ["not me"],
    ],
    ['{url: "https://localhost.example", model: m}', ["private", "medical", "not anyone"]],
    ['{url: "https://127.0.0.1.example", model: m}', ["private", "medical", "not anyone"]],
  ])("%s must not see %j", (judge, wanted) => {
    expect(kept(judge)).toEqual(wanted);
  });
});

it.each<[string, string]>([
  ["{model: m}", "JUDGE-URL"],
  ['{url: "nonsense", model: m}', "JUDGE-URL"],
  ['{url: "ftp://x.example", model: m}', "JUDGE-URL"],
  ['{url: "https://me:key@x.example", model: m}', "JUDGE-URL"],
  ['{url: "https://x.example?key=s3cret", model: m}', "JUDGE-URL"],
  ['{url: "http://x.example", model: m, keyEnv: KEY}', "JUDGE-URL"],
  ['{url: "http://127.0.0.1:1"}', "JUDGE-MODEL"],
  ["{kind: gguf}", "JUDGE-MODEL"],
  ["{kind: gguf, model: small.gguf}", "JUDGE-MODEL"],
  ['{kind: gguf, model: /a.gguf, url: "http://127.0.0.1:1"}', "JUDGE-MODEL"],
  ["{kind: gguf, model: /a.gguf, keyEnv: KEY}", "JUDGE-MODEL"],
  ['{url: "http://127.0.0.1:1", model: m, wait: 2m}', "RANGE"],
  ['{url: "http://127.0.0.1:1", model: m, wait: 0s}', "RANGE"],
  ['{url: "http://127.0.0.1:1", model: m, keyEnv: "sk-123 456"}', "FORM"],
  ['{url: "http://127.0.0.1:1", model: m, bound: secretish}', "LEVEL"],
  ['{url: "http://127.0.0.1:1", model: m, audience: [mee]}', "GROUP"],
])("refuses %s", (judge, code) => {
  const { policy, diagnostics } = load(judge);
  expect(policy).toBeUndefined();
  expect(diagnostics.map((found) => found.code)).toContain(`SG-POLICY-${code}`);
  expect(JSON.stringify(diagnostics)).not.toMatch(/s3cret|me:key/);
});

it("warns of an address without encryption, and of a wait that nobody has", () => {
  const warned = (judge: string, more = "") =>
    load(judge, more)
      .diagnostics.map((found) => found.code)
      .filter((code) => code !== "SG-POLICY-IDLE");
  expect(warned('{url: "http://x.example", model: m}')).toEqual(["SG-POLICY-JUDGE-URL"]);
  expect(warned('{url: "http://127.0.0.1:1", model: m, wait: 3s}')).toEqual(["SG-POLICY-JUDGE-WAIT"]);
  expect(warned('{url: "http://127.0.0.1:1", model: m, wait: 3s}', "limits: {answerWait: 5s}\n")).toEqual([]);
});

it("says of a judge that nothing asks it", () => {
  const idle = (more: string) => load("{kind: gguf, model: /m.gguf}", more).diagnostics.map((found) => found.code);
  expect(idle("")).toEqual(["SG-POLICY-IDLE"]);
  expect(idle("regulation: {models: {judge: j}}\n")).toEqual([]);
});
