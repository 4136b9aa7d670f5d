import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { policy as built } from "../builder.ts";
import { loadCanonical, loadPolicy } from "../load.ts";
import type { Regulation } from "./regulation.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const files: { readonly [name: string]: string } = {
  base: "version: 1\nregulation: {leases: [{tool: shell.run, calls: 2}], power: {budget: 50, weights: {write: 4}}}\n",
  bare: "version: 1\n",
};
const loader = (name: string) => (files[name] === undefined ? undefined : { file: name, text: files[name] });
const load = (text: string) => loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader, hash });

function compiled(text: string): Regulation {
  const loaded = load(text);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy.regulation;
}

const defaults: Regulation = {
  filter: { kind: "replace" },
  onUnsafe: "block-call",
  judged: "acts",
  onSilence: { acts: "confirm", reads: "allow" },
  epsilon: 0.5,
  surpriseMax: 0.5,
  power: { budget: undefined, weights: new Map() },
  leases: [],
  shortlistMax: undefined,
  models: { embedded: false, judge: undefined },
  keeps: [],
};

test.each(["", "regulation: {}", "regulation: {required: true}"])("what is not said has a default: %s", (text) => {
  expect(compiled(text)).toEqual(defaults);
});

const everything = `
labels: {shell.run: {effects: execute.local}, mail.send: {effects: write.external.send}}
judges: {local: {url: "http://127.0.0.1:1", model: m}}
regulation:
  filter: {mode: lease, ttl: 300s}
  onUnsafe: end-run
  onSilence: deny
  judge: all
  epsilon: 0.2
  surpriseMax: 0.3
  power: {budget: 80, weights: {write.external.send: 12.5, read: 0}}
  leases: [{tool: [run, mail.send], calls: 3, for: 600s}, {tool: "mail.*", for: 1h}]
  shortlist: 20
  models: {embedded: true, judge: local}
keep:
  - {trace: [{user: go}, mail.send, {run: {x: 1}}], firm: true}
  - {trace: [run]}
  - {trace: [{mail.send: {to: a}}]}
`;

test("every word of the section reaches the settings", () => {
  expect(compiled(everything)).toEqual({
    filter: { kind: "lease", ttlMs: 300_000 },
    onUnsafe: "end-run",
    judged: "all",
    onSilence: { acts: "deny", reads: "deny" },
    epsilon: 0.2,
    surpriseMax: 0.3,
    power: { budget: 80, weights: new Map(Object.entries({ "write.external.send": 12.5, read: 0 })) },
    leases: [
      {
        tools: [
          { server: "*", tool: "run" },
          { server: "mail", tool: "send" },
        ],
        callsMax: 3,
        forMs: 600_000,
      },
      { tools: [{ server: "mail", tool: "*" }], forMs: 3_600_000 },
    ],
    shortlistMax: 20,
    models: { embedded: true, judge: "local" },
    keeps: [
      { firm: true, tools: [{ server: "mail", tool: "send" }] },
      { firm: false, tools: [{ server: "shell", tool: "run" }] },
      { firm: false, tools: [{ server: "mail", tool: "send" }] },
    ],
  });
  expect(load(everything).diagnostics).toEqual([]);
});

test.each([
  ["1s", 1_000],
  ["30d", 30 * 86_400_000],
])("a time of %s is neither too short nor too long", (text, ms) => {
  const { filter, leases } = compiled(
    `regulation: {filter: {mode: lease, ttl: ${text}}, leases: [{tool: a.b, for: ${text}}]}`,
  );
  expect([filter, leases[0]?.forMs]).toEqual([{ kind: "lease", ttlMs: ms }, ms]);
});

test("a judge is enough of a model for what is set of models", () => {
  const { policy, diagnostics } = load(
    'judges: {local: {url: "http://127.0.0.1:1", model: m}}\nregulation: {epsilon: 0.1, models: {judge: local}}',
  );
  expect([policy?.regulation.epsilon, diagnostics]).toEqual([0.1, []]);
});

