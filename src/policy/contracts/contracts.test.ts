import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { everyEffect } from "../../core/effect.ts";
import { type LabelRange, describe as words, trustOf, unknownRange } from "../../core/label.ts";
import { contractOfTool, isLabelled, isPinned } from "./contracts.ts";
import { contractOfHostTool, contractOfMethod, knownMethods } from "./methods.ts";
import { loadPolicy } from "../load.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const digestOf = (listed: JsonObject): string => hash(JSON.stringify(listed));
const schema = { type: "object", properties: { path: { type: "string" }, way: { const: "up" } } };
const pinned: JsonObject = { name: "peek", inputSchema: schema };
const pack = `version: 1
pack: {name: p, reach: local, digests: {peek: ["${digestOf(pinned)}"]}}
stores: {"p:graph": {audience: me}}
labels:
  peek: {effects: read.local, args: {path: path}, output: {confidentiality: sensitive, trust: trusted}, reads: "p:graph"}
  poke: {effects: read.local}
`;

function table(text: string) {
  const loaded = loadPolicy(
    { file: "p.yaml", text: `version: 1\n${text}` },
    { loader: () => ({ file: "pack.yaml", text: pack }), hash },
  );
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy.table;
}

function contract(text: string, tool: JsonObject, server = "s") {
  return contractOfTool(table(text), server, tool, digestOf);
}

const rangeWords = (text: string, range: LabelRange): readonly string[] => {
  const { lattice } = table(text).labels;
  return [words(lattice, range.lo), words(lattice, range.hi)];
};

