// What each part of a pattern asks for, alone and together, at both ends and in both polarities.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Role, ToolContract } from "../../core/contract.ts";
import { type Label, type LabelRange, categoryLabel, exactly, join, withTrust } from "../../core/label.ts";
import {
  argument,
  contract,
  frameOf,
  lattice,
  nothing,
  option,
  pattern,
  secret,
} from "../../../test/kit/policy/scene.ts";
import { bitsOf, booleans, vectorOf } from "../ir/algebra.ts";
import type { DataAtom, LabelAtom, Pattern } from "../ir/ir.ts";
import {
  type Context,
  type End,
  type Polarity,
  type Surroundings,
  contextVector,
  controlTrusted,
  dataVector,
  matches,
  nameMatches,
  staticMatch,
  withinBounds,
} from "./patterns.ts";
import { moveAt } from "./transition.ts";

const frame = frameOf({});
const at = (end: End): Context<boolean> => ({ algebra: booleans, ir: frame.ir, end });
const vector = (label: number) => vectorOf(booleans, label, lattice.bitCount);
const medical = categoryLabel(lattice, "medical") as Label; // declared by the scene
const untrusted = withTrust(lattice, nothing, "untrusted");
const ends: readonly End[] = ["lo", "hi"];
const polarities: readonly Polarity[] = ["restrict", "permit"];
const around: Surroundings<boolean> = { stores: [], held: [] };

describe("a name pattern", () => {
  it("law: matches what the regular expression with `.*` for each star matches", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 5 });
    const near = fc.tuple(text, fc.array(text)).map(([asked, fillings]) => {
      let at = 0;
      return [asked, asked.replaceAll("*", () => fillings[at++] ?? "")] as const;
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(text, text)), ([asked, name]) => {
        const expression = new RegExp(`^${asked.replaceAll("*", ".*")}$`);
        expect(nameMatches(asked, name)).toBe(expression.test(name));
      }),
    );
  });

  it("may end in stars that stand for nothing, and comes back to the last star", () => {
    expect(nameMatches("send**", "send")).toBe(true);
    expect(nameMatches("*_file", "read_file_file")).toBe(true);
    expect(nameMatches("*send", "send")).toBe(true);
    expect(nameMatches("a*b", "ab")).toBe(true);
    expect(nameMatches("a*b*c", "aXbXbXc")).toBe(true);
    expect(nameMatches("send", "sender")).toBe(false);
    expect(nameMatches("sender", "send")).toBe(false);
    expect(nameMatches("", "")).toBe(true);
  });
});

describe("the part that only looks at the tool", () => {
  const everywhere = (asked: Partial<Pattern>, of: ToolContract): boolean[] =>
    polarities.flatMap((polarity) => ends.map((end) => staticMatch(pattern(asked), of, polarity, end)));
  const always = [true, true, true, true];
  const never = always.map(() => false);

  it("takes a tool that any selector names by server and name", () => {
    const named = (server: string, tool: string) => everywhere({ tools: [{ server, tool }] }, contract("send_mail"));
    expect(named("s", "send_*")).toEqual(always);
    expect(named("other", "send_mail")).toEqual(never);
    expect(named("s", "send")).toEqual(never);
    const tools = ["look", "send_mail"].map((tool) => ({ server: "*", tool }));
    expect(everywhere({ tools }, contract("send_mail"))).toEqual(always);
    expect(everywhere({ tools: [] }, contract("send_mail"))).toEqual(never);
    expect(everywhere({}, contract("send_mail"))).toEqual(always);
  });

  it("takes a tool that has the flags it asks for, and does not mind others", () => {
    const flagged = (irreversible: boolean, openWorld: boolean) =>
      contract("t", { flags: { irreversible, openWorld } });
    for (const [flags, has, lacks] of [
      [{ irreversible: true }, flagged(true, false), flagged(false, true)],
      [{ openWorld: true }, flagged(false, true), flagged(true, false)],
      [{ irreversible: true, openWorld: true }, flagged(true, true), flagged(true, false)],
    ] as const) {
      expect(everywhere({ flags }, has)).toEqual(always);
      expect(everywhere({ flags }, lacks)).toEqual(never);
      expect(everywhere({}, lacks)).toEqual(always);
      // Whatever else it asks for must hold, too.
      expect(everywhere({ flags, effects: ["read"] }, has)).toEqual(never);
    }
  });

  it("takes for a restriction what a tool may do at worst, and for a permission only what it surely does", () => {
    const writes = contract("t", { effects: { must: ["read.local"], may: ["read.local", "write"] } });
    const asked = (effect: string, polarity: Polarity, end: End): boolean =>
      staticMatch(pattern({ effects: ["execute", effect] }), writes, polarity, end);
    for (const [polarity, end, possible] of [
      ["restrict", "hi", true],
      ["restrict", "lo", false],
      ["permit", "hi", false],
      ["permit", "lo", true],
    ] as const) {
      expect(asked("write.local", polarity, end)).toBe(possible);
      expect(asked("read", polarity, end)).toBe(true);
      expect(asked("execute", polarity, end)).toBe(false);
    }
  });

  it("lets what only an untrusted server says restrict, and permit nothing", () => {
    const effects = { must: ["read.local", "write.local"], may: ["read.local", "write.local", "execute"] };
    const claims = contract("t", { effects, claimed: ["read.local"] });
    const sure = (effect: string, polarity: Polarity): boolean =>
      staticMatch(pattern({ effects: [effect] }), claims, polarity, polarity === "permit" ? "hi" : "lo");
    expect([sure("read", "restrict"), sure("read", "permit")]).toEqual([true, false]);
    expect([sure("write", "restrict"), sure("write", "permit")]).toEqual([true, true]);
  });

  it("law: a restriction that applies at best applies at worst, a permission the other way round", () => {
    const effects = fc.subarray(["read.local", "write.local", "write.external.send", "execute.local"]);
    const asked = fc.subarray(["read", "write", "write.external", "execute.local"], { minLength: 1 });
    fc.assert(
      fc.property(effects, effects, asked, (must, more, wanted) => {
        const of = contract("t", { effects: { must, may: [...must, ...more] } });
        const says = (polarity: Polarity, end: End) => staticMatch(pattern({ effects: wanted }), of, polarity, end);
        if (says("restrict", "lo")) expect(says("restrict", "hi")).toBe(true);
        if (says("permit", "hi")) expect(says("permit", "lo")).toBe(true);
      }),
    );
  });
});

