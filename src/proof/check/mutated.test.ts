// Random changes to the certificate of formal.md example 1. Whatever is still accepted must be a proof, as a walk
// through all 16 states says that knows nothing of the checker. What no tool changes is as it was at the start.
import fc from "fast-check";
import { expect, it } from "vitest";
import { certificate, sha256, tools } from "../../../test/kit/proof/first-example.ts";
import { checkCertificate, unreadable } from "./check.ts";
import type { Json } from "./json.ts";

/** One changed certificate in a hundred is still a proof, and some have to be met whatever the seed. */
const runs = Math.max(2_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 5);
const present = { hash: sha256, policyDigest: certificate.digest, tools, manifests: certificate.manifests };

type State = {
  readonly held: boolean;
  readonly full: boolean;
  readonly seen: boolean;
  readonly open: boolean;
};
type Claim = Pick<typeof certificate, "variables" | "nodes" | "root">;

const truths = (state: State): ReadonlyMap<string, boolean> =>
  new Map([
    ["K:1", state.held],
    ["S:repo:0", state.full],
    ["A:repo:1", state.seen],
    ["O:repo:1", state.open],
    ["A:repo:0", true],
    ["O:repo:0", false],
  ]);

function holds({ variables, nodes, root }: Claim, state: State): boolean {
  const of = truths(state);
  let at = root;
  while (at > 1) {
    const [asked = 0, low = 0, high = 0] = nodes[at - 2] ?? [];
    at = of.get(variables[asked] ?? "") === true ? high : low;
  }
  return at === 1;
}

/** Every state that one move of the example leads to, other runs included; undefined where someone reads a secret. */
function after(state: State): readonly State[] | undefined {
  if (state.open && state.full) return undefined;
  const reads = { ...state, held: true };
  const writes = state.seen ? [] : [{ ...state, full: true }];
  const grants = state.full ? [] : [{ ...state, seen: true, open: true }];
  return [reads, ...writes, ...grants];
}

const booleans = [false, true];
const states: readonly State[] = booleans.flatMap((held) =>
  booleans.flatMap((full) => booleans.flatMap((seen) => booleans.map((open) => ({ held, full, seen, open })))),
);
function isProof(claim: Claim): boolean {
  const start = { held: false, full: false, seen: false, open: false };
  const closed = states
    .filter((state) => holds(claim, state))
    .every((state) => after(state)?.every((next) => holds(claim, next)) ?? false);
  return closed && holds(claim, start);
}

type Path = readonly (string | number)[];
function pathsOf(value: Json, path: Path = []): readonly Path[] {
  const below = value === null || typeof value !== "object" ? [] : Object.entries(value);
  const key = (name: string): string | number => (Array.isArray(value) ? Number(name) : name);
  return [path, ...below.flatMap(([name, item]) => pathsOf(item, [...path, key(name)]))];
}
function changed(value: Json, [key, ...rest]: Path, to: Json | undefined): Json | undefined {
  if (key === undefined) return to;
  const entries = Object.entries(value ?? {}).flatMap(([name, item]): (readonly [string, Json])[] => {
    const other = name === String(key) ? changed(item, rest, to) : item;
    return other === undefined ? [] : [[name, other]];
  });
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

// Most changes are of what carries the proof: nodes, variables, root, core.
const all = pathsOf(certificate).slice(1);
const carrying = all.filter(([part]) => ["nodes", "variables", "root", "core"].includes(String(part)));
const path = fc.oneof(fc.constantFrom(...carrying), fc.constantFrom(...carrying), fc.constantFrom(...all));
const values = fc.oneof(
  fc.nat({ max: 6 }),
  fc.nat({ max: 6 }),
  fc.constantFrom<Json>(
    ...certificate.variables,
    ...certificate.core,
    "default",
    "K:1,8",
    -1,
    2 ** 60,
    null,
    [],
    {},
    "__proto__",
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(undefined),
);
const mutants = fc
  .array(fc.tuple(path, values), { minLength: 1, maxLength: 3 })
  .map((changes) =>
    changes.reduce<Json>((one, [where, to]) => changed(one, where, to as Json | undefined) ?? null, certificate),
  );

it("the walk finds the certificate a proof", () => {
  expect(isProof(certificate)).toBe(true);
  expect(isProof({ ...certificate, root: 1 })).toBe(false);
});

it("law: a changed certificate is refused with a reason, or is a proof as well", () => {
  const met = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(mutants, (mutant) => {
      const checked = checkCertificate(mutant, present);
      met[checked.ok ? "accepted" : "refused"] += 1;
      if (checked.ok) {
        expect(isProof(mutant as unknown as Claim)).toBe(true);
        expect([...checked.core].toSorted()).toEqual([...certificate.core].toSorted());
      } else {
        expect(checked.reason).not.toBe(unreadable);
      }
    }),
    { numRuns: runs },
  );
  expect(Math.min(met.accepted, met.refused)).toBeGreaterThan(0);
});

it("law: whatever is given as a certificate, nothing is thrown", () => {
  const anything = fc.anything({ withMap: true, withBigInt: true, withDate: true, withNullPrototype: true });
  fc.assert(
    fc.property(anything, fc.constantFrom(...Object.keys(certificate)), (value, part) => {
      for (const given of [value, { ...certificate, [part]: value }]) {
        const checked = checkCertificate(given, { hash: sha256 });
        if (!checked.ok) expect(checked.reason).not.toBe(unreadable);
      }
    }),
    { numRuns: runs },
  );
});
