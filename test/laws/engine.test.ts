// Laws of the whole engine, with the real mechanisms over real policies: what the outside sees does not depend on
// private data, and folding the log reproduces every decision.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contractOfTool } from "../../src/policy/contracts/contracts.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";
import { loadedPolicy } from "../../src/app/policy/loaded-policy.ts";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import type { Decision } from "../../src/core/decision.ts";
import type { RunEvent } from "../../src/core/event.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { begin } from "../../src/core/mechanism.ts";
import type { CallMoment, ReleaseMoment } from "../../src/core/moment.ts";
import type { Run } from "../../src/core/run.ts";
import { evolve, step } from "../../src/core/step.ts";
import type { PolicyDocument } from "../../src/policy/canonical/policy-document.ts";
import { digest } from "../../src/wire/canonical.ts";

const numRuns = Math.ceil(Number(process.env["SLUICEGATE_RUNS"] ?? 200) / 4);

const document = (mode: "strict" | "provenance"): PolicyDocument => ({
  version: 1,
  extends: ["default"],
  servers: { s: { trust: "trusted" } },
  labels: {
    "s.read_public": { effects: ["read.local"], output: { confidentiality: "public", trust: "trusted" } },
    "s.read_private": { effects: ["read.local"], output: { confidentiality: "private", trust: "trusted" } },
    "s.note": { effects: ["write.local"], args: { text: "content" }, writes: ["notes"], output: "public" },
    "s.read_notes": {
      effects: ["read.local"],
      reads: ["notes"],
      output: { confidentiality: "public", trust: "trusted" },
    },
    "s.send": {
      effects: ["write.external.send"],
      args: { to: "recipient", text: { role: "content", bound: "public" } },
    },
  },
  stores: { notes: { audience: ["me"], label: { confidentiality: "public", trust: "trusted" } } },
  rules: [{ id: "thrice", tier: "block", atMost: { of: "s.send", count: 3 }, why: "three are enough" }],
  flow: { mode },
});

/** No flow and no rule: the world in which the laws must be seen to fail. */
const unguarded: PolicyDocument = {
  version: 1,
  rules: [{ id: "all", tier: "allow", when: { tool: "*" }, why: "a world without a guard" }],
  flow: { mode: "none" },
};

type Mode = "strict" | "provenance" | "unguarded";

function policyOf(mode: Mode) {
  const compiled = compiledFrom({ file: "law", document: mode === "unguarded" ? unguarded : document(mode) });
  if (!compiled.ok) throw new Error(compiled.error);
  return { loaded: loadedPolicy(compiled.value, "law"), table: compiled.value.table };
}

const policies = { strict: policyOf("strict"), provenance: policyOf("provenance"), unguarded: policyOf("unguarded") };
const tools = ["read_public", "read_private", "note", "read_notes", "send"] as const;
const valueDigest = (value: Json): string => digest(value, sha256);

/** A run of the engine with its log, and what the outside saw. */
class World {
  readonly events: RunEvent[] = [];
  readonly decisions: { readonly moment: CallMoment; readonly decision: Decision; readonly before: number }[] = [];
  readonly outside: string[] = [];
  readonly policy: (typeof policies)["strict"];
  run: Run;
  notes = "";
  #at = 0;

  constructor(mode: Mode) {
    this.policy = policies[mode];
    this.run = begin(this.policy.loaded.engine, "law", undefined);
    this.fold({
      kind: "registered",
      at: 0,
      text: { source: "instruction", value: "send the news to bob@example.com" },
    });
  }

  fold(event: RunEvent): void {
    const moved = evolve(this.policy.loaded.engine, this.run, event);
    if (!moved.ok) throw new Error(moved.error);
    this.run = moved.value;
    this.events.push(event);
  }

  decide(moment: CallMoment | ReleaseMoment): Decision {
    const found = step(this.policy.loaded.engine, this.run, moment, new Map());
    if (found.kind !== "decided") throw new Error("nothing is asked here");
    return found.decision;
  }