describe("labels that a pattern looks at", () => {
  const argumentsOf: readonly (readonly [string, Role, boolean])[] = [
    ["to", "recipient", true],
    ["text", "content", true],
    ["path", "path", false],
  ];
  const of = contract("send", {
    arguments: new Map(argumentsOf.map(([name, role, sink]) => [name, argument(role, sink)])),
  });
  const labels = { to: exactly(untrusted), text: exactly(secret), path: { lo: nothing, hi: medical } };
  const joined = (part: Omit<DataAtom, "atom">, end: End = "hi"): number =>
    bitsOf(dataVector(at(end), part, moveAt(frame, option(of, labels), end)));

  it("are those of all arguments, or of the names, roles and audiences it gives", () => {
    expect(joined({})).toBe(untrusted | secret | medical);
    expect(joined({}, "lo")).toBe(untrusted | secret);
    expect(joined({ names: ["to", "path"] })).toBe(untrusted | medical);
    expect(joined({ names: [] })).toBe(nothing);
    expect(joined({ roles: ["content", "path"] })).toBe(secret | medical);
    expect(joined({ audience: 2 })).toBe(untrusted | secret);
    expect(joined({ audience: 1 })).toBe(nothing);
    expect(joined({ names: ["to", "text"], roles: ["content"] })).toBe(secret);
  });

  it("of an argument whose role is in doubt count for every role", () => {
    const doubtful = contract("do", { arguments: new Map([["to", argument("unsure", false)]]) });
    const move = moveAt(frame, option(doubtful, { to: exactly(secret) }), "hi");
    const joinedFor = (part: Omit<DataAtom, "atom">): number => bitsOf(dataVector(at("hi"), part, move));
    expect([joinedFor({ roles: ["recipient"] }), joinedFor({ roles: ["content"] })]).toEqual([secret, secret]);
    expect(joinedFor({ roles: ["recipient"], names: ["other"] })).toBe(nothing);
  });

  it("of what is held count where it is held at all", () => {
    const held = [
      { present: true, label: vector(secret) },
      { present: true, label: vector(untrusted) },
      { present: false, label: vector(medical) },
    ];
    expect(bitsOf(contextVector(at("hi"), { ...around, held }))).toBe(secret | untrusted);
    expect(bitsOf(contextVector(at("hi"), around))).toBe(nothing);
  });
});

