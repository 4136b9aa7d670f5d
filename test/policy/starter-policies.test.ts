/**
 * Starter policies and manifests of the shipped packs: each pack has both, its labels cover the whole manifest, every
 * trace holds, and every hazard of the policy is refused by a rule of its own in at least one trace.
 */
import { existsSync, readFileSync } from "node:fs";
import canonicalize from "canonicalize";
import { describe, expect, test } from "vitest";
import { checkExpectations } from "../../src/app/policy/expectations.ts";
import { isArray, isObject, member, stringMember, type Json, type JsonObject } from "../../src/core/json.ts";
import { contractOfTool } from "../../src/policy/contracts/contracts.ts";
import { lintPolicy } from "../../src/policy/lint/lint.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { parsePolicy } from "../../src/policy/canonical/policy-document.ts";
import { listTools } from "../kit/policy/list-tools.ts";
import { sha256, shippedOptions, shippedPacks } from "../kit/policy/load-packs.ts";

/** The protocol's own test server and a notebook in memory hold nothing of anybody: there is nothing to protect. */
const withoutPolicy = new Set(["everything", "sequential-thinking"]);
const names = shippedPacks.filter((name) => !withoutPolicy.has(name));

const place = (path: string): URL => new URL(`../../packs/${path}`, import.meta.url);
const digestOf = (listed: JsonObject): string => sha256(canonicalize(listed) ?? "");

function toolsOf(name: string): readonly JsonObject[] {
  const manifest: Json = JSON.parse(readFileSync(place(`manifests/${name}.json`), "utf8"));
  const tools = member(manifest, "tools");
  return isArray(tools) ? tools.filter(isObject) : [];
}

function load(name: string) {
  const text = readFileSync(place(`policies/${name}.yaml`), "utf8");
  const tools = toolsOf(name);
  const manifests = { [name]: tools.map((tool) => stringMember(tool, "name") ?? "") };
  const loaded = loadPolicy({ file: `policies/${name}.yaml`, text }, { ...shippedOptions, manifests });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics, undefined, 1));
  const own = parsePolicy(text, name);
  if (!own.ok) throw new Error(JSON.stringify(own.error));
  return { policy: loaded.policy, diagnostics: loaded.diagnostics, tools, document: own.value.document };
}

test("every pack has a manifest and a starter policy", () => {
  const missing = names
    .flatMap((name) => [`manifests/${name}.json`, `policies/${name}.yaml`])
    .filter((path) => !existsSync(place(path)));
  expect(missing).toEqual([]);
});

const complete = names.filter(
  (name) => existsSync(place(`manifests/${name}.json`)) && existsSync(place(`policies/${name}.yaml`)),
);

describe.each(complete)("starter policy %s", (name) => {
  const { policy, diagnostics, tools, document } = load(name);
  const expectations = checkExpectations(policy);
  const list = (words: string | readonly string[] | undefined): readonly string[] =>
    typeof words === "string" ? [words] : (words ?? []);

  test("loads without a finding and without a lint of its own", () => {
    // Some say on purpose what a hazard of the default means here.
    expect(diagnostics.filter(({ code, severity }) => severity !== "info" || !code.endsWith("REPLACES"))).toEqual([]);
    const inherited = new Set(["keep-private", "keep-credentials"]);
    const lints = lintPolicy(policy, { [name]: tools }, digestOf).filter(
      ({ severity, path }) => severity !== "info" && !inherited.has(String(path[1])),
    );
    expect(lints).toEqual([]);
  });

  test("the pack labels every tool of the manifest", () => {
    expect(tools.length).toBeGreaterThan(0);
    const pack = policy.table.packs.get(name);
    for (const tool of tools) {
      expect(pack?.tools.has(stringMember(tool, "name") ?? ""), stringMember(tool, "name")).toBe(true);
      const contract = contractOfTool(policy.table, name, tool, digestOf);
      expect(["pack", "operator"], contract.tool).toContain(contract.source);
    }
  });

  test("the pack names every argument of the manifest", () => {
    const pack = policy.table.packs.get(name);
    for (const tool of tools) {
      const toolName = stringMember(tool, "name") ?? "";
      const properties = member(member(tool, "inputSchema"), "properties");
      for (const argument of Object.keys(isObject(properties) ? properties : {})) {
        const role = pack?.tools.get(toolName)?.arguments.get(argument)?.role ?? pack?.tools.get(toolName)?.rest?.role;
        expect(role, `${toolName}.${argument}`).toBeDefined();
      }
    }
  });

  test("has between two and six hazards, each with a loss and a reason", () => {
    const hazards = Object.entries(document.hazards ?? {});
    expect(hazards.length).toBeGreaterThanOrEqual(2);
    expect(hazards.length).toBeLessThanOrEqual(6);
    for (const [id, hazard] of hazards) {
      expect(hazard.loss, id).toBeDefined();
      expect(hazard.why, id).toBeDefined();
      expect(hazard.consent, id).toBeDefined();
    }
  });

  test("every rule says why, and which of its hazards it serves", () => {
    for (const rule of document.rules ?? []) {
      expect(rule.why.length, rule.id).toBeGreaterThan(0);
      // An allow rule only spares questions.
      if (rule.tier !== "allow") expect(list(rule.serves).length, rule.id).toBeGreaterThan(0);
      for (const hazard of list(rule.serves)) expect(Object.keys(policy.policy.hazards), rule.id).toContain(hazard);
    }
  });

  test.each(expectations)("trace $index holds", ({ expected, found, holds }) => {
    expect(holds, `wants ${expected}, finds ${found.verdict} by ${found.rules.join(", ")}`).toBe(true);
  });

  test("ordinary work passes in at least two traces, with an instruction", () => {
    const allowed = (document.expect ?? []).filter(({ verdict }) => verdict === "allow");
    expect(allowed.length).toBeGreaterThanOrEqual(2);
    for (const { instruction } of allowed) expect(instruction).toBeDefined();
  });

  test("every hazard is refused by a rule in some trace", () => {
    const rules = policy.policy.rules;
    const refusing = new Set(
      (document.expect ?? [])
        .filter(({ verdict }) => verdict === "deny")
        .flatMap(({ by }) => list(by))
        .flatMap((id) => list(rules.find((rule) => rule.id === id)?.serves)),
    );
    for (const id of Object.keys(document.hazards ?? {})) expect(refusing, id).toContain(id);
  });

  test("every rule refuses some trace", () => {
    const refusing = new Set(
      (document.expect ?? []).flatMap(({ verdict, by }) => (verdict === "deny" ? list(by) : [])),
    );
    for (const rule of document.rules ?? []) {
      if (rule.tier !== "allow") expect(refusing, rule.id).toContain(rule.id);
    }
  });
});

describe.each([
  ["filesystem", ["/tmp"]],
  ["memory", []],
] as const)("manifest of the real server %s", (name, args) => {
  test("is what the installed server lists", async () => {
    expect(toolsOf(name)).toEqual(await listTools(name, args));
  });
});
