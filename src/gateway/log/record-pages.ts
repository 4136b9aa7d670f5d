/** Reading records from the first to the last, a page at a time. */
import type { Result } from "../../core/result.ts";
import type { RecordQuery, Store, StoredRecord, StoreFailure } from "../store-port.ts";

/** Records of one page: large enough to be fast, small enough to hold. */
const limit = 1_000;

/** Every record that fits, oldest first, beginning after the place that the query names. A failure comes last. */
export async function* recordPages(
  store: Pick<Store, "records">,
  query: Omit<RecordQuery, "order" | "limit">,
): AsyncGenerator<Result<readonly StoredRecord[], StoreFailure>, void> {
  let place: Pick<RecordQuery, "after"> = {};
  for (;;) {
    const page = await store.records({ ...query, ...place, order: "oldest", limit });
    const last = page.ok ? page.value.at(-1) : undefined;
    if (!page.ok || last !== undefined) yield page;
    if (!page.ok || last === undefined || page.value.length < limit) return;
    place = { after: { writer: last.writer, seq: last.seq } };
  }
}
