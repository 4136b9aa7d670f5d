import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPlainObject } from "../../core/json.ts";
import { err, ok } from "../../core/result.ts";
import type { LogKeys, RecordQuery, StoredRecord, StoreFailure } from "../ports/store.ts";
import { recordPages, viewsOf } from "./record.ts";

const failure: StoreFailure = { kind: "unreachable", place: "log.db", sentence: "gone" };

/** A store with so many records of one writer, which cannot be read from a place on. */
function store(count: number, brokenFrom = Number.POSITIVE_INFINITY) {
  const asked: RecordQuery[] = [];
  const records = (query: RecordQuery) => {
    asked.push(query);
    const from = query.after?.seq ?? 0;
    if (from >= brokenFrom) return Promise.resolve(err(failure));
    const length = Math.min(query.limit, count - from);
    const page = Array.from({ length }, (_, index) => ({ writer: 1, seq: from + index + 1 }) as StoredRecord);
    return Promise.resolve(ok(page));
  };
  return { records, asked };
}

async function read(from: ReturnType<typeof store>, query = {}): Promise<readonly (number | string)[]> {
  const read: (number | string)[] = [];
  for await (const page of recordPages(from, query)) read.push(page.ok ? page.value.length : page.error.sentence);
  return read;
}

describe("pages of records", () => {
  it.each([
    [0, []],
    [1, [1]],
    [1_000, [1_000]],
    [2_500, [1_000, 1_000, 500]],
  ] as const)("of %i records", async (count, pages) => expect(await read(store(count))).toEqual(pages));

  it("begin after the place that is asked for, and keep what else is asked", async () => {
    const from = store(1_200);
    expect(await read(from, { run: "r", after: { writer: 1, seq: 1_150 } })).toEqual([50]);
    expect(from.asked).toEqual([{ run: "r", after: { writer: 1, seq: 1_150 }, order: "oldest", limit: 1_000 }]);
  });

  it("end with the failure that stopped them", async () => {
    expect(await read(store(5_000, 2_000))).toEqual([1_000, 1_000, "gone"]);
  });
});

describe("bodies of records", () => {
  const keys = { open: () => err("damaged"), hash: () => "" } as unknown as LogKeys;
  const record = (body: string): StoredRecord => ({
    writer: 1,
    seq: 1,
    run: "r",
    kind: "k",
    body,
    payload: undefined,
    fingerprint: "",
  });

  it("law: whatever lies there, reading it ends in entries or in none", () => {
    const wild = fc.jsonValue({ maxDepth: 3 });
    const event = fc.oneof(
      wild,
      fc.constantFrom("succeeded", "dispatched", "__proto__", "constructor"),
      fc.record({ kind: fc.constantFrom("dispatched", "released", "requested", "sent"), option: wild, call: wild }),
    );
    const entry = fc.oneof(
      wild,
      fc.record(
        {
          at: fc.nat(),
          kind: fc.oneof(wild, fc.constantFrom("note", "sent")),
          call: wild,
          events: fc.oneof(wild, fc.array(event)),
          decision: wild,
          notes: wild,
        },
        { requiredKeys: ["at"] },
      ),
    );
    const format = fc.constantFrom({ format: 2 }, { version: 2 }, { format: 3 }, { format: 2, version: 2 });
    const body = fc.tuple(
      format,
      fc.record({ writer: fc.constant(1), seq: fc.constant(1), run: fc.constant("r"), context: fc.constant({}) }),
      fc.record({
        wallMs: fc.oneof(fc.double(), fc.integer(), wild),
        wallTime: fc.oneof(wild, fc.constant("2026-01-15T12:00:00.000Z")),
        entries: fc.array(entry),
        payload: wild,
      }),
    );
    fc.assert(
      fc.property(body, ([format, place, rest]) => {
        // Format 1 names the kind of the last entry once more.
        const last = rest.entries.at(-1);
        const kind = "version" in format && !("format" in format) && isPlainObject(last) ? { kind: last["kind"] } : {};
        const views = viewsOf(keys, record(JSON.stringify({ ...format, ...kind, ...place, ...rest })));
        for (const view of views) expect([typeof view.at, typeof view.kind]).toEqual(["number", "string"]);
        if (format.format === 3) expect(views).toEqual([]);
      }),
    );
  });

  it("without the kind of the last entry, or with a time that is none, are none of ours", () => {
    const body = { format: 2, writer: 1, seq: 1, wallMs: 1, run: "r", context: {}, entries: [{ at: 1, kind: "note" }] };
    const read = (more: object): string[] =>
      viewsOf(keys, record(JSON.stringify({ ...body, ...more }))).map(({ kind, wallTime }) => `${kind} ${wallTime}`);
    expect(read({})).toEqual(["note 1970-01-01T00:00:00.001Z"]);
    expect(read({ entries: [{ at: 1, events: ["succeeded"] }] })).toEqual(["succeeded 1970-01-01T00:00:00.001Z"]);
    expect(read({ entries: [{ at: 1, events: [] }] })).toEqual([]);
    for (const wallMs of [1e300, 0.5, "1", null]) expect(read({ wallMs })).toEqual([]);
  });
});
