// A5: a trusted value may be used where the place that gave it is used, and nowhere else.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArgumentContract, FieldType, Role, ToolContract } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { exactly, type LabelRange } from "../../core/label.ts";
import { argument, contract, makeSession, open, untrusted } from "../../../test/kit/policy/flow-session.ts";
import { originsMax } from "./limits.ts";
import { fits, type Origin, sameScope, typesAt } from "./origin.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };
const web = contract("web", exactly(untrusted));
const maybe: LabelRange = { lo: open, hi: untrusted };

/** Stores of tools: `drive` and `calendar` are two of one server, `bank` has another, and `clock` and `dice` none. */
const stores: { readonly [tool: string]: Partial<ToolContract> } = {
  files: { server: "suite", reads: ["drive"] },
  trash: { server: "suite", writes: ["drive"] },
  share: { server: "suite", opens: [{ store: "drive", audience: ["anyone"] }] },
  events: { server: "suite", reads: ["calendar"] },
  both: { server: "suite", reads: ["calendar", "drive"] },
  elsewhere: { server: "copy", writes: ["drive"] },
  pay: { server: "bank", writes: ["ledger"] },
  clock: { server: "suite" },
  dice: { server: "suite" },
};

const tool = (name: string, role: Role = "identifier", more: Partial<ArgumentContract> = {}): ToolContract =>
  contract(name, exactly(open), [], {
    ...stores[name],
    arguments: new Map([["a", { ...argument(role), ...more }]]),
  });

type Given = readonly [tool: string, value: Json, types?: readonly FieldType[]];

/** Whether the argument of a tool is trusted after these results, and then untrusted text. */
function passes(results: readonly Given[], user: ToolContract, value: Json, said?: string): boolean {
  const session = makeSession("provenance");
  if (said !== undefined) session.say(said);
  for (const [name, result, types] of results) {
    const { arguments: _none, ...own } = tool(name);
    session.exchange({ ...own, arguments: new Map(), ...(types === undefined ? {} : { types }) }, {}, result);
  }
  session.exchange(web, {}, { text: "do as I say" });
  const range = session.labels(user, { a: value }).get("a")?.range;
  if (range?.hi !== open) expect(range).toEqual(maybe);
  return range?.hi === open;
}

const structured = (value: Json): Json => ({ structuredContent: value, content: [] });
const list = structured({ files: [{ id: "f-4711", size: 4711 }] });

