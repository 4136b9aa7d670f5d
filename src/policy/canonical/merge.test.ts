/** What a later document takes over from an earlier one, section by section. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type PolicyDocument, type PolicySource, parsePolicy } from "./policy-document.ts";
import { problem } from "../document/diagnostic.ts";
import { merge, placed } from "./merge.ts";

function source(file: string, text: string): PolicySource {
  const parsed = parsePolicy(`version: 1\n${text}`, file);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value;
}
const merged = (...texts: readonly string[]) => merge(texts.map((text, index) => source(`f${index}`, text)));
const rule = (id: string, why: string): string => `{id: ${id}, tier: block, why: ${why}, when: x}`;

describe("of two documents", () => {
  it.each<[string, string, string, string]>([
    ["a setting of the later one counts", "mode: observe", "mode: enforce", "mode: enforce"],
    ["a setting that it leaves out stays", "mode: observe\nstpa: a.yaml", "", "mode: observe\nstpa: a.yaml"],
    [
      "flat sections are joined by key",
      "host: {send: open, read: open}",
      "host: {send: gated}",
      "host: {send: gated, read: open}",
    ],
    [
      "labels are joined by tool and key",
      "labels: {a.x: {effects: read, output: private}, a.y: {}}",
      "labels: {a.x: {output: public}}",
      "labels: {a.x: {effects: read, output: public}, a.y: {}}",
    ],
    [
      "what a tool does is one key, in the paper's word or in ours",
      "labels: {a.x: {effects: read}, a.y: {capabilities: read}, a.z: {capabilities: read}}",
      "labels: {a.x: {capabilities: external_write}, a.y: {effects: write}}",
      "labels: {a.x: {effects: external_write}, a.y: {effects: write}, a.z: {effects: read}}",
    ],
    [
      "so are servers, of whatever name",
      "servers: {__proto__: {trust: trusted}, s: {mode: observe}}",
      "servers: {__proto__: {operator: me}}",
      "servers: {__proto__: {trust: trusted, operator: me}, s: {mode: observe}}",
    ],
    [
      "stores are replaced",
      "stores: {s: {audience: me, label: private}, t: {}}",
      "stores: {s: {audience: anyone}}",
      "stores: {s: {audience: anyone}, t: {}}",
    ],
    [
      "hazards are replaced by id",
      "hazards: {H: {loss: l, never: {call: a}}, I: {never: {call: b}}}",
      "hazards: {H: {never: {call: c}}}",
      "hazards: {H: {never: {call: c}}, I: {never: {call: b}}}",
    ],
    [
      "rules are replaced by id",
      `rules: [${rule("A", "one")}, ${rule("B", "one")}]`,
      `rules: [${rule("A", "two")}, ${rule("C", "two")}]`,
      `rules: [${rule("B", "one")}, ${rule("A", "two")}, ${rule("C", "two")}]`,
    ],
    [
      "what should stay possible, what is accepted and what is expected add up",
      "keep: [{trace: [a]}]\naccepts: [H]\nexpect: [{trace: [a], verdict: deny}]",
      "keep: [{trace: [b]}]\naccepts: [I]\nexpect: [{trace: [b], verdict: deny}]",
      "keep: [{trace: [a]}, {trace: [b]}]\naccepts: [H, I]\nexpect: [{trace: [a], verdict: deny}, {trace: [b], verdict: deny}]",
    ],
    [
      "categories and groups add up, levels are replaced",
      "lattice: {confidentiality: [a, b], categories: [x, y], groups: [g], clearance: {g: a}}",
      "lattice: {confidentiality: [c], categories: [y, z], groups: [h], clearance: {h: c}}",
      "lattice: {confidentiality: [c], categories: [x, y, z], groups: [g, h], clearance: {g: a, h: c}}",
    ],
    [
      "a lattice without lists has none of them",
      "lattice: {categories: [x]}",
      "lattice: {groups: [g]}",
      "lattice: {categories: [x], groups: [g], clearance: {}}",
    ],
    ["a lattice of one of them is kept", "lattice: {categories: [x]}", "", "lattice: {categories: [x]}"],
    [
      "leases and weights add up",
      "regulation: {leases: [{tool: a, calls: 1}], power: {weights: {write: 2}}}",
      "regulation: {leases: [{tool: b, calls: 2}], power: {weights: {execute: 3}}}",
      "regulation: {leases: [{tool: a, calls: 1}, {tool: b, calls: 2}], power: {weights: {write: 2, execute: 3}}}",
    ],
    [
      "a regulation without leases and power has none",
      "regulation: {onUnsafe: confirm}",
      "regulation: {onUnsafe: block-call}",
      "regulation: {onUnsafe: block-call}",
    ],
    [
      "a regulation of one of them is kept",
      "",
      "regulation: {onUnsafe: block-call}",
      "regulation: {onUnsafe: block-call}",
    ],
    ["names of files are for each its own", "extends: [x]", "extends: [y]", ""],
  ])("%s", (_what, base, next, wanted) => {
    const always: PolicyDocument = { version: 1, rules: [], keep: [], accepts: [], expect: [] };
    expect(merged(base, next).document).toEqual({ ...always, ...(parse(wanted) as object) });
  });
});

it("an id stands once in each document, whether of a rule or a hazard", () => {
  const { diagnostics } = merged(
    `hazards: {A: {never: {call: a}}}\nrules:\n  - ${rule("B", "w")}\n  - ${rule("A", "w")}\n  - ${rule("B", "w")}`,
  );
  expect(diagnostics.map(({ code, line, message, remedy }) => [code, line, message, remedy])).toEqual(
    [
      ["A", 5],
      ["B", 6],
    ].map(([id, line]) => ["SG-POLICY-ID", line, `the id \`${id}\` is used twice`, "give each its own id"]),
  );
});

describe("the place of a finding in the joined document", () => {
  const first = source(
    "first",
    `mode: observe\nrules:\n  - ${rule("A", "w")}\n  - ${rule("B", "w")}\nkeep:\n  - trace: [a]\nlabels:\n  a.x: {output: private}\n`,
  );
  const second = source(
    "second",
    `rules:\n  - ${rule("B", "w")}\nkeep:\n  - trace: [b]\n  - trace: [c]\nlattice: {}\n`,
  );
  const { origins } = merge([first, second]);
  it.each<[readonly (string | number)[], string, number]>([
    [["rules", "A", "when"], "first", 4],
    [["rules", "B"], "second", 3],
    [["keep", 0], "first", 7],
    [["keep", 1], "second", 5],
    [["keep", 2, "trace", 0], "second", 6],
    [["labels", "a.x", "output"], "first", 9],
    [["labels", "other"], "first", 9],
    [["mode"], "first", 2],
    [["lattice", "categories"], "second", 7],
    [["audit"], "second", 1],
    [[], "second", 1],
  ])("%j is %s:%i", (path, file, line) => {
    expect(placed(problem("X", path, "m", "r"), origins, second)).toMatchObject({ file, line, code: "SG-POLICY-X" });
  });

  it("is the one that is given where nothing is known of it", () => {
    const found = placed(problem("X", ["packs", "p"], "m", "r"), new Map(), first, ["rules", 1]);
    expect(found).toMatchObject({ file: "first", line: 5 });
  });
});
