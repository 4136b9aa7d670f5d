// A role in doubt against the same role decided either way: what an accepted reading leaves open is never judged more mildly
// than with any answer to it, whatever the rest of the policy says of roles.
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadedPolicy } from "../../src/app/policy/loaded-policy.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import { type ArgumentRole, roles } from "../../src/core/contract.ts";
import type { RunEvent } from "../../src/core/event.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { begin } from "../../src/core/mechanism.ts";
import { evolve, step } from "../../src/core/step.ts";
import type { PolicyDocument } from "../../src/policy/canonical/policy-document.ts";
import { contractOfTool } from "../../src/policy/contracts/contracts.ts";
import { digest } from "../../src/wire/canonical.ts";

const numRuns = Math.ceil(Number(process.env["SLUICEGATE_RUNS"] ?? 200) / 4);
const toolDigest = "d".repeat(64);
const strictness = ["allow", "confirm", "deny"];

/** A policy that may say something of roles and of the workspace, in rules of either kind. */
type World = { readonly policy: PolicyDocument; readonly held: readonly Held[]; readonly given: JsonObject };
type Held = { readonly server: "s" | "other"; readonly label: string; readonly text: string };

const values = [
  "bob@example.com",
  "https://example.com/a",
  "/home/me/site/a.txt",
  "/etc/passwd",
  "~/.ssh/id_rsa",
  "carrots in march",
  "rm -rf /",
  "250.00",
  "K-17",
];
const value = fc.constantFrom(...values, 250);
const roleList = fc.subarray([...roles], { minLength: 1, maxLength: 3 });

/** Tools that read, by what they return. */
const outputs = ["public-trusted", "private-trusted", "public-untrusted", "private-untrusted"] as const;
const readsAs = (name: string): object => {
  const [confidentiality, trust] = name.split("-");
  return { effects: ["read.local"], output: { confidentiality, trust } };
};

const tier = fc.constantFrom("block", "confirm", "allow");
const rule = fc.oneof(
  fc.record({
    tier,
    when: fc.record({
      tool: fc.constant("s.*"),
      data: fc.record({ roles: roleList, trust: fc.constantFrom("trusted", "untrusted") }),
    }),
  }),
  fc.record({
    tier,
    when: fc.record({
      tool: fc.constant("s.*"),
      data: fc.record({ roles: roleList, confidentiality: fc.constant("private") }),
    }),
  }),
  // What is in doubt counts as outside: of rules about the workspace these are the ones that protect something.
  fc.constantFrom("block", "confirm", "allow").map((word) => ({
    tier: word,
    when: { tool: "s.*", workspace: word === "allow" },
  })),
);

const world: fc.Arbitrary<World> = fc
  .record({
    rules: fc.array(rule, { maxLength: 2 }),
    mode: fc.constantFrom("strict", "provenance"),
    operator: fc.boolean(),
    effects: fc.subarray(
      ["read.local", "read.external", "write.local", "write.external", "write.external.send", "execute.local"],
      { minLength: 1, maxLength: 2 },
    ),
    other: fc.constantFrom("content", "identifier", "path"),
    held: fc.array(
      fc.record({
        server: fc.constantFrom("s", "other"),
        label: fc.constantFrom(...outputs),
        text: fc.constantFrom(...values),
      }),
      { maxLength: 3 },
    ),
    x: value,
    y: value,
  })
  .map(({ rules, mode, operator, effects, other, held, x, y }) => ({
    policy: {
      version: 1,
      extends: ["default"],
      lattice: { groups: ["me", "acme", "anyone"] },
      labels: Object.fromEntries(
        ["s", "other"].flatMap((server) => outputs.map((name) => [`${server}.${name}`, readsAs(name)])),
      ),
      servers: { s: operator ? { operator: "acme" } : {} },
      rules: rules.map((one, place) => ({ id: `r${place}`, why: "a rule about roles", ...one })),
      flow: { mode },
      readings: [
        {
          server: "s",
          tool: "do",
          digest: toolDigest,
          until: "2999-01-01",
          label: { effects: { must: [], may: effects }, args: { y: other }, output: { confidentiality: "private" } },
        },
      ],
    } as PolicyDocument,
    held,
    given: { x, y },
  }));

/** The verdict on the call where the role of `x` is this. */
function verdict({ policy, held, given }: World, role: ArgumentRole): string {
  const readings = (policy.readings ?? []).map((one) => ({
    ...one,
    label: { ...one.label, args: { ...one.label.args, x: role } },
  }));
  const compiled = compiledFrom({ file: "law", document: { ...policy, readings } });
  if (!compiled.ok) throw new Error(compiled.error);
  const { engine } = loadedPolicy(compiled.value, "law");
  let run = begin(engine, "law", undefined);
  const fold = (event: RunEvent): void => {
    const moved = evolve(engine, run, event);
    if (!moved.ok) throw new Error(moved.error);
    run = moved.value;
  };
  fold({ kind: "registered", at: 0, text: { source: "instruction", value: "pay 250 to bob@example.com" } });
  const listing = (server: string, name: string, call: string, text: string): void => {
    const contract = contractOfTool(compiled.value.table, server, { name }, () => "e".repeat(64));
    const head = { at: 1, call, method: "tools/call", arguments: {}, digest: call } as const;
    const found = step(engine, run, { kind: "call", ...head, contract, workspace: [] }, new Map());
    const option = found.kind === "decided" ? found.decision.option : undefined;
    if (option === undefined) throw new Error("a plain read is decided");
    fold({ kind: "dispatched", ...head, option });
    fold({ kind: "succeeded", at: 1, call });
    const { label } = contract.output;
    fold({ kind: "released", at: 1, call, server, tool: name, how: "pass", label, fields: [], value: { text } });
  };
  held.forEach(({ server, label, text }, place) => listing(server, label, `h${place}`, text));
  const schema = { type: "object", properties: { x: {}, y: {} } };
  const contract = contractOfTool(compiled.value.table, "s", { name: "do", inputSchema: schema }, () => toolDigest);
  const found = step(
    engine,
    run,
    {
      kind: "call",
      at: 9,
      call: "c",
      method: "tools/call",
      contract,
      arguments: given,
      workspace: ["/home/me/site"],
      digest: digest(["do", given] as Json, sha256),
    },
    new Map(),
  );
  return found.kind === "decided" ? found.decision.verdict : "question";
}

it("law: a role in doubt is judged no more mildly than any role that it could be", () => {
  const met = new Set<string>();
  fc.assert(
    fc.property(world, (one) => {
      const doubtful = verdict(one, "unsure");
      // A number names no file, whatever its argument is for.
      const possible = roles.filter((role) => role !== "path" || typeof one.given["x"] === "string");
      for (const role of possible) {
        const decided = verdict(one, role);
        if (decided !== doubtful) met.add(`${decided} ${doubtful}`);
        expect(strictness.indexOf(doubtful), `${role}: ${decided}, unsure: ${doubtful}`).toBeGreaterThanOrEqual(
          strictness.indexOf(decided),
        );
      }
    }),
    { numRuns },
  );
  // The law would hold of a policy that refuses everything.
  expect([...met].toSorted()).toContain("allow confirm");
});
