import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contract, pattern, secret } from "../../../test/kit/policy/scene.ts";
import type { Pattern } from "../ir/ir.ts";
import { lintPolicy } from "./lint.ts";
import { loadPolicy } from "../load.ts";
import { implies, staticMatch } from "../semantics/patterns.ts";

const tools = fc.option(
  fc.array(fc.record({ server: fc.constantFrom("*", "s", "t"), tool: fc.constantFrom("*", "send", "se*", "look") }), {
    minLength: 1,
    maxLength: 2,
  }),
  { nil: undefined },
);
const effects = fc.option(
  fc.array(fc.constantFrom("read", "write", "write.external", "write.external.send"), { minLength: 1, maxLength: 2 }),
  {
    nil: undefined,
  },
);
const flags = fc.option(fc.constantFrom({ irreversible: true as const }, { openWorld: true as const }), {
  nil: undefined,
});

const patterns: fc.Arbitrary<Pattern> = fc.record({ tools, effects, flags }).map((part) => ({
  predicates: [],
  data: [],
  stores: [],
  ...(part.tools === undefined ? {} : { tools: part.tools }),
  ...(part.effects === undefined ? {} : { effects: part.effects as never }), // words of the effect lattice, written above
  ...(part.flags === undefined ? {} : { flags: part.flags }),
}));

describe("one pattern implies another", () => {
  it("law: then whatever the first matches, the second matches", () => {
    const calls = ["send", "look"].flatMap((name) =>
      ([["read.local"], ["write.external.send"], ["write.local"]] as const).flatMap((does) =>
        [true, false].map((irreversible) => contract(name, { does, flags: { irreversible, openWorld: irreversible } })),
      ),
    );
    fc.assert(
      fc.property(patterns, patterns, (inner, outer) => {
        if (!implies(inner, outer)) return;
        for (const call of calls) {
          if (staticMatch(inner, call, "restrict", "hi")) expect(staticMatch(outer, call, "restrict", "hi")).toBe(true);
        }
      }),
    );
  });

  it("every pattern implies itself and the one without conditions", () => {
    fc.assert(fc.property(patterns, (one) => implies(one, one) && implies(one, pattern())));
  });

  it("each part counts: data, stores, held and predicates", () => {
    const atom = { kind: "atLeast", bits: secret } as const;
    const parts: readonly Partial<Pattern>[] = [
      { data: [{ atom }] },
      { stores: [{ store: 0, audience: 1 }] },
      { held: atom },
      { predicates: [{ index: 1, holds: true }] },
      { flags: { openWorld: true } },
    ];
    for (const part of parts) {
      expect(implies(pattern(part), pattern(part))).toBe(true);
      expect(implies(pattern(), pattern(part))).toBe(false);
    }
  });
});

describe("a log that keeps no payload", () => {
  const codesOf = (payload: "sealed" | "digests" | "clear"): readonly string[] => {
    const input = { file: "p", document: { version: 1 as const, audit: { payload } } };
    const { policy } = loadPolicy(input, { loader: () => undefined, hash: (text) => text });
    if (policy === undefined) throw new Error("it loads");
    return lintPolicy(policy, {}, () => "").map(({ code, severity, path }) => `${severity} ${code} ${path.join(".")}`);
  };

  it("has its price said, any other has none", () => {
    expect(codesOf("digests")).toEqual(["info SG-POLICY-DIGESTS audit.payload"]);
    expect([...codesOf("sealed"), ...codesOf("clear")]).toEqual([]);
  });
});