describe("A5: a name means something only where it was given", () => {
  it.each<[string, Role, Json, boolean]>([
    ["trash", "identifier", "f-4711", true],
    ["share", "identifier", "f-4711", true],
    ["both", "identifier", "f-4711", true],
    ["trash", "identifier", ["f-4711"], true],
    ["trash", "identifier", { id: "f-4711" }, true],
    ["trash", "amount", "4711", true],
    ["events", "identifier", "f-4711", false],
    ["clock", "identifier", "f-4711", false],
    ["elsewhere", "identifier", "f-4711", false],
    ["pay", "identifier", "f-4711", false],
    ["pay", "amount", 4711, false],
    ["pay", "amount", "4711", false],
    ["pay", "amount", "4711.00", false],
    ["pay", "query", 4711, false],
    ["pay", "command", "f-4711", false],
    ["pay", "recipient", "f-4711", false],
    ["pay", "destination", "f-4711", false],
    ["pay", "path", "f-4711", false],
    ["pay", "identifier", [{ deep: ["f-4711"] }], false],
    ["pay", "identifier", { "f-4711": true }, false],
    ["trash", "identifier", "Zi00NzEx", false],
    ["trash", "identifier", "662d34373131", false],
    ["pay", "content", "f-4711", true],
  ])("what `files` gave is for %s as %s %j: %s", (name, role, value, expected) => {
    expect(passes([["files", list]], tool(name, role), value)).toBe(expected);
    const text = { content: [{ type: "text", text: "file f-4711 has 4711 bytes" }] };
    expect(passes([["files", text]], tool(name, role), value)).toBe(expected);
  });

  it("a name of a tool without stores is a name of that tool", () => {
    expect(passes([["dice", list]], tool("dice"), "f-4711")).toBe(true);
    expect(passes([["dice", list]], tool("clock"), "f-4711")).toBe(false);
    expect(passes([["dice", list]], tool("files"), "f-4711")).toBe(false);
  });

  it("what the user said is for every call, whoever repeats it before or after", () => {
    for (const name of ["pay", "clock", "trash", "elsewhere"]) {
      expect(passes([["files", list]], tool(name), "f-4711", "the file f-4711")).toBe(true);
      expect(passes([["files", list]], tool(name, "amount"), 4711, "pay 4711")).toBe(true);
    }
  });

  it("a value that two places gave is for both, in any order", () => {
    const event = structured({ id: "f-4711" });
    for (const results of [
      [["files", list] as const, ["events", event] as const],
      [["events", event] as const, ["files", list] as const],
    ]) {
      expect(passes(results, tool("trash"), "f-4711")).toBe(true);
      expect(passes(results, tool("events"), "f-4711")).toBe(true);
      expect(passes(results, tool("pay"), "f-4711")).toBe(false);
    }
  });

  it.each<[Role, Json]>([
    ["recipient", "bob@example.com"],
    ["recipient", "DE89 3704 0044 0532 0130 00"],
    ["destination", "https://example.com/a"],
    ["destination", "example.com"],
    ["path", "/home/me/notes.txt"],
  ])("addresses mean the same everywhere: %s %j", (role, value) => {
    expect(passes([["files", structured({ at: value })]], tool("pay", role), value)).toBe(true);
    expect(passes([["files", structured({ at: value })]], tool("pay", "identifier"), value)).toBe(false);
  });

  it("text that came beside any call is of no store", () => {
    const session = makeSession("provenance");
    const message = { at: 0, server: "suite", tool: "notifications/message", fields: [], how: "pass" } as const;
    session.remember({ ...message, kind: "released", call: undefined, label: exactly(open), value: "f-4711" });
    session.exchange(web, {}, { text: "x" });
    expect(session.labels(tool("trash"), { a: "f-4711" }).get("a")?.range).toEqual(maybe);
  });

  it("the refusal shows which place gave the value", () => {
    const session = makeSession("provenance");
    session.exchange({ ...tool("files"), arguments: new Map() }, {}, list);
    session.exchange(web, {}, { text: "x" });
    const path = session.labels(tool("pay", "amount"), { a: 4711 }).get("a")?.path;
    expect(path).toMatchObject([
      { origin: "c1", server: "suite", tool: "files", pointer: "/structuredContent/files/0/size" },
    ]);
  });

  it("places beyond the limit are not told apart, and none of them is drawn on", () => {
    const many = Array.from({ length: originsMax + 1 }, (_, index): Given => [`t${index}`, list]);
    expect(passes(many, tool("t0", "amount"), 4711)).toBe(true);
    expect(passes(many, tool(`t${originsMax}`, "amount"), 4711)).toBe(false);
  });
});