const reader: JsonObject = {
  name: "get_page",
  inputSchema: { type: "object", properties: { url: { type: "string" }, mode: { enum: ["a", "b"] } } },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

test("nobody labelled it: anything, to anyone, and only consent helps", () => {
  const found = contract("", reader);
  expect(found.source).toBe("unknown");
  expect(found.effects).toEqual({ must: [], may: everyEffect });
  expect(found.flags).toEqual({ irreversible: true, openWorld: true });
  expect(found.consequential).toBe(true);
  expect(rangeWords("", found.output.label)).toEqual(["public", "private, untrusted, for nobody"]);
  expect(found.rest).toMatchObject({ role: "query", sink: true, audience: 1 });
  expect(found.arguments.get("url")).toMatchObject({ role: "destination", sink: true, audience: 1 });
  expect(found.arguments.get("mode")?.schemaValues).toEqual([]);
});

test("a policy decides whether it reads the labels that servers ship", () => {
  const shipped = { ...reader, _meta: { "io.github.sluicegate/labels": { effects: "write.external.send" } } };
  for (const labels of ["any", "declared"]) {
    const found = contract(`admission: {labels: ${labels}}\n`, shipped);
    expect([found.source, found.effects.must]).toEqual(["server", ["write.external.send"]]);
  }
  const unread = contract("admission: {labels: none}\n", shipped);
  expect([unread.source, unread.effects.must]).toEqual(["unknown", []]);
});

test("A5: choices of a schema are known values only where the tool is labelled or its server trusted", () => {
  const choices = (policy: string): unknown => contract(policy, reader).arguments.get("mode")?.schemaValues;
  expect(choices("servers: {s: {trust: trusted}}")).toEqual(["a", "b"]);
  expect(choices("labels: {s.get_page: {effects: [read.external]}}")).toEqual(["a", "b"]);
  expect(choices("labels: {s.other: {effects: [read.external]}}")).toEqual([]);
  expect(choices("servers: {s: {trust: untrusted}}")).toEqual([]);
  // A pack speaks of the versions that it pins; of a tool without digests it speaks of the accepted one.
  const offered = (policy: string, tool: JsonObject): unknown =>
    contract(policy, tool).arguments.get("way")?.schemaValues;
  const other: JsonObject = { ...pinned, description: "another version" };
  expect(offered("servers: {x: {pack: p}}", pinned)).toEqual(["up"]);
  expect(offered("servers: {x: {pack: p}}", other)).toEqual([]);
  expect(offered("servers: {s: {pack: p}}", other)).toEqual([]);
  expect(offered("servers: {s: {pack: p}}", { ...pinned, name: "poke" })).toEqual(["up"]);
  expect(offered("servers: {s: {pack: p}}", { ...pinned, name: "prod" })).toEqual([]);
});

test("a trusted server's hints and names narrow what it may do; a destination stays a sink", () => {
  const found = contract("servers: {s: {trust: trusted, operator: me}}", reader);
  expect(found.source).toBe("inference");
  expect(found.effects).toEqual({ must: [], may: ["read.external"] });
  expect(found.arguments.get("url")).toMatchObject({ sink: true, audience: 3 });
  expect(found.arguments.get("mode")).toMatchObject({ sink: true, audience: 2 });
  expect(found.consequential).toBe(true);
});

test("a server that the operator calls local reaches nothing outside", () => {
  const found = contract("servers: {s: {reach: local}}", { name: "frobnicate" });
  expect(found.effects.may.every((effect) => effect.includes(".local"))).toBe(true);
  expect(found.rest.sink).toBe(false);
});

test("the operator's word is final, the more specific selector first", () => {
  const text = `labels:
  "*.get_page": {effects: read.external, output: private}
  s.get_page: {output: public, args: {url: {role: query, sink: false}}}
  "s.*": {flags: [irreversible], writes: []}
`;
  const found = contract(text, {
    ...reader,
    _meta: { "io.github.sluicegate/labels": { effects: "execute.external", output: "private" } },
  });
  expect(found.source).toBe("operator");
  expect(found.effects).toEqual({ must: ["read.external"], may: ["read.external"] });
  expect(found.flags.irreversible).toBe(true);
  expect(rangeWords(text, found.output.label)).toEqual(["public", "public, untrusted"]);
  expect(found.arguments.get("url")).toMatchObject({ role: "query", sink: false });
});

describe("packs", () => {
  test("are used for exactly the tool they pin, or where the operator says so", () => {
    expect(contract("extends: [p]", pinned).source).toBe("pack");
    expect(contract("extends: [p]", { ...pinned, description: "new" }).source).toBe("unknown");
    const chosen = contract("servers: {s: {pack: p}}", { ...pinned, description: "new" });
    expect(chosen).toMatchObject({ source: "pack", reads: ["p:graph"], consequential: false });
    expect(chosen.arguments.get("path")).toMatchObject({ role: "path", sink: false });
    expect(contract("servers: {s: {pack: p}}", { name: "other" }).effects.may).not.toContain("write.external");
  });

  test("A7: a server is labelled by statements and by a pack, and a pack pins exactly its digests", () => {
    expect(isLabelled(table("labels: {s.peek: {effects: read.local}}"), "s")).toBe(true);
    expect(isLabelled(table("labels: {s.peek: {effects: read.local}}"), "t")).toBe(false);
    expect(isLabelled(table("servers: {s: {pack: p}}"), "s")).toBe(true);
    const tool = { server: "s", tool: "peek", toolDigest: digestOf(pinned) };
    expect(isPinned(table("extends: [p]"), tool)).toBe(true);
    expect(isPinned(table("servers: {s: {pack: p}}"), tool)).toBe(true);
    expect(isPinned(table("servers: {s: {pack: p}}"), { ...tool, toolDigest: "0" })).toBe(false);
    expect(isPinned(table("extends: [p]"), { ...tool, tool: "other" })).toBe(false);
    expect(isPinned(table(""), tool)).toBe(false);
  });

  test("are restricted by what the server ships, and overridden by the operator", () => {
    const loud = {
      ...pinned,
      _meta: { ifc: { confidentiality: "private", integrity: "untrusted" } },
      labels: { capabilities: "external_write" },
    };
    const found = contract("servers: {s: {pack: p}}", loud);
    expect(rangeWords("", found.output.label)).toEqual(["private, untrusted", "private, untrusted"]);
    expect(found.effects.must).toEqual(["read.local", "write.external"]);
    expect(found.claimed).toEqual(["write.external"]);
    const own = contract("servers: {s: {pack: p}}\nlabels: {s.peek: {effects: read.local, output: public}}", loud);
    expect(own.effects.must).toEqual(["read.local"]);
    expect(own.claimed).toBeUndefined();
    expect(rangeWords("", own.output.label)).toEqual(["public", "public, untrusted"]);
  });
});

describe("what a server ships", () => {
  const shipped: JsonObject = {
    ...reader,
    inputSchema: {
      type: "object",
      properties: {
        url: { type: "string", "x-sluicegate-role": "content", "x-sluicegate-sink": false },
        note: { type: "string", "x-sluicegate-role": "command" },
      },
    },
    _meta: {
      "io.github.sluicegate/labels": {
        version: 1,
        effects: ["read.local"],
        output: {
          confidentiality: "public",
          trust: "trusted",
          fields: { "/a": { confidentiality: "public", from: [] } },
        },
        cases: [],
      },
    },
  };

  test("only restricts while the server is not trusted", () => {
    const found = contract("", shipped);
    expect(found.source).toBe("server");
    expect(found.effects).toEqual({ must: ["read.local"], may: everyEffect });
    expect(found.claimed).toEqual(["read.local"]);
    expect(found.arguments.get("url")).toMatchObject({ role: "destination", sink: true });
    expect(found.arguments.get("note")?.role).toBe("command");
    expect(rangeWords("", found.output.label)).toEqual(["public", "private, untrusted, for nobody"]);
  });

  test("D28: only restricts where the policy trusts the server, too", () => {
    const plain = { ...shipped, _meta: {} };
    const without = contract("servers: {s: {trust: trusted}}", { ...plain, inputSchema: reader["inputSchema"] ?? {} });
    const found = contract("servers: {s: {trust: trusted}}", shipped);
    expect(found.effects).toEqual({ must: ["read.local"], may: ["read.external", "read.local"] });
    expect(found.claimed).toEqual(["read.local"]);
    expect(found.flags).toEqual(without.flags);
    expect(found.arguments.get("url")).toMatchObject({ role: "destination", sink: true });
    expect(found.arguments.get("note")?.role).toBe("command");
    expect(found.output).toEqual(without.output);
    const stricter = { effects: ["write.external"], flags: ["irreversible", "open_world"], output: "private" };
    const raised = contract("servers: {s: {trust: trusted}}", {
      ...plain,
      _meta: { "io.github.sluicegate/labels": stricter },
    });
    expect(raised.effects.may).toEqual(["read.external", "write.external"]);
    expect(raised.flags).toEqual({ irreversible: true, openWorld: true });
    expect(rangeWords("", raised.output.label)).toEqual(["private", "private, untrusted, for nobody"]);
  });

  test("says nothing where it is malformed or uses words of another policy", () => {
    for (const labels of [{ output: "secret" }, { effects: 7 }, [], "x", { output: { categories: ["x"] } }]) {
      expect(contract("", { ...reader, _meta: { "io.github.sluicegate/labels": labels } }).source).toBe("unknown");
    }
    expect(contract("", { ...reader, labels: { capabilities: 7 } }).source).toBe("unknown");
    expect(contract("", { ...reader, _meta: { ifc: { confidentiality: ["a", "b"] } } }).source).toBe("server");
  });
});

test("results of an untrusted server are untrusted for sure, unless a label says that they are trusted", () => {
  const text =
    "servers: {s: {trust: untrusted}}\nlabels: {s.a: {output: public}, s.b: {output: {confidentiality: public, trust: trusted}}}";
  expect(rangeWords(text, contract(text, { name: "a" }).output.label)).toEqual([
    "public, untrusted",
    "public, untrusted",
  ]);
  expect(rangeWords(text, contract(text, { name: "b" }).output.label)).toEqual(["public", "public"]);
  expect(rangeWords(text, contract(text, { name: "c" }).output.label)[0]).toBe("public, untrusted");
});

test("bounds and audiences: stated, by clearance, and by the store that is written", () => {
  const text = `lattice: {clearance: {anyone: sensitive}}
stores: {out: {audience: me}}
labels:
  s.a: {effects: write.external.send, args: {to: recipient, body: {role: content, bound: public}}, rest: {role: content, audience: me}}
  s.b: {effects: write.external, writes: out}
  s.c: {effects: write.local}
servers: {s: {operator: me}}
`;
  const sent = contract(text, { name: "a" });
  const bits = (name: string): readonly number[] => [
    sent.arguments.get(name)?.audience ?? -1,
    sent.arguments.get(name)?.forbidden ?? -1,
  ];
  // Bits: sensitive 1, private 2, anyone 4, me 8, untrusted 16.
  expect(bits("to")).toEqual([3, 2 + 4 + 8]);
  expect(bits("body")).toEqual([3, 1 + 2 + 4 + 8]);
  expect([sent.rest.audience, sent.rest.forbidden]).toEqual([2, 8]);
  expect(contract(text, { name: "b" }).rest.audience).toBe(2);
  expect(contract(text, { name: "c" }).rest).toMatchObject({ sink: false, audience: 0, forbidden: 0 });
});

test("a tool that only in one case sends or changes something has readers and consequences in all of them", () => {
  const found = (effects: string) => {
    const when = "{when: {arg: {action: other}}, effects: EFFECTS}".replace("EFFECTS", effects);
    return contract(`labels: {s.a: {effects: read.local, cases: [${when}]}}`, { name: "a" });
  };
  const plain = { sink: false, audience: 0, forbidden: 0 };
  expect(found("[read.local]")).toMatchObject({ consequential: false, rest: plain });
  expect(found("[read.local, write.local]")).toMatchObject({ consequential: true, rest: plain });
  const sends = found("[read.local, write.external.send]");
  expect(sends).toMatchObject({ consequential: true, rest: { sink: true, audience: 1 } });
  // Nothing above the lowest level may go there: without this the bound of the case would never be asked.
  expect(sends.rest.forbidden).not.toBe(0);
});

describe("methods and host tools", () => {
  test.each(knownMethods)("%s has a row", (method) => {
    const near = contractOfMethod(table("servers: {s: {reach: local}}"), "s", method);
    const far = contractOfMethod(table(""), "s", method);
    expect(near.source).toBe("operator");
    expect(near.rest.sink).toBe(false);
    expect(far.rest.sink).toBe(true);
    expect(near.effects.may.join()).not.toContain("external");
  });

  test("a read of a resource sends its URI; an unknown method does anything", () => {
    const found = contractOfMethod(table("servers: {s: {operator: me, trust: untrusted}}"), "s", "resources/read");
    expect(found.arguments.get("uri")).toMatchObject({ role: "destination", sink: true, audience: 3 });
    expect(found.effects.may).toEqual(["read.external"]);
    expect(rangeWords("", found.output.label)[0]).toBe("public, untrusted");
    expect(contractOfMethod(table(""), "s", "toString")).toMatchObject({ source: "unknown", consequential: true });
    expect(contractOfMethod(table("servers: {s: {pack: p}}"), "s", "x/y").effects.may).not.toContain("write.external");
  });

  test("the client's own tools are known by name, and the operator can label them", () => {
    expect(contractOfHostTool(table(""), "claude-code", "Read")).toMatchObject({
      source: "pack",
      consequential: false,
    });
    expect(contractOfHostTool(table(""), "claude-code", "WebFetch").arguments.get("url")).toMatchObject({ sink: true });
    expect(contractOfHostTool(table(""), "claude-code", "Bash").effects).toMatchObject({ must: [] });
    expect(contractOfHostTool(table(""), "claude-code", "TodoWrite").effects.may).toEqual([]);
    expect(contractOfHostTool(table(""), "claude-code", "constructor").source).toBe("unknown");
    expect(contractOfHostTool(table(""), "other", "Read").source).toBe("unknown");
    const text = 'labels: {"host:claude-code.Read": {output: private}}';
    expect(contractOfHostTool(table(text), "claude-code", "Read").output.label.lo).toBe(3);
  });

  test.each(["AskUserQuestion", "EnterPlanMode", "ToolSearch"])("%s acts on nothing outside of the client", (tool) => {
    const found = contractOfHostTool(table(""), "claude-code", tool);
    expect(found).toMatchObject({ source: "pack", consequential: false, effects: { must: [], may: [] } });
  });

  test.each(["LSP", "TaskGet", "TaskList", "TaskOutput", "ListMcpResourcesTool"])("%s only reads", (tool) => {
    const found = contractOfHostTool(table(""), "claude-code", tool);
    expect(found).toMatchObject({ source: "pack", consequential: false, effects: { may: ["read.local"] } });
    expect(found.rest.sink).toBe(false);
  });

  test.each(["TaskCreate", "TaskUpdate"])("%s writes what stays on this machine", (tool) => {
    const found = contractOfHostTool(table(""), "claude-code", tool);
    expect(found.effects).toEqual({ must: ["write.local"], may: ["write.local"] });
    expect(found.rest).toMatchObject({ role: "content", sink: false });
  });

  test.each(["Skill", "Monitor", "EnterWorktree"])("of what %s does nothing is known", (tool) => {
    expect(contractOfHostTool(table(""), "claude-code", tool).source).toBe("unknown");
  });

  // What a command printed meanwhile, or another session noted, is nothing that the agent held before.
  test.each(["BashOutput", "TaskOutput", "TaskGet", "TaskList", "LSP", "ListMcpResourcesTool"])(
    "of what %s returns nothing is known",
    (tool) => {
      const { lattice } = table("").labels;
      expect(contractOfHostTool(table(""), "claude-code", tool).output.label).toEqual(unknownRange(lattice));
    },
  );

  // A list that the agent wrote comes back later, and with it what untrusted text had it write down.
  test.each(["TodoWrite", "TodoRead", "ExitPlanMode", "Agent", "Task", "AskUserQuestion", "ToolSearch"])(
    "what %s returns is never trusted for certain, and no secret of its own",
    (tool) => {
      const { lattice } = table("").labels;
      const { lo, hi } = contractOfHostTool(table(""), "claude-code", tool).output.label;
      expect([lo, hi]).toEqual([lattice.bottom, trustOf(lattice, lattice.top)]);
    },
  );
});

test("law: whatever an untrusted server lists, its tools get the whole may-set and an open upper end", () => {
  const base = table("");
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom("name", "description", "annotations", "inputSchema", "_meta", "labels"),
        fc.jsonValue(),
      ),
      (tool) => {
        const listed = JSON.parse(JSON.stringify(tool)) as JsonObject; // JSON by construction
        const found = contractOfTool(base, "s", listed, digestOf);
        expect(found.effects.may).toEqual(expect.arrayContaining([...everyEffect]));
        expect(found.output.label.hi).toBe(base.labels.lattice.top);
        expect(found.rest.sink).toBe(true);
      },
    ),
    { numRuns: runs },
  );
});
