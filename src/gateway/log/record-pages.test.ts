import { describe, expect, it } from "vitest";
import { err, ok } from "../../core/result.ts";
import type { RecordQuery, StoredRecord, StoreFailure } from "../store-port.ts";
import { recordPages } from "./record-pages.ts";

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
