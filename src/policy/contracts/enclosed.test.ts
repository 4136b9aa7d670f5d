import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import { describe as words } from "../../core/label.ts";
import { withProcess } from "../ir/label-table.ts";
import { loadPolicy } from "../load.ts";
import { contractOfTool } from "./contracts.ts";
import { contractOfMethod, knownMethods } from "./methods.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const process = { tier: "A", order: "order-1" } as const;
const memory = 'stores: {"proc:s": {label: {confidentiality: public}}}\n';
const listed = { name: "frob", inputSchema: { type: "object", properties: { url: { type: "string" } } } };
const pack = `version: 1
pack: {name: p, digests: {peek: [${"e".repeat(64)}]}}
labels:
  peek: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  poke: {effects: read.local, output: {confidentiality: public, trust: trusted}}
`;

function table(text: string, enclosed = true, apart = true) {
  const loader = (name: string) => (name === "p" ? { file: "p.yaml", text: pack } : undefined);
  const loaded = loadPolicy({ file: "policy.yaml", text: `version: 1\n${text}` }, { loader, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return withProcess(loaded.policy.table, "s", enclosed ? { process, apart } : undefined);
}

function contract(text: string, tool: JsonObject = listed, enclosed = true): ToolContract {
  return contractOfTool(table(text, enclosed), "s", tool, () => "d".repeat(64));
}

const worst = "private, untrusted, for nobody";
const hi = (text: string, found: ToolContract): string => words(table(text).labels.lattice, found.output.label.hi);
const meta = (labels: JsonObject): JsonObject => ({ ...listed, _meta: { "io.github.sluicegate/labels": labels } });

describe("a tool that no authority labels, in an enclosed process", () => {
  it("reads, writes and runs inside, and no other reader sees its arguments", () => {
    const found = contract("");
    expect(found.source).toBe("enforced");
    expect(found.effects).toEqual({ must: [], may: ["execute.local", "read.local", "write.local"] });
    expect(found.flags).toEqual({ irreversible: false, openWorld: false });
    expect([found.rest.sink, found.arguments.get("url")?.sink]).toEqual([false, false]);
    expect(found.process).toEqual(process);
    expect(hi("", found)).toBe(worst);
    expect(contract("", listed, false)).toMatchObject({ source: "unknown", rest: { sink: true } });
    expect(contract("", listed, false).process).toBeUndefined();
  });

  it("does what its server admits as well, and carries the flags that it states", () => {
    const admits = contract("", meta({ effects: ["write.external.send"], flags: ["irreversible", "open_world"] }));
    expect(admits.effects.may).toContain("write.external.send");
    expect(admits.effects.must).toEqual(["write.external.send"]);
    expect(admits.claimed).toEqual(["write.external.send"]);
    expect(admits.rest.sink).toBe(true);
    expect(admits.flags).toEqual({ irreversible: true, openWorld: true });
  });

  it("may do what its words suggest beyond plain writing, and only inside", () => {
    const drops = contract("", { name: "delete_note" });
    expect(drops.effects.may).toContain("write.local.delete");
    expect(drops.flags.irreversible).toBe(true);
    const sends = contract("", { name: "send_message" });
    expect(sends.effects.may.filter((effect) => effect.includes("external"))).toEqual([]);
    expect(sends.flags.irreversible).toBe(true);
  });

  it("is believed by its words where the operator trusts the server, and no wider than its process", () => {
    const trusted = "servers: {s: {trust: trusted}}";
    expect(contract(trusted, { name: "get_page" })).toMatchObject({
      source: "inference",
      effects: { may: ["read.local"] },
    });
    expect(contract(trusted).source).toBe("enforced");
  });

  it("does not lower what the operator or a pack states", () => {
    const stated = contract("labels: {s.frob: {effects: [write.external.send], flags: [irreversible]}}");
    expect(stated).toMatchObject({ source: "operator", effects: { may: ["write.external.send"] }, process });
    expect(stated.rest.sink).toBe(true);
    expect(stated.flags.irreversible).toBe(true);
  });
});

describe("an accepted card about a tool in an enclosed process", () => {
  const accepted = (label: string): string =>
    `readings: [{server: s, tool: frob, digest: ${"d".repeat(64)}, until: "2099-01-01", label: ${label}}]`;
  const both = (label: string, tool?: JsonObject) =>
    [contract(accepted(label), tool), contract(accepted(label), tool, false)] as const;

  it("was proposed from words, so what it says of the outside is inside", () => {
    const [inside, outside] = both(
      "{effects: {must: [read.external], may: [read.external, write.external.delete]}, flags: [open_world, irreversible]}",
    );
    expect(inside).toMatchObject({ source: "card", process, rest: { sink: false } });
    expect(inside.effects).toEqual({ must: [], may: ["read.local", "write.local.delete"] });
    expect(inside.flags).toEqual({ irreversible: true, openWorld: false });
    expect(outside.effects.must).toEqual(["read.external"]);
    expect([outside.flags.openWorld, outside.rest.sink]).toEqual([true, true]);
    const short = both("{effects: {must: [read.local], may: [read, write, execute.local]}}")[0];
    expect(short.effects).toEqual({ must: ["read.local"], may: ["execute.local", "read.local", "write.local"] });
  });

  it("and what the server says against itself stands", () => {
    const admits = both(
      "{effects: [read.external]}",
      meta({ effects: ["write.external.send"], flags: ["open_world"] }),
    )[0];
    expect(admits.effects).toEqual({ must: ["write.external.send"], may: ["read.local", "write.external.send"] });
    expect(admits.flags.openWorld).toBe(true);
  });

  it("is bounded alone: the operator's word stands", () => {
    const said = contract(`labels: {s.frob: {effects: [read.external]}}\n${accepted("{effects: [read.local]}")}`);
    expect(said.effects.may).toEqual(["read.external"]);
  });
});

describe("the memory of a process", () => {
  it("is written by every tool and method of its server, enclosed or not", () => {
    for (const enclosed of [true, false]) {
      expect(contract(memory, listed, enclosed).writes).toEqual(["proc:s"]);
      for (const method of [...knownMethods, "unknown/method"]) {
        const found = contractOfMethod(table(memory, enclosed), "s", method);
        expect([found.reads, found.writes], method).toEqual([["proc:s"], ["proc:s"]]);
      }
    }
    expect(contractOfMethod(table(memory), "other", "ping").writes).toEqual([]);
    expect(contract("").writes).toEqual([]);
  });

  it("bounds what an enclosed process returns; what is stated against it is joined", () => {
    const found = contract(memory);
    expect(hi(memory, found)).toBe("public, untrusted");
    expect(found.reads).toEqual(["proc:s"]);
    expect(hi(memory, contract(memory, listed, false))).toBe(worst);
    expect(hi(memory, contract(memory, meta({ output: { confidentiality: "private" } })))).toMatch(/^private/);
    const sees = contractOfTool(table(memory, true, false), "s", listed, () => "d");
    expect(hi(memory, sees), "it reads what others write").toBe(worst);
    expect(contractOfMethod(table(memory, false), "s", "resources/read").process).toBeUndefined();
  });

  it("is narrowed by the operator and by a pack for this very tool, and by no pack for another version", () => {
    const own = `${memory}labels: {s.frob: {output: {confidentiality: public, trust: trusted}, reads: "proc:s"}}`;
    expect(contract(own)).toMatchObject({ reads: ["proc:s"] });
    expect(contract(own.replace(', reads: "proc:s"', ""))).toMatchObject({ reads: [], writes: ["proc:s"] });
    const packed = `${memory}servers: {s: {pack: p}}`;
    expect(contract(packed, { name: "peek" }).reads).toEqual(["proc:s"]);
    expect(contract(packed, { name: "poke" }).reads).toEqual([]);
    const same = contractOfTool(table(packed), "s", { name: "peek" }, () => "e".repeat(64));
    expect(same.reads).toEqual([]);
  });
});

describe("methods of a server with an enclosed process", () => {
  it("stay inside: a resource is read there, and answers go nowhere else", () => {
    const found = contractOfMethod(table(""), "s", "resources/read");
    expect(found.effects).toEqual({ must: ["read.local"], may: ["read.local"] });
    expect(found.arguments.get("uri")?.sink).toBe(false);
    expect(found.process).toEqual(process);
    expect(contractOfMethod(table(""), "s", "elicitation/create").rest.sink).toBe(false);
    // The operator knows better.
    const networked = contractOfMethod(table("servers: {s: {reach: network}}"), "s", "resources/read");
    expect(networked.arguments.get("uri")?.sink).toBe(true);
  });
});
