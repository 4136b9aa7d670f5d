import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import { describe as words, trustOf } from "../../core/label.ts";
import { parsePolicy } from "../canonical/policy-document.ts";
import { contractOfTool, isLabelled, isPinned } from "../contracts/contracts.ts";
import { loadCanonical, loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const digestOf = (listed: JsonObject): string => hash(JSON.stringify(listed));
const tool: JsonObject = {
  name: "look",
  inputSchema: { type: "object", properties: { id: { type: "string" }, mode: { enum: ["a"] } }, required: ["id"] },
};
const changed: JsonObject = { ...tool, description: "Other words." };
const [own, other] = [digestOf(tool), digestOf(changed)];

const reading = (label: string, more = ""): string =>
  `{server: s, tool: look, digest: ${own}, until: "2027-01-31", label: ${label}${more}}`;
const plain = "{effects: read.local, args: {id: identifier}, output: private}";

function load(text: string, options: { today?: string; accepted?: string; packs?: Record<string, string> } = {}) {
  const { today, accepted, packs = {} } = options;
  const source = accepted === undefined ? undefined : parsePolicy(`version: 1\n${accepted}`, "cards.json");
  if (source?.ok === false) throw new Error(JSON.stringify(source.error));
  const find = (name: string) => (packs[name] === undefined ? undefined : { file: name, text: packs[name] });
  return loadPolicy(
    { file: "p.yaml", text: `version: 1\n${text}` },
    {
      loader: find,
      hash,
      ...(today === undefined ? {} : { today }),
      ...(source === undefined ? {} : { accepted: source.value }),
    },
  );
}

function contract(text: string, listed = tool, server = "s"): ToolContract {
  const { policy, diagnostics } = load(text);
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return contractOfTool(policy.table, server, listed, digestOf);
}

const codes = (text: string): readonly string[] => load(text).diagnostics.map(({ code }) => code);

describe("an accepted reading", () => {
  const text = `readings: [${reading(plain)}]`;

  test("decides effects, flags and roles of exactly that tool; its results are untrusted for sure", () => {
    const found = contract(text);
    expect(found).toMatchObject({ source: "card", effects: { must: ["read.local"], may: ["read.local"] } });
    expect(found.flags).toEqual({ irreversible: false, openWorld: false });
    expect(found.arguments.get("id")).toMatchObject({ role: "identifier", sink: false });
    expect(found.arguments.get("mode")?.schemaValues).toEqual(["a"]);
    expect(found.consequential).toBe(false);
    const { table } = load(text).policy!;
    const { lattice } = table.labels;
    expect(words(lattice, found.output.label.lo)).toBe("private, untrusted");
    expect(words(lattice, found.output.label.hi)).toBe("private, untrusted");
    expect(isPinned(table, { server: "s", tool: "look", toolDigest: own })).toBe(true);
    expect([isLabelled(table, "s"), isLabelled(table, "t")]).toEqual([true, false]);
  });

  test.each<[string, JsonObject, string]>([
    ["another digest", changed, "s"],
    ["another server", tool, "t"],
    ["the start of its name", tool, "s.look"],
    ["another tool of one digest", { ...tool, name: "peek" }, "s"],
  ])("says nothing of %s", (_, listed, server) => {
    expect(contract(text, listed, server)).toMatchObject({ source: "unknown", flags: { irreversible: true } });
    expect(contract(text, listed, server).arguments.get("mode")?.schemaValues).toEqual([]);
  });

  test("without a word on results leaves their confidentiality open, and they are untrusted", () => {
    const found = contract(`readings: [${reading("{effects: read.local}")}]`);
    const { lattice } = load(text).policy!.table.labels;
    expect(words(lattice, found.output.label.lo)).toBe("public, untrusted");
    expect(found.output.label.hi).toBe(lattice.top);
  });

  test("labels fields, which are untrusted as well", () => {
    const fields = "{effects: read.local, output: {confidentiality: private, fields: {/id: public}}}";
    const found = contract(`readings: [${reading(fields)}]`);
    const untrusted = trustOf(load(text).policy!.table.labels.lattice, 0xffff as never);
    expect(found.output.fields).toMatchObject([{ pointer: "/id", label: { lo: untrusted, hi: untrusted } }]);
  });

  test("is joined with what the server says against itself", () => {
    const said = { effects: "write.external.send", flags: ["irreversible"], output: { confidentiality: "private" } };
    const listed = { ...tool, _meta: { "io.github.sluicegate/labels": said } };
    const one = `{server: s, tool: look, digest: ${digestOf(listed)}, until: "2027-01-31", label: {effects: read.local, args: {id: content}, output: public}}`;
    const found = contract(`readings: [${one}]`, listed);
    expect(found.effects).toEqual({
      must: ["read.local", "write.external.send"],
      may: ["read.local", "write.external.send"],
    });
    expect(found.claimed).toEqual(["write.external.send"]);
    expect(found.flags.irreversible).toBe(true);
    expect(found.output.label.lo).toBe(3 | 16);
  });

  test("stands behind the operator and behind a pack", () => {
    expect(contract(`${text}\nlabels: {s.look: {effects: write.external}}`)).toMatchObject({
      source: "operator",
      effects: { may: ["write.external"] },
    });
    const packs = { p: "version: 1\npack: {name: p}\nlabels: {look: {effects: execute.local}}\n" };
    const { policy } = load(`${text}\nservers: {s: {pack: p}}`, { packs });
    expect(contractOfTool(policy!.table, "s", tool, digestOf)).toMatchObject({
      source: "pack",
      effects: { may: ["execute.local"] },
    });
  });

  test.each([
    ["{cases: [{when: {arg: {id: x}}, effects: read}]}"],
    ["{reads: store}"],
    ["{writes: store}"],
    ["{opens: {store: store, audience: anyone}}"],
    ["{args: {id: {role: content, sink: false}}}"],
    ["{args: {id: {bound: private}}}"],
    ["{rest: {audience: me}}"],
    ["{args: {id: {type: file-id}}}"],
    ["{output: {confidentiality: public, trust: trusted}}"],
    ["{output: {confidentiality: public, trust: unsure}}"],
    ["{output: {confidentiality: public, fields: {/a: {confidentiality: public, trust: trusted}}}}"],
    ["{output: {confidentiality: public, fields: {/a: {confidentiality: public, from: [id]}}}}"],
    ["{output: {confidentiality: public, fields: {/a: {confidentiality: public, type: id}}}}"],
  ])("that says %s is refused", (label) => {
    const found = load(`stores: {store: {}}\nreadings: [${reading(label)}]`);
    expect(found.policy).toBeUndefined();
    expect(found.diagnostics[0]).toMatchObject({ code: "SG-POLICY-READING", file: "p.yaml", line: 3 });
  });

  test("may say that others see an argument, and that results are untrusted", () => {
    const label = "{args: {id: {role: content, sink: true}}, output: {confidentiality: public, trust: untrusted}}";
    expect(contract(`readings: [${reading(label)}]`).arguments.get("id")).toMatchObject({
      role: "content",
      sink: true,
    });
  });
});

describe("several", () => {
  test("stand in one order in the canonical text, which loads again", () => {
    const first = `{server: s, tool: look, digest: ${other}, until: "2027-01-31", label: {capabilities: read}}`;
    const one = load(`readings: [${reading(plain)}, ${first}]`).policy!;
    const two = load(`readings: [${first}, ${reading(plain)}]`).policy!;
    expect(one.digest).toBe(two.digest);
    expect(loadCanonical(one.canonical, hash)?.digest).toBe(one.digest);
    expect(one.policy.readings?.map(({ label }) => label.effects?.may)).toContainEqual(["read"]);
    expect(load("readings: []").policy?.digest).toBe(load("").policy?.digest);
  });

  test("of one tool and digest are one too many in one document, and the later document counts", () => {
    expect(codes(`readings: [${reading(plain)}, ${reading("{effects: write}")}]`)).toEqual(["SG-POLICY-ID"]);
    const packs = { base: `version: 1\nreadings: [${reading("{effects: write}")}]\n` };
    const both = load(`extends: [base]\nreadings: [${reading(plain)}]`, { packs });
    expect(both.policy?.policy.readings).toMatchObject([{ label: { effects: { may: ["read.local"] } } }]);
  });

  test.each(["digest: abc", "server: a.b", 'until: "tomorrow"', "tool: a b"])("with `%s` are no readings", (wrong) => {
    const [key = ""] = wrong.split(":");
    const text = `readings: [${reading(plain).replace(new RegExp(`${key}: [^,}]+`), wrong)}]`;
    expect(load(text).policy).toBeUndefined();
  });
});

