/** Whether an act is on record already, so that a server that does the same all the time costs one record between two drains. */
import { actsRememberedMax, repeatsWrittenBytesMax } from "./limits.ts";
import type { RingWriter } from "./ring.ts";

/**
 * The first few records after a mark are written as often as they happen, and are not remembered. So the gateway has to
 * mark only those drains that find more, and most find less: a mark costs it more than some records cost us.
 */
export class Repeats {
  readonly #writer: Pick<RingWriter, "drains" | "written">;
  readonly #seen = new Set<string>();
  #drains = 0;
  #markedAt = 0;

  constructor(writer: Pick<RingWriter, "drains" | "written">) {
    this.#writer = writer;
  }

  /** True if what `key` names was written since the last mark; otherwise it is about to be. */
  has(key: () => string): boolean {
    const { drains, written } = this.#writer;
    if (drains !== this.#drains) {
      this.#drains = drains;
      this.#markedAt = written;
      this.#seen.clear();
    }
    if ((written - this.#markedAt) >>> 0 <= repeatsWrittenBytesMax) return false;
    if (this.#seen.size >= actsRememberedMax) this.#seen.clear();
    const own = key();
    if (this.#seen.has(own)) return true;
    this.#seen.add(own);
    return false;
  }
}