describe("words that are wrong are shown with place and remedy", () => {
  test.each([
    ["{filter: {mode: replace, ttl: 5m}}", "FILTER", 43, "write `mode: lease`, or leave `ttl` out"],
    ["{filter: {mode: lease}}", "FILTER", 22, "add `ttl`, such as `ttl: 10m`"],
    ["{filter: {mode: lease, ttl: 0s}}", "RANGE", 41, "write at least `1s` and at most `30d`"],
    ["{filter: {mode: lease, ttl: 99999d}}", "RANGE", 41, "write at least `1s` and at most `30d`"],
    ["{leases: [{tool: a.b}]}", "LEASE", 23, "add `calls: N`, or `for:` a time such as `10m`"],
    ["{leases: [{tool: a.b, for: 1ms}]}", "RANGE", 40, "write at least `1s` and at most `30d`"],
    ["{power: {budget: 0}}", "RANGE", 30, "write a number above 0, or leave `budget` out for no budget"],
    ["{power: {budget: -1}}", "RANGE", 30, "write a number above 0, or leave `budget` out for no budget"],
    ["{power: {weights: {wite: 3}}}", "KEY", 32, "write an effect such as write.external.send"],
    ["{power: {weights: {write: -3}}}", "RANGE", 39, "write from 0 to 1000000"],
    ["{models: {judge: lokal}}\njudges: {local: {kind: gguf, model: /m}}", "JUDGE", 30, "did you mean `local`?"],
    ["{models: {judge: local}}", "JUDGE", 30, "declare it under `judges`"],
  ])("regulation: %s", (text, code, column, remedy) => {
    const { policy, diagnostics } = load(`regulation: ${text}`);
    expect(policy).toBeUndefined();
    const errors = diagnostics.filter((found) => found.severity === "error");
    expect(errors.map((found) => [found.code, found.line, found.column, found.remedy])).toEqual([
      [`SG-POLICY-${code}`, 2, column, remedy],
    ]);
  });

  test("a keep that names no tool", () => {
    const { policy, diagnostics } = load("keep: [{trace: [{user: hello}]}]");
    expect(policy).toBeUndefined();
    expect(diagnostics.map(({ code, line, column }) => [code, line, column])).toEqual([["SG-POLICY-KEEP", 2, 8]]);
  });
});

test.each([
  ["{epsilon: 0.1}", "regulation.epsilon", "`epsilon` does nothing while no model is asked"],
  ["{power: {weights: {write: 2}}}", "regulation.power", "weights do nothing without a budget"],
])("a setting that does nothing is said: %s", (text, _place, message) => {
  const found = load(`regulation: ${text}`);
  expect(found.policy).toBeDefined();
  expect(found.diagnostics.map((each) => [each.code, each.severity, each.message])).toEqual([
    ["SG-POLICY-IDLE", "info", message],
  ]);
});

test("leases of the files that a policy is built on stay, weights are joined, other words are replaced", () => {
  const more = "regulation: {leases: [{tool: mail.send, calls: 1}], power: {weights: {read: 2}}, epsilon: 0.4}";
  const both = compiled(`extends: [base]\n${more}`);
  expect(both.leases.map((lease) => lease.callsMax)).toEqual([2, 1]);
  expect(both.power).toEqual({ budget: 50, weights: new Map(Object.entries({ write: 4, read: 2 })) });
  expect(compiled("extends: [base]").leases).toHaveLength(1);
  expect(compiled(`extends: [bare]\n${more}`).leases).toHaveLength(1);
  expect(compiled("extends: [base]\nregulation: {filter: {mode: accumulate}}")).toMatchObject({
    filter: { kind: "accumulate" },
    power: { budget: 50 },
  });
});

test("the builder, YAML and the canonical JSON say the same", () => {
  const document = built({
    labels: { "shell.run": { effects: "execute.local" } },
    regulation: { leases: [{ tool: "shell.run", calls: 3, for: "60s" }], shortlist: 5, power: { budget: 9 } },
  });
  const yaml = load(`
labels: {shell.run: {effects: execute.local}}
regulation: {power: {budget: 9}, shortlist: 5, leases: [{for: 1m, calls: 3, tool: [shell.run, shell.run]}]}`);
  const typed = loadPolicy({ file: "policy.ts", document }, { loader: () => undefined, hash });
  expect(typed.policy?.canonical).toBe(yaml.policy?.canonical);
  const again = loadCanonical(yaml.policy?.canonical ?? "", hash);
  expect(again?.regulation).toEqual(yaml.policy?.regulation);
  expect(again?.digest).toBe(yaml.policy?.digest);
});

test("a policy that does not speak of regulation has the canonical text it always had", () => {
  const loaded = load("keep: [{trace: [a.b]}]");
  expect(Object.keys(JSON.parse(loaded.policy?.canonical ?? "") as object)).not.toContain("regulation");
  const words = "regulation: {filter: {mode: lease, ttl: 300s}, epsilon: 0.1}";
  expect(load(words).policy?.canonical).toContain('"regulation":{"epsilon":0.1,"filter":{"mode":"lease","ttl":"5m"}}');
});
