import fc from "fast-check";
import { expect, test } from "vitest";
import { answerMalformed, answerQuery, noError, noSuchName, parseQuery, queryBytesMax, typeA } from "./dns.ts";

type Parts = { readonly name?: string; readonly flags?: number; readonly counts?: readonly number[]; tail?: string };

function query({ name = "Api.Example.com", flags = 0x0100, counts = [1, 0, 0, 0], tail = "" }: Parts = {}): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(0x1234, 0);
  header.writeUInt16BE(flags, 2);
  counts.forEach((count, index) => header.writeUInt16BE(count, 4 + index * 2));
  const labels = name === "" ? [] : name.split(".");
  const encoded = labels.map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")]));
  return Buffer.concat([header, ...encoded, Buffer.from([0, 0, typeA, 0, 1]), Buffer.from(tail, "hex")]);
}

const edns = "0000291000000000000000";

test("a question is read in lower case and answered in the case it was asked", () => {
  const parsed = parseQuery(query());
  if (parsed.kind !== "query") throw new Error(parsed.kind);
  expect(parsed.query).toMatchObject({ id: 0x1234, name: "api.example.com", type: typeA, recursionDesired: true });
  const answer = Buffer.from(answerQuery(parsed.query, noError, [[198, 18, 1, 0]]));
  expect(answer.toString("hex")).toBe(
    `${"12348180000100010000000003"}${Buffer.from("Api").toString("hex")}07${Buffer.from("Example").toString("hex")}` +
      `03${Buffer.from("com").toString("hex")}0000010001c00c000100010000001e0004c6120100`,
  );
  expect(Buffer.from(answerQuery(parsed.query, noSuchName, [])).readUInt16BE(2) & 0xf).toBe(3);
});

test("an EDNS record may follow, whole, and nothing else", () => {
  expect(parseQuery(query({ counts: [1, 0, 0, 1], tail: edns })).kind).toBe("query");
  expect(parseQuery(query({ counts: [1, 0, 0, 1], tail: `${edns}00` })).kind).toBe("malformed");
  expect(parseQuery(query({ counts: [1, 0, 0, 1], tail: edns.slice(2) })).kind).toBe("malformed");
  expect(parseQuery(query({ counts: [1, 0, 0, 1] })).kind).toBe("malformed");
  expect(parseQuery(query({ tail: "00" })).kind).toBe("malformed");
  expect(parseQuery(query({ counts: [1, 0, 0, 2], tail: edns + edns })).kind).toBe("malformed");
});

test.each([
  ["an answer", query({ flags: 0x8000 }), undefined],
  ["too short", query().subarray(0, 11), undefined],
  ["another operation", query({ flags: 0x2800 }), 0x1234],
  ["cut off", query({ flags: 0x0200 }), 0x1234],
  ["two questions", query({ counts: [2, 0, 0, 0] }), 0x1234],
  ["with an answer inside", query({ counts: [1, 1, 0, 0] }), 0x1234],
  ["a name with a space", query({ name: "a b.com" }), 0x1234],
  ["a name with an upper byte", query({ name: "\xc4.com" }), 0x1234],
  ["a compressed name", Buffer.concat([query().subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]), 0x1234],
  ["an endless name", query({ name: Array.from({ length: 140 }, () => "a").join(".") }), 0x1234],
  ["another class", Buffer.concat([query().subarray(0, -1), Buffer.from([3])]), 0x1234],
  ["the question cut off", query().subarray(0, -1), 0x1234],
])("%s is malformed", (_what, bytes, id) => {
  expect(parseQuery(bytes)).toEqual({ kind: "malformed", id });
});

test("what could not be read is answered by its number alone", () => {
  expect(Buffer.from(answerMalformed(0x1234)).toString("hex")).toBe("123480810000000000000000");
});

test("law: whatever arrives is read without a throw, and an answer holds nothing but the question", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.uint8Array({ maxLength: 600 }), mutated(query({ counts: [1, 0, 0, 1], tail: edns }))),
      (bytes) => {
        const parsed = parseQuery(bytes);
        if (parsed.kind === "malformed") return;
        expect(bytes.length).toBeLessThanOrEqual(queryBytesMax);
        expect(parsed.query.name.length).toBeLessThanOrEqual(255);
        expect(parsed.query.name).toMatch(/^[a-z0-9_.-]*$/);
        const answer = answerQuery(parsed.query, noSuchName, []);
        expect(answer.length).toBe(12 + parsed.query.question.length);
      },
    ),
  );
});

function mutated(bytes: Buffer): fc.Arbitrary<Uint8Array> {
  const change = fc.record({ at: fc.nat(bytes.length - 1), to: fc.nat(255) });
  return fc.array(change, { maxLength: 4 }).map((changes) => {
    const copy = Uint8Array.from(bytes);
    for (const { at, to } of changes) copy[at] = to;
    return copy;
  });
}
