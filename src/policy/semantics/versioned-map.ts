/**
 * A map that is never changed, of which a changed version costs no copy. The newest version owns the entries; each older
 * one keeps the single difference to its successor and takes the entries back when it is read (Baker, Shallow
 * binding makes functional arrays fast, 1991). A run only ever looks at its newest state, so that is free; a test or a
 * replay that goes back pays one step for each version in between.
 */
type Difference<K, V> = { readonly key: K; readonly value: V | undefined; readonly newer: VersionedMap<K, V> };

/** Changes before the entries are copied. Of a larger map as many as it has entries, so that each change pays for little. */
export const sharingMin = 64;

export class VersionedMap<K, V> implements ReadonlyMap<K, V> {
  /** The entries, or how this version differs from the next newer one. */
  #kept: Map<K, V> | Difference<K, V>;
  /** Changes since the entries were copied. */
  readonly #changes: number;

  private constructor(entries: Map<K, V>, changes: number) {
    this.#kept = entries;
    this.#changes = changes;
  }

  /** The map itself if it is versioned already, else a versioned copy. */
  static of<K, V>(entries: ReadonlyMap<K, V>): VersionedMap<K, V> {
    return entries instanceof VersionedMap ? entries : new VersionedMap(new Map(entries), 0);
  }

  /** A version with the entry set, or without it where the value is undefined. */
  with(key: K, value: V | undefined): VersionedMap<K, V> {
    const entries = this.#entries();
    if (this.#changes >= Math.max(sharingMin, entries.size)) {
      // An old version leads to all newer ones. One that the collector has put among what lives long would keep all
      // that came after it alive, though no code can read them.
      const copy = new Map(entries);
      put(copy, key, value);
      return new VersionedMap(copy, 0);
    }
    const before = entries.get(key);
    put(entries, key, value);
    const newer = new VersionedMap(entries, this.#changes + 1);
    this.#kept = { key, value: before, newer };
    return newer;
  }

  get size(): number {
    return this.#entries().size;
  }

  get(key: K): V | undefined {
    return this.#entries().get(key);
  }

  has(key: K): boolean {
    return this.#entries().has(key);
  }

  keys(): MapIterator<K> {
    return this.#entries().keys();
  }

  values(): MapIterator<V> {
    return this.#entries().values();
  }

  entries(): MapIterator<[K, V]> {
    return this.#entries().entries();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#entries().entries();
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.#entries()) visit(value, key, this);
  }

  /** Takes the entries from the version that owns them, and leaves differences on the way there. */
  #entries(): Map<K, V> {
    if (this.#kept instanceof Map) return this.#kept;
    const path: VersionedMap<K, V>[] = [this];
    let owner = this.#kept.newer;
    for (let kept = owner.#kept; !(kept instanceof Map); kept = owner.#kept) {
      path.push(owner);
      owner = kept.newer;
    }
    for (const version of path.reverse()) {
      const { key, value } = version.#kept as Difference<K, V>; // it was on the path because it is one
      const entries = owner.#kept as Map<K, V>; // the owner of this turn
      owner.#kept = { key, value: entries.get(key), newer: version };
      put(entries, key, value);
      version.#kept = entries;
      owner = version;
    }
    return owner.#kept as Map<K, V>; // as above
  }
}

function put<K, V>(entries: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) entries.delete(key);
  else entries.set(key, value);
}
