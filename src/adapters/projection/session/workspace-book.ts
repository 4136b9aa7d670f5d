/**
 * Changes of a workspace that traces reported, and the verdicts on them. Only a reported change may reach the
 * workspace: a later write was not judged, and is held for review.
 *
 * Looks and verdicts run one after the other, so no verdict applies to an unfinished look.
 */
import { type ProjectionPlaces, type WorkspaceChange, traceChangesMax } from "../../../core/isolation/effect-trace.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import type { CommitMode } from "../../../core/isolation/scope.ts";
import type { Conclusion } from "../../../gateway/ports/projection.ts";
import type { Sighting, WorkspaceProjection } from "../parts.ts";
import { quietLooksMax, touchedPathsMax } from "./session-limits.ts";

export type WriteVerdict = "commit" | "keep" | "discard";

export type BookOptions = {
  readonly workspace: WorkspaceProjection;
  readonly server: string;
  readonly places: ProjectionPlaces;
  readonly commit: CommitMode;
  readonly per: "call" | "run";
};

/** Changes that a look found and no trace has reported yet; `rest` counts those beyond the limit of a trace. */
export type Look = { readonly changes: readonly WorkspaceChange[]; readonly rest: number };

const nothingDone: Conclusion = { committed: [], held: [] };
const nothingNew: Look = { changes: [], rest: 0 };
const lateReason = "written when it could not be judged any more";