describe("a pattern", () => {
  type Given = {
    readonly truths?: ReadonlyMap<number, boolean>;
    readonly label?: LabelRange;
    readonly held?: Label;
    readonly store?: { readonly label: Label; readonly audience: number };
    readonly polarity?: Polarity;
    readonly end?: End;
  };
  const says = (asked: Partial<Pattern>, given: Given = {}): boolean => {
    const { end = "hi", polarity = "restrict", held, store, truths = new Map() } = given;
    const called = option(contract("t", { does: ["write.local"] }), { a: given.label ?? exactly(nothing) });
    return matches(at(end), pattern(asked), polarity, {
      move: { ...moveAt(frame, called, end), truths },
      around: {
        stores:
          store === undefined
            ? []
            : [{ label: vector(store.label), audience: vectorOf(booleans, store.audience, 2), open: [] }],
        held: held === undefined ? [] : [{ present: true, label: vector(held) }],
      },
    });
  };
  const both = join(secret, medical);
  const atLeast: LabelAtom = { kind: "atLeast", bits: both };
  const atMost: LabelAtom = { kind: "atMost", forbidden: both };

  it("that asks for nothing is every call, and one that the tool does not fit is none", () => {
    expect(says({})).toBe(true);
    expect(says({ effects: ["read"] })).toBe(false);
    expect(says({ effects: ["write"] })).toBe(true);
  });

  it("takes a predicate by its truth; one that nobody looked at holds for a restriction alone", () => {
    for (const polarity of polarities) {
      for (const truth of [true, false]) {
        const truths = new Map([[3, truth]]);
        expect(says({ predicates: [{ index: 3, holds: true }] }, { truths, polarity })).toBe(truth);
        expect(says({ predicates: [{ index: 3, holds: false }] }, { truths, polarity })).toBe(!truth);
      }
      expect(says({ predicates: [{ index: 3, holds: true }] }, { polarity })).toBe(polarity === "restrict");
    }
    const truths = new Map([
      [1, true],
      [2, false],
    ]);
    const asked = [1, 2].map((index) => ({ index, holds: true }));
    expect(says({ predicates: asked }, { truths })).toBe(false);
  });

  it("takes data that has all restrictions it names, or none of those it forbids, at its own end", () => {
    const data = (atom: LabelAtom) => ({ data: [{ atom }] });
    expect(says(data(atLeast), { label: exactly(both) })).toBe(true);
    expect(says(data(atLeast), { label: exactly(secret) })).toBe(false);
    expect(says(data(atMost), { label: exactly(untrusted) })).toBe(true);
    expect(says(data(atMost), { label: exactly(secret) })).toBe(false);
    expect(says(data(atLeast), { label: { lo: nothing, hi: both } })).toBe(true);
    expect(says(data(atLeast), { label: { lo: nothing, hi: both }, end: "lo" })).toBe(false);
    expect(says({ data: [{ atom: atLeast }, { atom: atMost }] }, { label: exactly(both) })).toBe(false);
  });

  it("takes what is held, and what a store holds and who reads it", () => {
    expect(says({ held: atLeast }, { held: both })).toBe(true);
    expect(says({ held: atLeast }, { held: secret })).toBe(false);
    const box = { label: both, audience: 2 };
    const asked = (part: object, store = box) => says({ stores: [{ store: 0, ...part }] }, { store });
    expect(asked({})).toBe(true);
    expect(asked({ label: atLeast })).toBe(true);
    expect(asked({ label: atMost })).toBe(false);
    expect(asked({ audience: 3 })).toBe(true);
    expect(asked({ audience: 1 })).toBe(false);
    expect(asked({ label: atLeast, audience: 1 })).toBe(false);
    expect(asked({ label: atLeast, audience: 2 }, { label: secret, audience: 2 })).toBe(false);
    expect(says({ stores: [{ store: 0 }] })).toBe(false);
    expect(says({ stores: [{ store: 0 }, { store: 1 }] }, { store: box })).toBe(false);
  });

  it("law: is met where each of its parts is", () => {
    const atoms = fc.constantFrom(atLeast, atMost);
    const label = fc.nat({ max: lattice.top }).map((bits) => bits as Label); // all bits belong to the lattice
    const parts = fc.record(
      {
        effects: fc.constantFrom(["read"], ["write"]),
        predicates: fc.constantFrom([{ index: 0, holds: true }], [{ index: 0, holds: false }]),
        data: atoms.map((atom) => [{ atom }]),
        held: atoms,
        stores: atoms.map((one) => [{ store: 0, label: one }]),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(parts, label, label, label, (asked, data, held, stored) => {
        const given: Given = {
          truths: new Map([[0, true]]),
          label: exactly(data),
          held,
          store: { label: stored, audience: 0 },
        };
        const each = Object.entries(asked).map(([name, part]) => says({ [name]: part }, given));
        expect(says(asked, given)).toBe(!each.includes(false));
      }),
    );
  });
});

describe("what the default asks of labels", () => {
  const of = contract("send", {
    arguments: new Map([
      ["to", argument("recipient", true)],
      ["text", argument("content", true)],
      ["note", argument("content", false)],
    ]),
  });
  const asked = (says: typeof withinBounds<boolean>, labels: Readonly<Record<string, LabelRange>>, end: End = "hi") =>
    says(at(end), moveAt(frame, option(of, labels), end));

  it("a sink has a bound, another argument has none", () => {
    expect(asked(withinBounds, {})).toBe(true);
    expect(asked(withinBounds, { text: exactly(untrusted), note: exactly(secret) })).toBe(true);
    expect(asked(withinBounds, { text: exactly(secret) })).toBe(false);
    expect(asked(withinBounds, { to: exactly(secret), text: exactly(nothing) })).toBe(false);
    expect(asked(withinBounds, { text: { lo: nothing, hi: secret } }, "lo")).toBe(true);
    // What a contract says of an argument that shows nothing to anybody is no bound.
    const shown = contract("send", { rest: { ...argument("content", false), forbidden: secret } });
    expect(withinBounds(at("hi"), moveAt(frame, option(shown, { text: exactly(secret) }), "hi"))).toBe(true);
  });

  it("control must be trusted, content need not be", () => {
    expect(asked(controlTrusted, {})).toBe(true);
    expect(asked(controlTrusted, { text: exactly(untrusted), note: exactly(untrusted) })).toBe(true);
    expect(asked(controlTrusted, { to: exactly(secret) })).toBe(true);
    expect(asked(controlTrusted, { to: exactly(untrusted) })).toBe(false);
  });
});
