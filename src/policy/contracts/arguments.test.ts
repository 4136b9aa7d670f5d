import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { contractOfTool } from "./contracts.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const pack = `version: 1
pack: {name: p, reach: local}
labels:
  peek: {effects: read.local, args: {path: path}, output: {confidentiality: sensitive, trust: trusted}}
`;

function contract(text: string, tool: JsonObject) {
  const loaded = loadPolicy(
    { file: "p.yaml", text: `version: 1\n${text}` },
    { loader: () => ({ file: "pack.yaml", text: pack }), hash },
  );
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return contractOfTool(loaded.policy.table, "s", tool, () => "d");
}

describe("what a server says of its arguments", () => {
  const labels = (own: JsonObject, url: JsonObject = {}): JsonObject => ({
    name: "peek",
    inputSchema: { type: "object", properties: { url } },
    _meta: { "io.github.sluicegate/labels": own },
  });
  const chosen = "lattice: {categories: [medical], groups: [me, anyone]}\nservers: {s: {pack: p}}";
  const argumentOf = (policy: string, listed: JsonObject, name = "url") =>
    contract(`${chosen}\n${policy}`, listed).arguments.get(name);
  const bits = (policy: string, listed: JsonObject, name?: string): number =>
    argumentOf(policy, listed, name)?.forbidden ?? 0;
  // Bits: sensitive 1, private 2, medical 4, then readers.
  const seen =
    "labels: {s.peek: {args: {url: {sink: true, audience: me, bound: {confidentiality: private, categories: [medical]}}}}}";
  const open = "labels: {s.other: {}}";

  test.each<[string, JsonObject, number]>([
    ["a level", { "x-sluicegate-bound": "public" }, 7],
    ["a higher level", { "x-sluicegate-bound": "sensitive" }, 6],
    ["categories", { "x-sluicegate-bound": { confidentiality: "private", categories: ["medical", "other"] } }, 0],
    ["a level that the policy does not have", { "x-sluicegate-bound": "internal" }, 7],
    ["no level at all", { "x-sluicegate-bound": 7 }, 7],
    ["the form of the paper", { labels: { confidentiality: "sensitive" } }, 6],
    ["its word for nothing", { labels: { confidentiality: "inferred" } }, 0],
    ["its other word for nothing", { labels: { confidentiality: "unsure", trust_level: "untrusted" } }, 0],
  ])("D28: a bound in the schema is read: %s", (_, own, expected) => {
    const listed = labels({ args: { url: { sink: true, audience: "me" } } }, own);
    const policy =
      "lattice: {categories: [medical], groups: [me, anyone]}\nservers: {s: {trust: trusted, operator: me}}";
    for (const text of [policy, policy.replace("trusted", "untrusted")]) {
      const found = contract(text, { ...listed, name: "get_url" }).arguments.get("url");
      expect((found?.forbidden ?? 0) & 7 & ~bitsOf(text)).toBe(expected & ~bitsOf(text));
    }
  });

  /** What is forbidden without a bound: the clearance of everyone who sees it. */
  const bitsOf = (text: string): number =>
    contract(text, { name: "get_url", inputSchema: { properties: { url: {} } } }).arguments.get("url")?.forbidden ?? 0;

  test("an argument whose role is in doubt is seen by whoever may be addressed by it", () => {
    const get: JsonObject = { name: "get_page", inputSchema: { properties: { x: {} } } };
    const audience = (role: string): number | undefined =>
      contract(
        `lattice: {groups: [me, acme, anyone]}\nservers: {s: {operator: acme}}\nlabels: {s.get_page: {effects: read.external, args: {x: ${role}}}}`,
        get,
      ).arguments.get("x")?.audience;
    expect([audience("query"), audience("destination"), audience("unsure")]).toEqual([1, 3, 3]);
  });

  test("D28: the operator's word about an argument stands, a pack's is restricted by the server's", () => {
    const strict = labels(
      { args: { url: { sink: true, bound: "public", audience: "anyone", role: "recipient" } } },
      { "x-sluicegate-bound": "sensitive" },
    );
    expect(bits(seen, strict) & 7).toBe(0);
    expect(argumentOf(seen, strict)).toMatchObject({ role: "recipient", audience: 2 });
    expect(argumentOf(open, strict)).toMatchObject({ sink: true, role: "recipient", audience: 1 });
    expect(bits(open, strict) & 6).toBe(6);
    const role = (own: JsonObject, name: string) => argumentOf(open, labels(own), name)?.role;
    expect(role({ args: { path: "recipient" } }, "path")).toBe("path");
    expect(role({ args: { path: "content" } }, "path")).toBe("path");
    expect(role({ rest: "command" }, "path")).toBe("path");
    expect(role({ rest: "command" }, "url")).toBe("command");
    expect(role({ args: { path: "unsure" } }, "path")).toBe("path");
    expect(role({ args: { url: "unsure" } }, "url")).toBe("unsure");
    expect(
      argumentOf("labels: {s.peek: {args: {path: {sink: false}}}}", labels({ args: { path: { sink: true } } }), "path")
        ?.sink,
    ).toBe(false);
  });
});
