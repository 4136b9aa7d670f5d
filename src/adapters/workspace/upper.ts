/**
 * Reads the writes of a server into an overlay from its upper layer: trusted evidence, because the kernel wrote it.
 *
 * The upper layer holds the new state of every entry that was touched, a character device 0:0 (whiteout) for what was
 * deleted, and folders that hide what lay below them (opaque). Opacity is an extended attribute, which Node cannot
 * read; but an opaque folder shows in the merged view none of the names that only the lower layer has, and any other
 * folder shows them all. Renames of folders arrive as copies: redirects and metacopy are off in user namespaces.
 */
import { attempt } from "../attempt.ts";
import { readlinkSync } from "node:fs";
import { type Result, err, ok } from "../../core/result.ts";
import { sameContent } from "./content.ts";
import { type Difference, type Found, type Judging, differenceOf } from "./difference.ts";
import { type EntryFacts, absent, factsOf } from "./entry-facts.ts";
import { FolderNames, namesIn } from "./folder-names.ts";
import type { HeldFolder } from "./held-folder.ts";
import { entriesPerTurn, pathPartsMax, scanEntriesMax } from "./workspace-limits.ts";
import type { ScanMemory } from "./memory.ts";
import { beyondQuota } from "./commit/quota.ts";
import type { WorkspaceScan } from "./scan.ts";

export type OverlayLayers = {
  readonly upper: HeldFolder;
  readonly merged: HeldFolder;
  /** The workspace itself. */
  readonly lower: HeldFolder;
};

export class OverlayScan implements WorkspaceScan {
  readonly source: HeldFolder;
  readonly memory: ScanMemory;
  readonly #layers: OverlayLayers;
  readonly #judging: Judging;
  readonly #quotaMb: number;
  readonly #upperNames: FolderNames;
  readonly #lowerNames: FolderNames;
  #found: Difference[] = [];
  #entries = 0;

  constructor(layers: OverlayLayers, judging: Judging, memory: ScanMemory, quotaMb: number) {
    this.source = layers.upper;
    this.memory = memory;
    this.#layers = layers;
    this.#judging = judging;
    this.#quotaMb = quotaMb;
    this.#upperNames = new FolderNames(layers.upper);
    this.#lowerNames = new FolderNames(layers.lower);
  }

