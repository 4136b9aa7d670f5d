import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentRoles } from "../../core/contract.ts";
import { type Grant, type RunEvent, endCauses } from "../../core/event.ts";
import { type Json, type JsonObject, isArray } from "../../core/json.ts";
import { exactly, fromBits, makeLattice, type Label, type LabelRange, type Lattice } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import { contract, lattice, option, unwrap } from "../../../test/kit/gateway/log-records.ts";
import { contractFrom, contractText } from "./contract-codec.ts";
import { eventsText, eventText, hiddenEvent, hiddenEvents, joinEvent } from "./event-codec.ts";
import { cleanText, readJson, readJsonObject, type EntryHead, type Pen } from "./json-text.ts";
import { audienceReader, labelReader, latticeFrom, latticeText, translate } from "./label-codec.ts";
import type { ReadContext } from "./option-codec.ts";
import { bodyText, eventsOf, readBody } from "./record.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const read = labelReader(lattice, lattice);
const pen: Pen = cleanText({ keyedDigest: hash }, () => "c").clean((one) => one);
const context: ReadContext = { read, contract: (digest) => (digest === "c" ? contract : undefined) };

const label = fc.nat(lattice.top).map((bits): Label => {
  const made = fromBits(lattice, bits);
  if (made === undefined) throw new Error("not a label");
  return made;
});
const range: fc.Arbitrary<LabelRange> = fc.record({ lo: label, hi: label });
const text = fc.string({ unit: "binary", maxLength: 12 });
const at = fc.nat(1_000_000);
// Whatever a server can send: `__proto__` as a name, and numbers that a double cannot hold.
const lexeme = fc.constantFrom("1.0", "-0", "1e400", "9007199254740993", "0.00000001", "123456789.123456789");
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, 1.5),
    text,
    lexeme.map((digits) => JSON.rawJSON(digits)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.oneof(text, fc.constant("__proto__")), tie("value")), { maxLength: 3 })
      .map((pairs): Json => Object.fromEntries(pairs)),
  ),
})).value;
const object = fc.dictionary(text, json).map((value): JsonObject => ({ ...value }));

const step = fc.record(
  { origin: text, server: text, tool: text, pointer: text, label },
  { requiredKeys: ["origin", "pointer", "label"] },
);
const anyOption: fc.Arbitrary<CallOption> = fc
  .record({
    truths: fc.array(fc.tuple(fc.nat(), fc.boolean())),
    keys: fc.array(fc.tuple(text, fc.array(text))),
    amounts: fc.array(fc.tuple(text, text)),
    arguments: fc.array(fc.tuple(text, fc.record({ range, digest: text, path: fc.array(step, { maxLength: 3 }) }))),
  })
  .map((parts) => ({
    class: {
      server: "mail",
      tool: "send",
      truths: new Map(parts.truths),
      keys: new Map(parts.keys),
      amounts: new Map(parts.amounts),
      ...(parts.amounts.length === 0 ? { bare: true as const } : {}),
    },
    contract,
    arguments: new Map(parts.arguments),
  }));

const common = { digest: text, purpose: text, principal: text, expiresAt: at };
const grant: fc.Arbitrary<Grant> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("endorse" as const, "declassify" as const),
    role: fc.constantFrom(...argumentRoles),
    from: range,
    to: range,
    ...common,
  }),
  fc.record({ kind: fc.constant("consent" as const), ...common }),
  fc.record({
    kind: fc.constant("accept" as const),
    hazard: text,
    move: text,
    purpose: text,
    principal: text,
    expiresAt: at,
  }),
);
const field = fc.record({ pointer: text, range });
const names = fc.array(text, { maxLength: 4 });
const filter = fc.record({ hides: names, asks: names, policy: text }, { requiredKeys: ["hides", "asks"] });
const event: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.record(
    { at, kind: fc.constant("begun" as const), principal: text, parent: text },
    { requiredKeys: ["at", "kind", "principal"] },
  ),
  fc.record({
    at,
    kind: fc.constant("registered" as const),
    text: fc.record({ source: fc.constantFrom("instruction" as const, "operator" as const), value: json }),
  }),
  fc.record({
    at,
    kind: fc.constant("refused" as const),
    call: text,
    server: text,
    tool: text,
    digest: text,
    codes: fc.array(text),
  }),
  fc.record(
    {
      at,
      kind: fc.constant("dispatched" as const),
      call: text,
      method: text,
      option: anyOption,
      arguments: object,
      digest: text,
      consent: text,
      forecast: fc.record({ labels: fc.array(text, { maxLength: 4 }), effects: fc.array(text, { maxLength: 4 }) }),
      filter,
    },
    { requiredKeys: ["at", "kind", "call", "method", "option", "arguments", "digest"] },
  ),
  fc.record({ at, kind: fc.constant("succeeded" as const), call: text }),
  fc.record({ at, kind: fc.constant("failed" as const), call: text, noEffect: fc.boolean() }),
  fc.record({ at, kind: fc.constant("unknown" as const), call: text, cause: text }),
  fc.record(
    {
      at,
      kind: fc.constant("released" as const),
      call: fc.option(text, { nil: undefined }),
      server: text,
      tool: text,
      how: fc.constantFrom("pass" as const, "withhold" as const, "reject" as const),
      label: range,
      fields: fc.array(field),
      scope: fc.record({ stores: fc.array(text), types: fc.array(fc.record({ pointer: text, type: text })) }),
      value: json,
    },
    { requiredKeys: ["at", "kind", "call", "server", "tool", "how", "label", "fields"] },
  ),
  fc.record({ at, kind: fc.constant("foreseen" as const), filter }),
  fc.record({ at, kind: fc.constant("granted" as const), grant }),
  fc.record({
    at,
    kind: fc.constant("ended" as const),
    cause: fc.constantFrom(...endCauses),
  }),
);

