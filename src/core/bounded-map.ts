/**
 * A map that drops its oldest entry instead of growing beyond `sizeMax`. Setting a key again makes its entry the newest.
 * `dropped` is called for each entry that made room, after it was removed; not for entries that were deleted.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #sizeMax: number;
  readonly #dropped: (value: V, key: K) => void;

  constructor(sizeMax: number, dropped: (value: V, key: K) => void = () => undefined) {
    super();
    this.#sizeMax = sizeMax;
    this.#dropped = dropped;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    for (const [oldest, old] of this) {
      if (this.size <= this.#sizeMax) break;
      this.delete(oldest);
      this.#dropped(old, oldest);
    }
    return this;
  }

  /** Gives the value of a key, and makes its entry the newest: the least recently used one goes first then. */
  use(key: K): V | undefined {
    const value = this.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}