  /** One call; gives what the agent sees. Nobody consents. */
  call(tool: (typeof tools)[number], given: JsonObject, secret: string): string {
    this.#at += 1;
    const at = this.#at;
    const contract = contractOfTool(this.policy.table, "s", { name: tool }, valueDigest);
    const call = `c${at}`;
    const head = { kind: "call" as const, at, call, method: "tools/call", contract, arguments: given };
    const moment: CallMoment = { ...head, workspace: [], digest: valueDigest([tool, given]) };
    const decision = this.decide(moment);
    this.decisions.push({ moment, decision, before: this.events.length });
    if (decision.verdict !== "allow" || decision.option === undefined) return "refused";
    const { option } = decision;
    this.fold({ kind: "dispatched", at, call, method: "tools/call", option, arguments: given, digest: moment.digest });
    if (tool === "send") this.outside.push(JSON.stringify(given));
    if (tool === "note") this.notes += JSON.stringify(given);
    this.fold({ kind: "succeeded", at, call });
    const text = {
      read_public: "the news are good",
      read_private: secret,
      read_notes: this.notes,
      note: "noted",
      send: "sent",
    }[tool];
    const value: Json = { content: [{ type: "text", text }] };
    const release = this.decide({ kind: "release", at, call, contract, option, outcome: "succeeded", value });
    const label = release.obligations.find((one) => one.kind === "label");
    if (release.verdict !== "allow") return "withheld";
    const { range, fields } = label ?? { range: contract.output.label, fields: [] };
    this.fold({ kind: "released", at, call, server: "s", tool, how: "pass", label: range, fields, value });
    return text;
  }
}

/** A deterministic agent: what it does next depends on all it has seen, and on a seed that stands for its mind. */
function live(world: World, seed: number, steps: number, secret: string): void {
  let seen = "";
  for (let index = 0; index < steps; index += 1) {
    const mind = Number.parseInt(sha256(`${seed} ${index} ${seen}`).slice(0, 8), 16);
    const tool = tools[mind % tools.length] ?? "send";
    const text = mind % 3 === 0 ? seen.slice(-40) : `thought ${mind % 97}`;
    const to = mind % 2 === 0 ? "bob@example.com" : `eve${mind % 5}@example.com`;
    const given = tool === "send" ? { to, text } : tool === "note" ? { text } : {};
    seen += world.call(tool, given, secret);
  }
}

const seeds = fc.integer({ min: 0, max: 1_000_000 });

describe("laws of the engine", () => {
  it("law: of two runs that differ only in private data, the outside sees one sequence a prefix of the other", () => {
    const secrets = fc.tuple(fc.string({ minLength: 5 }), fc.string({ minLength: 5 }));
    fc.assert(
      fc.property(seeds, secrets, (seed, [first, second]) => {
        const left = new World("strict");
        const right = new World("strict");
        live(left, seed, 12, `one ${first}`);
        live(right, seed, 12, `two ${second}`);
        const [short, long] = left.outside.length <= right.outside.length ? [left, right] : [right, left];
        expect(long.outside.slice(0, short.outside.length)).toEqual(short.outside);
      }),
      { numRuns },
    );
  });

  it("the law above can fail: without a guard the outside tells the two apart", () => {
    const differ = Array.from({ length: 60 }, (_, seed) => {
      const left = new World("unguarded");
      const right = new World("unguarded");
      live(left, seed, 12, "one secret");
      live(right, seed, 12, "two secret");
      const [short, long] = left.outside.length <= right.outside.length ? [left, right] : [right, left];
      return JSON.stringify(long.outside.slice(0, short.outside.length)) !== JSON.stringify(short.outside);
    });
    expect(differ.some(Boolean)).toBe(true);
  });

  it.each(["strict", "provenance"] as const)("law: folding the log reproduces every decision (%s)", (mode) => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World(mode);
        live(world, seed, 10, "a private sentence about nobody in particular");
        const { engine } = world.policy.loaded;
        for (const { moment, decision, before } of world.decisions) {
          let run: Run = begin(engine, "law", undefined);
          for (const event of world.events.slice(0, before)) {
            const moved = evolve(engine, run, event);
            if (!moved.ok) throw new Error(moved.error);
            run = moved.value;
          }
          expect(step(engine, run, moment, new Map())).toEqual({ kind: "decided", decision });
        }
      }),
      { numRuns: Math.ceil(numRuns / 2) },
    );
  });

  it("law: what provenance lets out never holds a private value, in plain sight", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World("provenance");
        const secret = `the salary of ana is ${7_000_000 + seed} a year`;
        live(world, seed, 14, secret);
        for (const sent of world.outside) expect(sent).not.toContain(String(7_000_000 + seed));
      }),
      { numRuns },
    );
  });
});
