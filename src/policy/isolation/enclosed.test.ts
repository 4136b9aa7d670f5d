import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { loadPolicy } from "../load.ts";
import { enclosedProcess } from "./enclosed.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The process of server `s` under the policy, if it is enclosed; it runs under the order that the policy gives. */
function enclosed(isolation: string, tier: "A" | "A-" | "B" | "C" | "none" | "remote" = "A", order?: string) {
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${isolation}` }, { loader: () => undefined, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  const { isolation: orders } = loaded.policy;
  const digest = order ?? orders?.orderOf("s").digest ?? "";
  return enclosedProcess(orders, "s", { tier, order: digest });
}

const apart = (scope: string): boolean | undefined => enclosed(own(scope))?.apart;

const own = (scope: string): string => `isolation: {servers: {s: {${scope}}}}`;

it("a process without network, sockets and writes in place is enclosed in tiers A and A-", () => {
  const order = enclosed("isolation: {}")?.process.order;
  expect(order).toMatch(/^[0-9a-f]{64}$/);
  expect(enclosed("isolation: {}")).toEqual({ process: { tier: "A", order }, apart: false });
  expect(enclosed("isolation: {}", "A-")?.process).toEqual({ tier: "A-", order });
  for (const tier of ["B", "C", "none", "remote"] as const) expect(enclosed("isolation: {}", tier)).toBeUndefined();
});

it("by default, too: the tier says whether the order is enforced", () => {
  const usual = "isolation: {backend: where-possible}";
  for (const tier of ["A", "A-"] as const) expect(enclosed(usual, tier)?.process.tier).toBe(tier);
  for (const tier of ["B", "C", "none", "remote"] as const) expect(enclosed(usual, tier)).toBeUndefined();
  const beside = (other: string): unknown =>
    enclosed(`isolation: {backend: where-possible, servers: {other: {${other}}}}`);
  // A server that this machine may not be able to isolate has the order of one that it can.
  expect(beside("files: {read: [/srv/data]}")).toBeDefined();
  for (const open of ['net: {allow: ["a.example.com:443"]}', "sockets: [/srv/a.sock]", "backend: off"])
    expect(beside(open), open).toBeUndefined();
  expect(enclosed("isolation: {backend: where-possible, defaults: {net: {mode: list}}}")).toBeUndefined();
});

it("nothing is enclosed without isolation, under another order, or where it is unknown how it runs", () => {
  expect(enclosed("servers: {s: {}}")).toBeUndefined();
  expect(enclosed("isolation: {}", "A", "the order of another policy")).toBeUndefined();
  expect(enclosedProcess(undefined, "s", undefined)).toBeUndefined();
});

it.each([
  "net: {mode: list}",
  'net: {allow: ["a.example.com:443"]}',
  "net: {mode: open}",
  "sockets: [/srv/a.sock]",
  "files: {write: [/srv/data]}",
  "files: {workspace: {mode: direct}}",
  "tools: {t: {write: [/srv/data]}}",
  'net: {mode: list}, tools: {t: {allow: ["a.example.com:443"]}}',
  "backend: learn",
  "backend: off",
])("the widest scope that any call can have decides: {%s} leaves a way out", (scope) => {
  expect(enclosed(own(scope))).toBeUndefined();
});

it.each([
  "files: {read: [/srv/data]}",
  "env: {pass: [API_KEY]}",
  "exec: {mode: none}",
  "files: {workspace: {commit: review}}",
  "tools: {t: {read: [/srv/data], programs: [git]}}",
])("what it can read, run or wait for leaves none: {%s}", (scope) => {
  expect(enclosed(own(scope))).toBeDefined();
});

it("writes that another server can pass on leave one, whatever that server is called", () => {
  const beside = (scope: string, mine = ""): unknown =>
    enclosed(`isolation: {servers: {s: {${mine}}, other: {${scope}}}}`);
  expect(beside('net: {allow: ["a.example.com:443"]}')).toBeUndefined();
  expect(beside("sockets: [/srv/a.sock]")).toBeUndefined();
  expect(beside("backend: off")).toBeUndefined();
  const blind = 'net: {allow: ["a.example.com:443"]}, files: {workspace: {mode: none}';
  expect(beside(`${blind}}`)).toBeDefined();
  expect(beside(`${blind}, read: [./out]}`)).toBeUndefined();
  expect(beside(`${blind}}, tools: {t: {read: [./out]}}`)).toBeUndefined();
  expect(beside("files: {write: [/srv/data]}")).toBeDefined();
  // A server without a name of its own gets the defaults.
  const mine = "net: {mode: none, allow: []}";
  expect(enclosed(`isolation: {defaults: {net: {mode: list}}, servers: {s: {${mine}}}}`)).toBeUndefined();
  for (const mode of ["read", "none"]) {
    expect(beside('net: {allow: ["a.example.com:443"]}', `files: {workspace: {mode: ${mode}}}`)).toBeDefined();
  }
  expect(beside('net: {allow: ["a.example.com:443"]}', "files: {workspace: {commit: never}}")).toBeDefined();
});

it("a process that reads a workspace or a path is not apart from what others write", () => {
  const blind = "files: {workspace: {mode: none}";
  expect(apart(`${blind}}, env: {pass: [API_KEY]}`)).toBe(true);
  expect(apart("files: {workspace: {mode: read}}")).toBe(false);
  expect(apart(`${blind}, read: [/srv/data]}`)).toBe(false);
  expect(apart(`${blind}}, tools: {t: {read: [/srv/data]}}`)).toBe(false);
});