/** Through text and back, as an entry of a record does it; `withPayload` false is a record whose key was destroyed. */
function entryStored(head: EntryHead, originals: readonly RunEvent[], withPayload: boolean) {
  const payload = hiddenEvents(originals, pen);
  const text = `${JSON.stringify({ ...head, events: 0 }).slice(0, -2)}${eventsText(originals, pen, head)}}`;
  const place = { writer: 1, seq: 1, wallMs: 1, run: "r" };
  const entry = readBody(bodyText(place, { context: "{}", entries: [text] }, undefined))?.entries[0];
  if (entry === undefined) throw new Error("the entry does not read");
  const hidden = withPayload && payload !== undefined ? readJson(payload) : undefined;
  return eventsOf(entry).map((event, index) => joinEvent(event, isArray(hidden) ? hidden[index] : undefined, context));
}

const bare: EntryHead = { at: -1, kind: "note" };

function stored(original: RunEvent, withPayload: boolean): RunEvent | undefined {
  return entryStored(bare, [original], withPayload)[0];
}

const clearOf = (original: RunEvent): string => eventText(original, pen, bare);

/** Both parts of an event, read back. */
const split = (original: RunEvent) =>
  [clearOf(original), hiddenEvent(original, pen)].map((part) => (part === undefined ? part : readJson(part)));

