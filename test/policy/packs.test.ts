/** The shipped packs and the default policy: they load without a finding, and their pins fit the real servers. */
import canonicalize from "canonicalize";
import { describe, expect, test } from "vitest";
import { contractOfTool } from "../../src/policy/contracts/contracts.ts";
import { isolationOrder } from "../../src/policy/ir/isolation-order.ts";
import { defaultInput } from "../../src/policy/canonical/extends.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { parsePolicy } from "../../src/policy/canonical/policy-document.ts";
import { pinnedPacks } from "../../src/policy/canonical/default-policy.ts";
import { describe as words } from "../../src/core/label.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { sha256, shippedOptions, shippedPacks } from "../kit/policy/load-packs.ts";
import { listTools } from "../kit/policy/list-tools.ts";

const textOf = (name: string): string => {
  const input = shippedOptions.loader(name, "");
  return input !== undefined && "text" in input ? input.text : "";
};

const digestOf = (listed: JsonObject): string => sha256(canonicalize(listed) ?? "");
const loaded = loadPolicy(defaultInput, shippedOptions);
const policy = loaded.policy;
if (policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics, undefined, 1));

test("the default policy loads without a finding and holds every pinned pack, and no other", () => {
  expect(loaded.diagnostics).toEqual([]);
  expect(Object.keys(policy.policy.packs)).toEqual(pinnedPacks);
});

test("a pack that is recognised by its tools pins all of them; any other pins at most single entries that were read", () => {
  for (const name of shippedPacks) {
    const parsed = parsePolicy(textOf(name), name);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const { pack, labels } = parsed.value.document;
    const pins = Object.keys(pack?.digests ?? {});
    const known = Object.keys(labels ?? {});
    if (pinnedPacks.includes(name)) expect(pins.toSorted(), name).toEqual(known.toSorted());
    else expect(pins.length, name).toBeLessThan(known.length);
    for (const tool of pins) expect(known, name).toContain(tool);
  }
});

test.each(shippedPacks)("pack %s by itself loads without a finding", (name) => {
  const input = shippedOptions.loader(name, "");
  if (input === undefined) throw new Error("not shipped");
  const alone = loadPolicy({ ...input, file: "mine.yaml" }, shippedOptions);
  expect(alone.diagnostics).toEqual([]);
  expect(Object.keys(alone.policy?.policy.packs ?? {})).toEqual([name]);
});

/** Packs of servers whose hosts nobody can list. */
const openPacks = new Set(["chrome-devtools", "playwright", "puppeteer"]);

test.each(shippedPacks)("pack %s says what its server may touch, and only names tools that it labels", (name) => {
  const isolated = (isolation: string) =>
    loadPolicy(
      {
        file: "mine.yaml",
        text: `version: 1\nextends: [default]\nservers: {s: {pack: ${name}}}\nisolation: ${isolation}\n`,
      },
      shippedOptions,
    );
  const { policy: compiled, diagnostics } = isolated("{require: B}");
  expect(diagnostics).toEqual([]);
  const order = compiled && isolationOrder(compiled, "s");
  expect(compiled?.policy.packs[name]?.scope).toBeDefined();
  for (const tool of order?.scope.tools.keys() ?? [])
    expect(compiled?.policy.packs[name]?.labels).toHaveProperty([tool]);
  // A pack that opens the network cannot be held by the tiers that have one of their own.
  expect(isolated("{require: strict}").diagnostics).toHaveLength(openPacks.has(name) ? 1 : 0);
  expect(order?.scope.net.mode === "open").toBe(openPacks.has(name));
  // A local pack reaches nothing by itself; a call may be granted more.
  if (compiled?.policy.packs[name]?.reach === "local") expect(order?.scope.net.allow).toEqual([]);
});

test("every tool that a pack pins has labels in it", () => {
  for (const pack of policy.table.packs.values()) {
    for (const tool of pack.digests.keys()) expect(pack.tools.has(tool), `${pack.name}.${tool}`).toBe(true);
  }
});

describe.each([
  ["filesystem", ["/tmp"]],
  ["memory", []],
  ["everything", []],
  ["sequential-thinking", []],
] as const)("real server %s", (name, args) => {
  test("each of its tools is pinned, so it needs no configuration", async () => {
    const tools = await listTools(name, args);
    expect(tools.length).toBeGreaterThan(0);
    for (const tool of tools) {
      const contract = contractOfTool(policy.table, "whatever", tool, digestOf);
      expect(contract.source, contract.tool).toBe("pack");
      const external = contract.effects.may.filter((effect) => effect.includes("external"));
      expect(external, contract.tool).toEqual(contract.tool === "gzip-file-as-resource" ? ["read.external"] : []);
      const changed = contractOfTool(policy.table, "whatever", { ...tool, description: "Send it to me" }, digestOf);
      expect(changed.source, contract.tool).toBe("unknown");
    }
  });
});

test("paths of secrets give private labels, in lists too", async () => {
  const tools = await listTools("filesystem", ["/tmp"]);
  const listed = tools.find((tool) => tool["name"] === "read_multiple_files");
  if (listed === undefined) throw new Error("not listed");
  const contract = contractOfTool(policy.table, "files", listed, digestOf);
  const { lattice, predicates } = policy.ir;
  const { evaluateTest } = await import("../../src/policy/semantics/argument-tests.ts");
  const labelOf = (paths: string[]): string => {
    for (const each of contract.cases) {
      const holds = each.predicates.every((index) => {
        const predicate = predicates[index];
        return predicate?.kind === "argument" && evaluateTest(predicate.test, paths);
      });
      if (holds && each.output !== undefined) return words(lattice, each.output.label.lo);
    }
    return words(lattice, contract.output.label.lo);
  };
  expect(labelOf(["/w/README.md", "/w/src/main.ts", "/w/.env.example"])).toBe("sensitive");
  expect(labelOf(["/w/README.md", "/w/.env"])).toBe("private, credentials");
  expect(labelOf(["/w/sub/../.ENV"])).toBe("private, credentials");
  expect(labelOf(["/w/health/a.pdf", "/w/taxes/2026.csv"])).toBe("private, finance, medical");
  expect(labelOf(["/w//private/./plan.txt"])).toBe("private");
  expect(labelOf(["private/plan.txt"])).toBe("private");
});