describe("on its day", () => {
  const text = `readings: [${reading(plain)}]`;

  test("a reading counts until its last day is over, and the loader tells when that is", () => {
    expect(load(text, { today: "2027-01-31" })).toMatchObject({ until: "2027-01-31", diagnostics: [] });
    const over = load(text, { today: "2027-02-01" });
    expect(over.policy?.policy.readings).toBeUndefined();
    expect(over.until).toBeUndefined();
    expect(over.diagnostics).toMatchObject([{ code: "SG-POLICY-READING-END", severity: "info", line: 2 }]);
  });

  test("a canonical text keeps what it holds: a replay decides as on that day", () => {
    const { canonical, digest } = load(text).policy!;
    expect(loadCanonical(canonical, hash)?.digest).toBe(digest);
  });
});

describe("the readings of cards", () => {
  const accepted = `readings: [${reading(plain)}]`;

  test("are added to a policy, whose own readings stand before them", () => {
    expect(load("", { accepted }).policy?.digest).toBe(load(accepted).policy?.digest);
    const both = load(`readings: [${reading("{effects: write}")}]`, { accepted });
    expect(both.policy?.policy.readings).toMatchObject([{ label: { effects: { may: ["write"] } } }]);
    expect(both.diagnostics.some(({ severity }) => severity === "error")).toBe(false);
  });

  test("are not added to a pack, nor to a document that does not load", () => {
    const pack = "pack: {name: p}\nlabels: {look: {effects: read}}";
    const packs = { default: "version: 1\n" };
    expect(load(pack, { accepted, packs }).policy?.policy.readings).toBeUndefined();
    expect(load("extends: [missing]", { accepted })).toMatchObject({ policy: undefined });
  });

  test("do not count where the policy lacks their words, each alone", () => {
    const secret = `{server: s, tool: b, digest: ${other}, until: "2027-01-31", label: {output: secret}}`;
    const some = load("", { accepted: `readings: [${reading(plain)}, ${secret}]` });
    expect(some.policy?.policy.readings).toHaveLength(1);
    expect(some.diagnostics).toMatchObject([{ code: "SG-POLICY-READING", severity: "warning", file: "cards.json" }]);
    expect(some.diagnostics[0]?.message).toMatch(/^1 accepted reading does not count/);
  });

  test("are none in a document without any", () => {
    expect(load("", { accepted: "" }).policy?.digest).toBe(load("").policy?.digest);
    expect(load("accepts: [nothing]", { accepted: "" }).policy).toBeUndefined();
  });

  test("leave a policy that fails by itself with its own fault", () => {
    const found = load("accepts: [nothing]", { accepted });
    expect(found.policy).toBeUndefined();
    expect(found.diagnostics[0]).toMatchObject({ code: "SG-POLICY-HAZARD", file: "p.yaml" });
  });

  test("do not count where the policy would become too long to be read again", () => {
    const args = Array.from({ length: 20 }, (_, index) => `argument-${index}-of-a-tool: identifier`).join(", ");
    const many = Array.from({ length: 900 }, (_, place) =>
      reading(`{args: {${args}}}`).replace("look", `look${place}`),
    );
    const half = [many.slice(0, 450), many.slice(450)].map((part) =>
      parsePolicy(`version: 1\nreadings: [${part.join(", ")}]`, "cards.json"),
    );
    const readings = half.flatMap((part) => (part.ok ? (part.value.document.readings ?? []) : []));
    const locate = () => ({ line: 0, column: 0 });
    const accepted = { file: "cards.json", locate, document: { version: 1, readings } } as const;
    const found = loadPolicy({ file: "p", text: "version: 1" }, { loader: () => undefined, hash, accepted });
    expect(readings).toHaveLength(900);
    expect(found.policy?.policy.readings).toBeUndefined();
    expect(found.diagnostics[0]?.message).toMatch(/^900 accepted readings do not count/);
  });
});