describe("A5: types keep what one store holds apart", () => {
  const types: readonly FieldType[] = [
    { pointer: "/files/*/id", type: "file" },
    { pointer: "/files/*/size", type: "bytes" },
    { pointer: "/owner", type: "user" },
  ];
  const result = { files: [{ id: 17, size: 4711 }], owner: "f-ann", note: "x-note" };
  const text = "file 17 of f-ann has 4711 bytes";

  it.each<[string | undefined, Role, Json, boolean]>([
    ["file", "identifier", 17, true],
    ["bytes", "amount", 4711, true],
    ["user", "identifier", "f-ann", true],
    ["file", "identifier", 4711, false],
    ["file", "amount", "4711", false],
    ["file", "identifier", "4711", false],
    ["file", "identifier", "f-ann", false],
    ["file", "recipient", "f-ann", false],
    ["file", "identifier", "x-note", true],
    [undefined, "amount", 4711, true],
  ])("an argument of type %s as %s takes %j: %s", (type, role, value, expected) => {
    const user = tool("trash", role, type === undefined ? {} : { type });
    expect(passes([["files", structured(result), types]], user, value)).toBe(expected);
    // The same in words beside it, as servers do for older clients, changes nothing.
    const twice = { structuredContent: result, content: [{ type: "text", text }] };
    expect(passes([["files", twice, types]], user, value)).toBe(expected);
  });

  it("one type on one server joins tools that share no store; on another server it does not", () => {
    const given: Given = ["clock", structured(result), types];
    expect(passes([given], tool("trash", "identifier", { type: "user" }), "f-ann")).toBe(true);
    expect(passes([given], tool("elsewhere", "identifier", { type: "user" }), "f-ann")).toBe(false);
  });

  it("types part addresses, too", () => {
    const given: Given = ["files", structured({ owner: "ann@x.com" }), types];
    expect(passes([given], tool("pay", "recipient", { type: "user" }), "ann@x.com")).toBe(true);
    expect(passes([given], tool("pay", "recipient", { type: "file" }), "ann@x.com")).toBe(false);
    expect(passes([given], tool("pay", "recipient", { type: "file" }), "Ann@X.com")).toBe(false);
  });

  it("what the user said has no type", () => {
    const user = tool("trash", "identifier", { type: "user" });
    expect(passes([["files", structured(result), types]], user, 4711, "number 4711")).toBe(true);
  });

  it("the most specific declaration counts; two of one place must both be equal", () => {
    const declared: readonly FieldType[] = [
      { pointer: "", type: "any" },
      { pointer: "/a/*", type: "one" },
      { pointer: "/*/b", type: "two" },
    ];
    expect(typesAt(["c"], declared)).toEqual(["any"]);
    expect(typesAt(["a", "x", "y"], declared)).toEqual(["one"]);
    expect(typesAt(["a", "b"], declared)).toEqual(["one", "two"]);
    expect(typesAt(["a", "b"], [...declared].reverse())).toEqual(["one", "two"]);
    expect(typesAt(["a"], [{ pointer: "/b", type: "x" }])).toBeUndefined();
    const session: Given = ["files", structured({ a: { b: "name-1" } }), declared];
    expect(passes([session], tool("files", "identifier", { type: "one" }), "name-1")).toBe(false);
  });
});

describe("laws of origins", () => {
  const word = fc.constantFrom("a", "b");
  const words = fc.subarray(["a", "b", "c"]);
  const origin: fc.Arbitrary<Origin> = fc.record({
    origin: fc.constant("c1"),
    server: word,
    tool: word,
    pointer: fc.constant(""),
    range: fc.constant(exactly(open)),
    stores: words,
    types: words,
  });
  const target = fc.record({
    role: fc.constantFrom<Role>("identifier", "amount", "recipient", "content"),
    type: fc.option(word, { nil: undefined }),
    consumer: fc.record({ server: word, tool: word, stores: words }),
  });
  const given = ({ type, ...rest }: { type: string | undefined; role: Role; consumer: never }) =>
    type === undefined ? rest : { ...rest, type };

  it("origins of one scope fit the same targets", () => {
    fc.assert(
      fc.property(origin, origin, target, fc.boolean(), (left, right, wanted, hasForm) => {
        if (!sameScope(left, right)) return;
        const one = given(wanted as never);
        expect(fits(left, one, hasForm)).toBe(fits(right, one, hasForm));
      }),
      runs,
    );
  });

  it("no name of another server fits a control argument", () => {
    fc.assert(
      fc.property(origin, target, (from, wanted) => {
        if (wanted.role === "content" || from.server === wanted.consumer.server) return;
        expect(fits(from, given(wanted as never), false)).toBe(false);
      }),
      runs,
    );
  });

  it("a type only parts what shares a store", () => {
    fc.assert(
      fc.property(origin, target, fc.boolean(), ({ types: _types, ...from }, wanted, hasForm) => {
        const { type: _type, ...untyped } = wanted;
        const shares = fits(from, untyped, hasForm);
        if (!shares) return;
        const typed = { ...from, types: ["other"] };
        expect(fits(typed, { ...untyped, type: "other" }, hasForm)).toBe(true);
        expect(fits(typed, { ...untyped, type: "own" }, hasForm)).toBe(wanted.role === "content");
      }),
      runs,
    );
  });
});
