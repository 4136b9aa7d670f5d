/**
 * What was accepted of each server's description of itself: the entries of its lists by the digest of their meaning, kept
 * in the store over restarts. Several entries may be accepted under one name, since a server lists other things to other
 * clients. They are those of the server's name, for every program behind it and every user.
 */
import { type Json, type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { digest } from "../../wire/canonical.ts";
import type { ManifestRow } from "../ports/cached-rows.ts";
import type { Store } from "../ports/store.ts";
import { meaningOf, nameOfEntry } from "./entry-form.ts";

/** Entries that are remembered of one list; the oldest are forgotten, and asked about when they come again. */
const acceptedEntriesMax = 100_000;

/** Characters of entries that are kept whole, to show what changed; above it the digests of the oldest remain. */
const acceptedCharactersMax = 4 * 1024 * 1024;

type Entry = { readonly name: string; readonly digest: string; readonly entry: Json | undefined };

export type AcceptedParts = {
  readonly store: Pick<Store, "manifest" | "putManifest">;
  readonly hash: (text: string) => string;
  readonly wallMs: () => number;
};

/** The accepted entries of one list of one server. */
export class AcceptedList {
  /** By digest, oldest first. */
  readonly #entries = new Map<string, Entry>();

  has(digestOfMeaning: string): boolean {
    return this.#entries.has(digestOfMeaning);
  }

  /** The entry that was accepted last under a name, where it was kept whole. */
  last(name: string): Json | undefined {
    let found: Json | undefined;
    for (const one of this.#entries.values()) if (one.name === name) found = one.entry;
    return found;
  }

  add(entry: Entry): void {
    this.#entries.delete(entry.digest);
    this.#entries.set(entry.digest, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > acceptedEntriesMax && oldest !== undefined) this.#entries.delete(oldest);
  }

  toJson(): JsonObject {
    let left = acceptedCharactersMax;
    const newestFirst = [...this.#entries.values()].toReversed().map((one): JsonObject => {
      left -= one.entry === undefined ? 0 : JSON.stringify(one.entry).length;
      const { name, digest: of } = one;
      return one.entry === undefined || left < 0 ? { name, digest: of } : { name, digest: of, entry: one.entry };
    });
    return { entries: newestFirst.toReversed() };
  }

  static fromJson(json: JsonObject): AcceptedList {
    const list = new AcceptedList();
    const entries = member(json, "entries");
    for (const one of isArray(entries) ? entries : []) {
      const of = stringMember(one, "digest");
      if (of !== undefined)
        list.add({ name: stringMember(one, "name") ?? "", digest: of, entry: member(one, "entry") });
    }
    return list;
  }
}

export class AcceptedLists {
  readonly #parts: AcceptedParts;
  readonly #lists = new Map<string, AcceptedList | undefined>();
  /** Digests by entry: a list that comes again unchanged keeps its entries. */
  readonly #digests = new WeakMap<JsonObject, string>();
  #epoch = 0;

  constructor(parts: AcceptedParts) {
    this.#parts = parts;
  }

  /** Changes whenever more is accepted. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Undefined where nothing was accepted yet. The error is a sentence. */
  async of(server: string, what: string): Promise<Result<AcceptedList | undefined, string>> {
    const key = keyOf(server, what);
    if (this.#lists.has(key)) return ok(this.#lists.get(key));
    const row = await this.#parts.store.manifest(key);
    if (!row.ok) return err(row.error.sentence);
    // Another caller may have accepted a first list while this one read.
    if (!this.#lists.has(key)) {
      this.#lists.set(key, row.value === undefined ? undefined : AcceptedList.fromJson(row.value.manifest));
    }
    return ok(this.#lists.get(key));
  }

  /** The same of a list that was looked at before. */
  known(server: string, what: string): AcceptedList | undefined {
    return this.#lists.get(keyOf(server, what));
  }

  /** From now on these entries are shown unasked. */
  accept(server: string, what: string, entries: readonly Json[]): void {
    const key = keyOf(server, what);
    const list = this.#lists.get(key) ?? new AcceptedList();
    for (const entry of entries) list.add({ name: nameOfEntry(entry), digest: this.digestOf(entry), entry });
    this.#lists.set(key, list);
    this.#epoch += 1;
    const manifest = list.toJson();
    const { store, hash, wallMs } = this.#parts;
    const row: ManifestRow = {
      key,
      server,
      revision: "",
      digest: digest(manifest, hash),
      capabilities: {},
      manifest,
      seenWallMs: wallMs(),
    };
    // What cannot be written is asked about again after a restart.
    void store.putManifest(row);
  }

  /**
   * Whether this very entry was accepted, cosmetics aside; false while the list was not looked at. The values of its
   * schema may then count as the operator's.
   */
  isAccepted(server: string, what: string, entry: Json): boolean {
    return this.#lists.get(keyOf(server, what))?.has(this.digestOf(entry)) === true;
  }

  digestOf(entry: Json): string {
    const make = (): string => digest({ entry: meaningOf(entry) }, this.#parts.hash);
    if (typeof entry !== "object" || entry === null || isArray(entry)) return make();
    const known = this.#digests.get(entry as JsonObject);
    if (known !== undefined) return known;
    const made = make();
    this.#digests.set(entry as JsonObject, made);
    return made;
  }
}

function keyOf(server: string, what: string): string {
  return `accepted ${what} ${server}`;
}