/** What `toEqual` cannot see into: raw numbers as text. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (part instanceof Map ? [...part] : part));

describe("event codec", () => {
  it("gives back the events of an entry, whatever its head says already", () => {
    const few = fc.constantFrom("a", "b");
    const head = fc.record(
      { at: fc.constantFrom(1, 2), kind: few, call: few, server: few, tool: few },
      {
        requiredKeys: ["at", "kind"],
      },
    );
    // Events that agree with the head now and then, in every member that they may leave to it.
    const near = fc
      .tuple(event, few, few, few, few, fc.constantFrom(1, 2))
      .map(([one, call, server, tool, digest, when]) => {
        const option =
          "option" in one ? { option: { ...one.option, class: { ...one.option.class, server, tool } } } : {};
        const named = { call, server, tool, digest };
        const own = Object.fromEntries(Object.entries(named).filter(([name]) => name in one));
        return { ...one, ...own, ...option, at: when };
      });
    fc.assert(
      fc.property(head, fc.array(near, { maxLength: 5 }), (entry, originals) => {
        const back = entryStored(entry, originals, true);
        expect(back.map((one) => (one === undefined ? one : split(one)))).toEqual(originals.map(split));
      }),
      { numRuns: runs },
    );
  });

  it("gives back every event as it was", () => {
    fc.assert(
      fc.property(event, (original) => {
        const back = stored(original, true);
        expect(back).toBeDefined();
        expect(split(back ?? original)).toEqual(split(original));
        expect(plain({ ...back, option: 0, text: 0 })).toHaveLength(plain({ ...original, option: 0, text: 0 }).length);
      }),
      { numRuns: runs },
    );
  });

  it("keeps maps and lexemes of a call", () => {
    const original: RunEvent = {
      at: 2,
      kind: "dispatched",
      call: "c1",
      method: "tools/call",
      option,
      digest: "d",
      consent: "k",
      arguments: { id: JSON.rawJSON("9007199254740993") },
    };
    const back = stored(original, true);
    expect(back).toEqual(original);
    expect(JSON.stringify(back)).toContain("9007199254740993");
  });

  it("keeps labels and digests, never values, when the payload is gone", () => {
    fc.assert(
      fc.property(event, (original) => {
        const back = stored(original, false);
        expect(back?.kind).toBe(original.kind);
        if (original.kind !== "released" || back?.kind !== "released") return;
        expect(back.value).toBeUndefined();
        const all = original.fields.reduce<number>((hi, one) => hi | one.range.hi, original.label.hi);
        expect(back.label.hi).toBe(all);
      }),
      { numRuns: runs },
    );
    const bare = stored(
      { at: 1, kind: "dispatched", call: "c", method: "m", option, digest: "d", arguments: { a: 1 } },
      false,
    );
    expect(bare).toMatchObject({
      arguments: {},
      option: { class: { keys: new Map([["once", []]]), amounts: new Map() } },
    });
  });

  it("puts no value into the clear part", () => {
    const secret = "ann@example.org";
    const original: RunEvent = {
      at: 2,
      kind: "dispatched",
      call: "c",
      method: "m",
      option,
      digest: "d",
      arguments: { to: secret },
    };
    expect(clearOf(original)).not.toContain(secret);
  });

  it("refuses what it did not write", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          fc.record({
            kind: fc.constantFrom("dispatched", "released", "granted", "ended", "begun", "registered", "other"),
            at,
            option: json,
            label: json,
            fields: json,
            scope: json,
            grant: json,
          }),
        ),
        (value) => {
          const any = readJson(JSON.stringify(value)) ?? null;
          const back = joinEvent(any, any, context);
          expect(back === undefined || typeof back.kind === "string").toBe(true);
        },
      ),
      { numRuns: runs },
    );
  });
});

describe("documents", () => {
  it("gives back a contract and a lattice", () => {
    const document = readJsonObject(contractText(contract));
    expect(contractFrom(document ?? {}, read, audienceReader(lattice, lattice))).toEqual(contract);
    expect(latticeFrom(readJsonObject(latticeText(lattice)) ?? {})).toEqual(lattice);
    expect(latticeFrom({ levels: [1], categories: [], groups: [] })).toBeUndefined();
    expect(latticeFrom({ levels: [], categories: [], groups: [] })).toBeUndefined();
    expect(contractFrom({}, read, audienceReader(lattice, lattice))).toBeUndefined();
    expect(hash(contractText(contract))).toBe(hash(contractText({ ...contract })));
  });

  it("gives back the cases of a contract that an earlier log wrote, each with one predicate", () => {
    const earlier = contractText(contract).replace('"predicates":[3]', '"predicate":3');
    expect(earlier).toContain('"predicate":3');
    const found = contractFrom(readJsonObject(earlier) ?? {}, read, audienceReader(lattice, lattice));
    expect(found?.cases.map(({ predicates }) => predicates)).toEqual([[3]]);
  });

  const make = (levels: string[], categories: string[], groups: string[]): Lattice =>
    unwrap(makeLattice({ levels, categories, groups }));

  it("carries labels over to another lattice by name", () => {
    const wider = make(["public", "inner", "sensitive", "private"], ["finance", "medical"], ["me", "team", "anyone"]);
    const toWider = labelReader(lattice, wider);
    expect(toWider(lattice.bottom)).toBe(wider.bottom);
    const top = toWider(lattice.top);
    // Everything that was restricted still is; the category that did not exist then is not invented.
    expect(top).toBe((wider.top & ~wider.categoryMask) | (wider.categoryMask & (2 << 3)));
    expect(toWider(-1)).toBeUndefined();
    expect(toWider("1")).toBeUndefined();
    expect(audienceReader(lattice, wider)(3)).toBe(0b101);
    expect(audienceReader(lattice, wider)(4)).toBeUndefined();
  });

  it("refuses a label or an audience whose name is gone", () => {
    const narrower = make(["public", "private"], [], ["me"]);
    const restricted = fromBits(lattice, lattice.top);
    expect(restricted === undefined ? restricted : translate(lattice, narrower, restricted)).toBeUndefined();
    expect(translate(lattice, narrower, lattice.bottom)).toBe(narrower.bottom);
    const medical = fromBits(lattice, lattice.categoryMask);
    expect(medical === undefined ? medical : translate(lattice, narrower, medical)).toBeUndefined();
    expect(audienceReader(lattice, narrower)(2)).toBeUndefined();
    const document = readJsonObject(contractText({ ...contract, output: { label: exactly(lattice.top), fields: [] } }));
    expect(
      contractFrom(document ?? {}, labelReader(lattice, narrower), audienceReader(lattice, narrower)),
    ).toBeUndefined();
  });
});
