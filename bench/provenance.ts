/**
 * Value provenance over a context of 200 KB (system.md 7: at most 0.5 ms a call), with the context as one text and as many
 * records, trusted and secret. Prints one line of JSON with `--json`, a table otherwise.
 */
import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { ArgumentContract } from "../src/core/contract.ts";
import type { Json } from "../src/core/json.ts";
import { exactly, join, levelLabel, makeLattice, withTrust, type LabelRange } from "../src/core/label.ts";
import { labelArgument } from "../src/mechanisms/flow/argument-labels.ts";
import {
  makeProvenanceIndex,
  matches,
  registerText,
  releaseValue,
  type ProvenanceIndex,
} from "../src/mechanisms/flow/provenance-index.ts";

const contextUnits = 200_000;
const rounds = 400;

const made = makeLattice({ levels: ["public", "private"], categories: [], groups: [] });
if (!made.ok) throw new Error(made.error);
const lattice = made.value;
const secret = levelLabel(lattice, "private") ?? lattice.top;
const untrusted = withTrust(lattice, lattice.bottom, "untrusted");

/** Prose from a fixed seed: words of a skewed vocabulary, names, numbers, addresses. */
function makeWriter(seed: number): (units: number) => string {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
  const word = (): string => {
    const kind = next(40);
    if (kind === 0) return `${next(9_000) + 100}.${next(90) + 10}`;
    if (kind === 1) return `user${next(5_000)}@mail${next(50)}.example`;
    if (kind === 2) return `Person${next(3_000)}`;
    const rank = Math.floor(Math.sqrt(next(4_000_000)));
    return `w${rank.toString(36)}${"aeiou".charAt(rank % 5)}n`;
  };
  return (units) => {
    const words: string[] = [];
    for (let length = 0; length < units;) {
      const text = word();
      words.push(text);
      length += text.length + 1;
    }
    return words.join(" ");
  };
}

const call: Readonly<Record<string, { readonly role: ArgumentContract["role"]; readonly value: Json }>> = {
  to: { role: "recipient", value: ["user42@mail7.example", "eve@evil.example"] },
  subject: { role: "content", value: "Figures of this quarter, as we discussed" },
  body: { role: "content", value: makeWriter(9)(1_500) },
  amount: { role: "amount", value: 1_234.56 },
  path: { role: "path", value: "/workspace/report/2026/final.md" },
};

function labelled(index: ProvenanceIndex): void {
  const holding = {
    lattice,
    mode: "provenance" as const,
    context: exactly(join(secret, untrusted)),
    unmediated: exactly(lattice.bottom),
    grants: [],
    at: 0,
    consumer: { server: "mail", tool: "send", stores: [] },
    digest: (value: Json) => createHash("sha256").update(JSON.stringify(value)).digest("hex"),
  };
  for (const { role, value } of Object.values(call)) {
    labelArgument(holding, index, { role, sink: true, audience: 0, forbidden: secret, schemaValues: [] }, value);
  }
}

function context(range: LabelRange, records: boolean): ProvenanceIndex {
  const write = makeWriter(7);
  const index = makeProvenanceIndex(lattice);
  registerText(index, { source: "instruction", value: "Send user42@mail7.example the figures of this quarter" });
  const one = { at: 0, kind: "released" as const, server: "s", tool: "t", how: "pass" as const, fields: [] };
  const value: Json = records
    ? Array.from({ length: contextUnits / 200 }, (_, id) => ({ id, title: write(60), note: write(130) }))
    : write(contextUnits);
  releaseValue(index, { ...one, call: "1", label: range, value: { structuredContent: { value }, content: [] } });
  return index;
}

function median(values: readonly number[], share: number): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length * share)] ?? 0;
}

const cases = {
  "trusted text": [exactly(lattice.bottom), false],
  "trusted records": [exactly(lattice.bottom), true],
  "secret untrusted text": [exactly(join(secret, untrusted)), false],
  "secret untrusted records": [exactly(join(secret, untrusted)), true],
  "secret trusted records": [exactly(secret), true],
} as const;

const round = (ms: number): number => Number(ms.toFixed(3));

const rows = Object.entries(cases).map(([name, [range, records]]) => {
  // Several builds: the first ones are not yet compiled, and a busy machine makes outliers.
  const builds = Array.from({ length: 40 }, () => {
    const fresh = context(range, records);
    const started = performance.now();
    matches(fresh, "first question");
    return performance.now() - started;
  });
  const index = context(range, records);
  for (let warm = 0; warm < 30; warm += 1) labelled(index);
  const times = Array.from({ length: rounds }, () => {
    const before = performance.now();
    labelled(index);
    return performance.now() - before;
  });
  return {
    name,
    indexOnceMs: round(median(builds, 0.5)),
    callP50Ms: round(median(times, 0.5)),
    callP95Ms: round(median(times, 0.95)),
  };
});

if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify({ contextUnits, target: 0.5, rows })}\n`);
else for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