export class WorkspaceBook {
  readonly #options: BookOptions;
  readonly #told = new Map<string, string>();
  /** Relative paths that were written since the last look; `all` where they are too many. */
  #touched: Set<string> | "all" = new Set();
  #mayHaveWritten = false;
  /** Something may have been written since the last look. */
  #stale = false;
  /** Looks for a call in a row that found nothing; none before the first write. */
  #quietLooks = quietLooksMax;
  #strictest: WriteVerdict = "commit";
  /** Calls whose writes were reported and that have no verdict yet. */
  readonly #awaited = new Set<string>();
  /** Paths by the call that reported them last; only where the verdict falls at the end of the run. */
  readonly #toldBy = new Map<string, Set<string>>();
  #unjudged = false;
  /** The server has read writes that were discarded: its changes are not read any more. */
  #spent = false;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: BookOptions) {
    this.#options = options;
  }

  /**
   * True while it is worth while to let the server have one call at a time: verdicts on writes fall call by call. Where
   * nothing was written for many calls they may overlap again, as they could before the first write.
   */
  get apart(): boolean {
    return this.#quietLooks < quietLooksMax && this.#options.per === "call";
  }

  /** Something of the file system may have been written, as far as events tell. */
  get wrote(): boolean {
    return this.#mayHaveWritten;
  }

  /** Takes note of a write-like event. Its path may be forged, so any path makes the workspace worth a look. */
  noteWrite(sighting: Sighting): void {
    this.#mayHaveWritten = true;
    this.#stale = true;
    for (const path of [sighting.path, sighting.target]) {
      const root = path === undefined ? undefined : this.#options.places.workspace.find((one) => isWithin(path, one));
      if (path === undefined || root === undefined) continue;
      this.#quietLooks = 0;
      if (this.#touched === "all") continue;
      if (this.#touched.size >= touchedPathsMax) this.#touched = "all";
      else this.#touched.add(path.slice(root.length).replace(/^\//, ""));
    }
  }

  /**
   * Changes that no trace has reported yet; they count as reported from now on. `blind`: the absence of events proves
   * nothing. Undefined, without a wait, if nothing can have been written.
   */
  look(blind: boolean, call?: string): Promise<Result<Look, string>> | undefined {
    // A file once opened for writing can be written later without an event: from then on every look is a real one.
    if (this.#mayHaveWritten) return this.#inTurn(() => this.#look(call));
    return blind && !this.#isUntouched ? this.#inTurn(() => this.#look(call)) : undefined;
  }

  /**
   * Changes that came about outside of calls. The labels of tools do not cover them and no verdict follows, so they are
   * held for review: otherwise a server could write between two calls, and the next call that passes would commit that.
   * `idle` is true while no call is under way; changes during a call are reported with it.
   */
  lookBetween(blind: boolean, idle: () => boolean): Promise<Result<Look, string>> | undefined {
    if (!this.#mayHaveWritten && (!blind || this.#isUntouched)) return undefined;
    return this.#inTurn(async () => {
      const look = await this.#look(undefined, idle);
      if (!look.ok || look.value.changes.length === 0) return look;
      if (this.#options.per === "run") this.#unjudged = true;
      if (this.#options.per === "run" || this.#options.commit === "never") return look;
      const kept = await this.#conclude("between calls", "keep", blind);
      return kept.ok ? look : kept;
    });
  }

  /**
   * Applies the verdict to the reported changes. Later writes of another call, or of a timer of the server, are kept.
   */
  conclude(
    call: string,
    verdict: WriteVerdict,
    state: { readonly blind: boolean },
  ): Promise<Result<Conclusion, string>> {
    const told = state.blind && (verdict !== "commit" || this.pending);
    if (!told && !this.#mayHaveWritten) return Promise.resolve(ok(nothingDone));
    this.#strictest = stricter(this.#strictest, verdict);
    this.#awaited.delete(call);
    const { commit, per } = this.#options;
    if (verdict !== "discard" && commit === "never") return Promise.resolve(ok(nothingDone));
    if (verdict !== "discard" && per === "run") return this.#inTurn(() => this.#save(call));
    return this.#inTurn(() => this.#conclude(call, verdict, state.blind));
  }

  /** Some call ended and will never be judged. */
  leaveUnjudged(): void {
    if (this.#mayHaveWritten) this.#unjudged = true;
  }

  /** The run or the server ended: changes that waited for that get the strictest verdict of their calls. */
  flush(blind: boolean): Promise<Result<Conclusion, string>> {
    if (this.#spent) return Promise.resolve(ok(nothingDone));
    if (!blind && !this.#mayHaveWritten) return Promise.resolve(ok(nothingDone));
    if (this.#options.commit === "never") return Promise.resolve(ok(nothingDone));
    const judged = this.#options.per === "run" && !this.#unjudged && this.#awaited.size === 0;
    return this.#inTurn(() => this.#conclude("run", judged ? this.#strictest : "keep", blind));
  }

  get #isUntouched(): boolean {
    return this.#options.workspace.isUntouched?.() === true;
  }

  /** True if a trace reported changes that have no verdict yet. */
  get pending(): boolean {
    return this.#told.size > 0;
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#options.workspace.close());
  }

  async #look(call?: string, idle = () => true): Promise<Result<Look, string>> {
    const touched = this.#touched;
    const wasStale = this.#stale;
    this.#touched = new Set();
    this.#stale = false;
    const found = await this.#changes();
    if (!found.ok) {
      this.#stale = wasStale;
      this.#touched = "all";
      return found;
    }
    if (!idle()) {
      this.#stale = true;
      this.#touched = "all";
      return ok(nothingNew);
    }
    const paths = new Set(found.value.map(({ path }) => path));
    for (const path of this.#told.keys()) if (!paths.has(path)) this.#told.delete(path);
    const fresh = found.value.filter(
      (change) => touched === "all" || touched.has(change.path) || this.#told.get(change.path) !== print(change),
    );
    if (fresh.length === 0) {
      if (call !== undefined) this.#quietLooks += 1;
      return ok(nothingNew);
    }
    this.#quietLooks = 0;
    if (call !== undefined) this.#awaited.add(call);
    const changes = fresh.slice(0, traceChangesMax);
    for (const change of changes) this.#told.set(change.path, print(change));
    if (this.#options.per === "run") this.#attribute(call, changes);
    return ok({ changes, rest: fresh.length - changes.length });
  }

  /** A path that is written again belongs to the later call: what it holds now was not part of the earlier verdict. */
  #attribute(call: string | undefined, changes: readonly WorkspaceChange[]): void {
    for (const paths of this.#toldBy.values()) for (const { path } of changes) paths.delete(path);
    if (call !== undefined) this.#toldBy.set(call, new Set(changes.map(({ path }) => path)));
  }

  /** The client is about to be told that the call is done: from here on its writes must not be lost. */
  async #save(call: string): Promise<Result<Conclusion, string>> {
    const paths = this.#toldBy.get(call);
    this.#toldBy.delete(call);
    if (paths === undefined || paths.size === 0) return ok(nothingDone);
    const { workspace, server } = this.#options;
    const saved = (await workspace.save?.(paths, { server, call })) ?? ok(undefined);
    if (saved.ok) return ok(nothingDone);
    this.#strictest = stricter(this.#strictest, "keep");
    return saved;
  }

  async #conclude(call: string, verdict: WriteVerdict, blind: boolean): Promise<Result<Conclusion, string>> {
    const { workspace, server, commit } = this.#options;
    let how: WriteVerdict = verdict === "commit" && commit === "review" ? "keep" : verdict;
    let late = false;
    // With nothing to commit, changes since the look are reported with the next one, like changes after this verdict.
    if (how === "commit" && (this.#stale || (blind && this.pending))) {
      const since = await this.#look();
      if (!since.ok) return since;
      late = since.value.changes.length > 0;
      if (late) how = "keep";
    }
    if (how === "discard" && this.pending) this.#spent = true;
    // Only reported changes may be written, and most calls report none.
    const nothing = how === "commit" && !this.pending;
    const concluded = nothing ? ok(nothingDone) : await this.#verdict(workspace.conclude(how, { server, call }));
    if (!concluded.ok) return concluded;
    this.#told.clear();
    this.#toldBy.clear();
    this.#strictest = "commit";
    this.#awaited.clear();
    this.#unjudged = false;
    if (!late) return concluded;
    const held = concluded.value.held.map((one) => (one.reason === undefined ? { ...one, reason: lateReason } : one));
    return ok({ committed: concluded.value.committed, held });
  }

  /** If the workspace part throws, its state is unknown, so the result of the verdict is uncertain. */
  async #verdict(asked: Promise<Result<Conclusion, string>>): Promise<Result<Conclusion, string>> {
    try {
      return await asked;
    } catch {
      return err(brokenText);
    }
  }

  async #changes(): Promise<Result<readonly WorkspaceChange[], string>> {
    try {
      return await this.#options.workspace.changes();
    } catch {
      return err(brokenText);
    }
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(act);
    this.#tail = done.catch(() => undefined);
    return done;
  }
}

const brokenText =
  "The projection of the workspace failed, so what the server wrote is not certain. It was kept; see `sluicegate changes`.";

function print({ kind, bytes }: WorkspaceChange): string {
  return `${kind} ${bytes}`;
}

function stricter(a: WriteVerdict, b: WriteVerdict): WriteVerdict {
  const order: readonly WriteVerdict[] = ["commit", "keep", "discard"];
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
