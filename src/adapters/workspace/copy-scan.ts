/** Compares a server's copy of the workspace with the manifest taken when the copy was made. */
import { attempt } from "../attempt.ts";
import { readlinkSync } from "node:fs";
import { type Result, err, ok } from "../../core/result.ts";
import { sameContent } from "./content.ts";
import { type Difference, type Found, type Judging, differenceOf } from "./difference.ts";
import { type EntryFacts, absent, factsOf, readStamp } from "./entry-facts.ts";
import { namesIn } from "./folder-names.ts";
import type { HeldFolder } from "./held-folder.ts";
import { entriesPerTurn, pathPartsMax, scanEntriesMax } from "./workspace-limits.ts";
import type { ScanMemory } from "./memory.ts";
import { beyondQuota } from "./commit/quota.ts";
import type { WorkspaceScan } from "./scan.ts";

export type CopiedEntry = {
  /** Stamp of the copy, and of the workspace's own entry, when it was taken. */
  readonly mark: string;
  readonly real: string;
};

export type CopyLayers = {
  readonly source: HeldFolder;
  /** The workspace itself. */
  readonly lower: HeldFolder;
  readonly taken: ReadonlyMap<string, CopiedEntry>;
};

export class CopyScan implements WorkspaceScan {
  readonly source: HeldFolder;
  readonly memory: ScanMemory;
  readonly #layers: CopyLayers;
  readonly #judging: Judging;
  readonly #quotaMb: number;
  #found: Difference[] = [];
  #seen = new Set<string>();

  constructor(layers: CopyLayers, judging: Judging, memory: ScanMemory, quotaMb: number) {
    this.source = layers.source;
    this.memory = memory;
    this.#layers = layers;
    this.#judging = judging;
    this.#quotaMb = quotaMb;
  }

  async scan(): Promise<Result<readonly Difference[], string>> {
    this.memory.begin(Date.now());
    this.#found = [];
    this.#seen = new Set();
    const names = namesIn(this.source.at(""));
    if (names === undefined) return err(gone);
    for (const _ of this.#folder("", names)) {
      if (this.#seen.size > scanEntriesMax) return err(tooMany);
      if (this.#seen.size % entriesPerTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    for (const path of this.#layers.taken.keys()) if (!this.#seen.has(path)) this.#deleted(path);
    for (const path of this.memory.committedPaths()) {
      if (!this.#seen.has(path) && !this.#layers.taken.has(path)) this.#deleted(path);
    }
    this.memory.end();
    const refused = beyondQuota(this.#found, this.#quotaMb);
    return refused === undefined ? ok(this.#found) : err(refused);
  }

  close(): void {
    this.#layers.source.close();
    this.#layers.lower.close();
  }

  *#folder(folder: string, names: readonly string[]): Generator<void> {
    for (const name of names) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const facts = factsOf(this.source.at(path));
      this.#seen.add(path);
      yield;
      if (facts === undefined && !path.includes("\uFFFD")) continue;
      this.#compare(path, facts);
      if (facts?.type !== "folder" || path.split("/").length > pathPartsMax) continue;
      const inside = namesIn(this.source.at(path));
      if (inside === undefined)
        this.#add({ path, kind: "special", before: absent, base: absent, outside: false, facts: undefined });
      else yield* this.#folder(path, inside);
    }
  }

  #compare(path: string, facts: EntryFacts | undefined): void {
    const mark = facts?.stamp ?? absent;
    const base = this.#baseOf(path);
    if (this.#layers.taken.get(path)?.mark === mark && this.memory.committedAs(path) === undefined) return;
    if (this.memory.isSettled(path, mark)) return;
    const target = facts?.type === "link" ? linkTarget(this.source.at(path)) : undefined;
    const kind = this.#kindOf(path, facts, base, target);
    if (kind === undefined) {
      if (facts !== undefined) this.memory.same(path, facts);
      return;
    }
    const before = readStamp(base)?.type ?? absent;
    this.#add({ path, kind, before, base, outside: false, facts, ...(target === undefined ? {} : { target }) });
  }

  #kindOf(
    path: string,
    facts: EntryFacts | undefined,
    base: string,
    target: string | undefined,
  ): Difference["kind"] | undefined {
    if (facts === undefined || facts.type === "special") return "special";
    const before = readStamp(base);
    const real = factsOf(this.#layers.lower.at(path));
    // If another process has changed the workspace entry, its content is no longer a valid base.
    const known = real?.stamp === base;
    if (facts.type === "link") {
      return known && real.type === "link" && linkTarget(this.#layers.lower.at(path)) === target ? undefined : "link";
    }
    if (before === undefined) return "added";
    if (before.type !== facts.type) return "modified";
    if (facts.type === "file") {
      const [copy, own] = [this.source.at(path), this.#layers.lower.at(path)];
      const bytesMax = this.memory.comparedBytesMax(path, facts.stamp);
      if (!known || real.bytes !== facts.bytes || !sameContent(copy, own, facts.bytes, bytesMax)) return "modified";
    }
    return (before.mode & 0o777) === facts.mode ? undefined : "mode";
  }

  #deleted(path: string): void {
    const base = this.#baseOf(path);
    if (base === absent || this.memory.isSettled(path, absent)) return;
    const before = readStamp(base)?.type ?? absent;
    this.#add({ path, kind: "deleted", before, base, outside: false, facts: undefined });
  }

  #baseOf(path: string): string {
    return this.memory.committedAs(path) ?? this.#layers.taken.get(path)?.real ?? absent;
  }

  #add(found: Found): void {
    this.#found.push(differenceOf(found, this.#judging, this.source.at(found.path)));
  }
}

const gone =
  "What the server wrote into its copy of the workspace can no longer be read: nothing of it was written; restart the server.";
const tooMany = `The server's copy of the workspace has more than ${scanEntriesMax} entries, which is more than can be reviewed: nothing of it was written, restart the server.`;

function linkTarget(path: string): string | undefined {
  return attempt(() => readlinkSync(path), undefined);
}