  async scan(): Promise<Result<readonly Difference[], string>> {
    this.memory.begin(Date.now());
    this.#found = [];
    this.#entries = 0;
    const top = this.#upperNames.at("");
    if (top === undefined) return err(gone);
    for (const _ of this.#folder("", true, top)) {
      if (this.#entries > scanEntriesMax) return err(tooMany);
      if (this.#entries % entriesPerTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    if (this.#entries > scanEntriesMax) return err(tooMany);
    this.memory.end();
    const refused = beyondQuota(this.#found, this.#quotaMb);
    return refused === undefined ? ok(this.#found) : err(refused);
  }

  /** Whatever is written, deleted or changed leaves an entry in the upper layer. */
  isUntouched(): boolean {
    return this.#upperNames.at("")?.length === 0;
  }

  close(): void {
    for (const folder of Object.values(this.#layers)) folder.close();
  }

  /**
   * Yields once per entry, so that a large layer can be read in turns; one without entries costs a look at its times.
   */
  *#folder(path: string, hasLower: boolean, names = this.#upperNames.at(path)): Generator<void> {
    if (names === undefined) {
      if (!this.memory.isSettled(path, absent))
        this.#add({ path, kind: "special", before: absent, base: absent, outside: false, facts: undefined });
      return;
    }
    if (path.split("/").length > pathPartsMax) return;
    for (const name of names) {
      this.#entries += 1;
      yield;
      yield* this.#entry(path === "" ? name : `${path}/${name}`, hasLower);
    }
    if (hasLower && path !== "") yield* this.#hidden(path, new Set(names));
  }

  *#entry(path: string, hasLower: boolean): Generator<void> {
    const facts = factsOf(this.#layers.upper.at(path));
    // A settled entry is not looked up again: after some commits this applies to most of a layer.
    if (facts !== undefined && facts.type !== "folder" && this.memory.isSettled(path, facts.stamp)) return;
    const real = hasLower ? factsOf(this.#layers.lower.at(path)) : undefined;
    if (facts === undefined) {
      // A name that is not valid UTF-8 cannot be used in a path. Any other entry has vanished meanwhile, which the next
      // scan will report.
      if (path.includes("\uFFFD")) {
        this.#add({ path, kind: "special", before: absent, base: absent, outside: false, facts });
      }
      return;
    }
    if (facts.whiteout || this.#isWhiteoutFile(path, facts, real)) {
      if (real !== undefined) yield* this.#deleted(path, real);
      return;
    }
    if (real?.type === "folder" && facts.type !== "folder") yield* this.#below(path);
    this.#compare(path, facts, real);
    if (facts.type === "folder") yield* this.#folder(path, real?.type === "folder");
  }

  /** The other form of a whiteout is an empty file with an attribute: the merged view does not show it. */
  #isWhiteoutFile(path: string, facts: EntryFacts, real: EntryFacts | undefined): boolean {
    if (real === undefined || facts.type !== "file" || facts.bytes > 0) return false;
    return factsOf(this.#layers.merged.at(path)) === undefined;
  }

  #compare(path: string, facts: EntryFacts, real: EntryFacts | undefined): void {
    if (this.memory.isSettled(path, facts.stamp)) return;
    const target = facts.type === "link" ? linkTarget(this.#layers.upper.at(path)) : undefined;
    const kind = this.#kindOf(path, facts, real, target);
    if (kind === undefined) {
      this.memory.same(path, facts);
      return;
    }
    const base = this.memory.base(path, real, facts.bornMs);
    const before = real?.type ?? absent;
    this.#add({
      path,
      kind,
      before,
      facts,
      base: base.stamp,
      outside: base.outside,
      ...(target === undefined ? {} : { target }),
    });
  }

  #kindOf(
    path: string,
    facts: EntryFacts,
    real: EntryFacts | undefined,
    target: string | undefined,
  ): Difference["kind"] | undefined {
    if (facts.type === "special") return "special";
    if (facts.type === "link") {
      const unchanged = real?.type === "link" && linkTarget(this.#layers.lower.at(path)) === target;
      return unchanged ? undefined : "link";
    }
    if (real === undefined) return "added";
    if (real.type !== facts.type) return "modified";
    if (facts.type === "file") {
      const paths = [this.#layers.upper.at(path), this.#layers.lower.at(path)] as const;
      const bytesMax = this.memory.comparedBytesMax(path, facts.stamp);
      if (real.bytes !== facts.bytes || !sameContent(paths[0], paths[1], facts.bytes, bytesMax)) return "modified";
    }
    return real.mode === facts.mode ? undefined : "mode";
  }

  /**
   * Names of the lower layer that an opaque folder hides are deleted; but not entries that other processes added after
   * the folder was made, because the server has never seen them.
   */
  *#hidden(path: string, above: ReadonlySet<string>): Generator<void> {
    const below = (this.#lowerNames.at(path) ?? []).filter((name) => !above.has(name));
    if (below.length === 0) return;
    const merged = new Set(namesIn(this.#layers.merged.at(path)) ?? []);
    // Without a merged view opacity cannot be determined, and nothing is deleted on a guess.
    if (merged.size === 0 && factsOf(this.#layers.merged.at(path)) === undefined) return;
    if (below.some((name) => merged.has(name))) return;
    const madeMs = factsOf(this.#layers.upper.at(path))?.bornMs ?? 0;
    for (const name of below) {
      const real = factsOf(this.#layers.lower.at(`${path}/${name}`));
      if (real === undefined) continue;
      const own = (this.memory.committedAs(`${path}/${name}`) ?? absent) !== absent;
      if (own || madeMs === 0 || real.changedMs < madeMs) yield* this.#deleted(`${path}/${name}`, real);
    }
  }

  /**
   * A deleted folder is reported entry by entry, deepest first: other processes may have changed each of them
   * meanwhile.
   */
  *#deleted(path: string, real: EntryFacts): Generator<void> {
    this.#entries += 1;
    yield;
    if (real.type === "folder") yield* this.#below(path);
    if (this.memory.isSettled(path, absent)) return;
    const base = this.memory.base(path, real, 0);
    const { stamp, outside } = base;
    this.#add({ path, kind: "deleted", before: real.type, base: stamp, outside, facts: undefined });
  }

  *#below(path: string): Generator<void> {
    if (path.split("/").length > pathPartsMax) return;
    for (const name of this.#lowerNames.at(path) ?? []) {
      const real = factsOf(this.#layers.lower.at(`${path}/${name}`));
      if (real !== undefined) yield* this.#deleted(`${path}/${name}`, real);
    }
  }

  #add(found: Found): void {
    this.#found.push(differenceOf(found, this.#judging, this.#layers.upper.at(found.path)));
  }
}

const gone =
  "What the server wrote into the workspace can no longer be read: nothing of it was written there; restart the server.";
const tooMany = `The server changed more than ${scanEntriesMax} entries of the workspace, which is more than can be reviewed: nothing of it was written, restart the server.`;

function linkTarget(path: string): string | undefined {
  return attempt(() => readlinkSync(path), undefined);
}
