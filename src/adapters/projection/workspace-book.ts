/**
 * What was told of a workspace, and the verdicts on it. Only what a trace has told may reach the workspace: whatever was
 * written since then has been judged by nobody, and waits for a person instead.
 *
 * Looks and verdicts run one after the other, so that no verdict falls on half of a look.
 */
import type { ProjectionPlaces, WorkspaceChange } from "../../core/effect-trace.ts";
import { traceChangesMax } from "../../core/effect-trace.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { isWithin } from "../../core/scope-patterns.ts";
import type { CommitMode } from "../../core/scope.ts";
import type { Conclusion } from "../../gateway/projection-port.ts";
import type { Sighting, WorkspaceProjection } from "./parts.ts";
import { quietLooksMax, touchedPathsMax } from "./session-limits.ts";

export type Verdict = "commit" | "keep" | "discard";

export type BookOptions = {
  readonly workspace: WorkspaceProjection;
  readonly server: string;
  readonly places: ProjectionPlaces;
  readonly commit: CommitMode;
  readonly per: "call" | "run";
};

/** What a look found that no trace has told; `rest` counts those beyond the limit of a trace. */
export type Look = { readonly changes: readonly WorkspaceChange[]; readonly rest: number };

const nothingDone: Conclusion = { committed: [], held: [] };
const nothingNew: Look = { changes: [], rest: 0 };
const lateReason = "written while nobody could judge it any more";

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
  #strictest: Verdict = "commit";
  /** Calls whose writes were told and about which no verdict has fallen. */
  readonly #awaited = new Set<string>();
  #unjudged = false;
  /** The server has seen what was thrown away: nothing from it is looked at any more. */
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
   * Changes that no trace has told yet; they count as told from now on. `blind`: no event may say that something was
   * written. Undefined, without a wait, where nothing can have been.
   */
  look(blind: boolean, call?: string): Promise<Result<Look, string>> | undefined {
    // A file once opened for writing can be written later without an event: from then on every look is a real one.
    if (this.#mayHaveWritten) return this.#inTurn(() => this.#look(call));
    return blind && !this.#isUntouched ? this.#inTurn(() => this.#look(call)) : undefined;
  }

  /**
   * Changes that came about outside of calls. Labels of tools say nothing of them and no verdict is on its way, so they
   * wait for a person: else a server would write between two calls, and the next one that passes would take it along.
   * `idle` says that still no call is under way; what one may have written meanwhile is told with it.
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

  /** The verdict on what was told. Whatever another call, or a timer of the server, has written since is kept. */
  conclude(call: string, verdict: Verdict, state: { readonly blind: boolean }): Promise<Result<Conclusion, string>> {
    const told = state.blind && (verdict !== "commit" || this.pending);
    if (!told && !this.#mayHaveWritten) return Promise.resolve(ok(nothingDone));
    this.#strictest = stricter(this.#strictest, verdict);
    this.#awaited.delete(call);
    const { commit, per } = this.#options;
    if (verdict !== "discard" && (per === "run" || commit === "never")) return Promise.resolve(ok(nothingDone));
    return this.#inTurn(() => this.#conclude(call, verdict, state.blind));
  }

  /** Some call ended and will never be judged. */
  leaveUnjudged(): void {
    if (this.#mayHaveWritten) this.#unjudged = true;
  }

  /** The run or the server ended: what waited for that gets the strictest verdict of its calls. */
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

  /** True if a trace told of changes about which no verdict has fallen. */
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
    return ok({ changes, rest: fresh.length - changes.length });
  }

  async #conclude(call: string, verdict: Verdict, blind: boolean): Promise<Result<Conclusion, string>> {
    const { workspace, server, commit } = this.#options;
    let how: Verdict = verdict === "commit" && commit === "review" ? "keep" : verdict;
    let late = false;
    // With nothing to commit, what came since the look is told with the next one, as what comes after this would be.
    if (how === "commit" && (this.#stale || (blind && this.pending))) {
      const since = await this.#look();
      if (!since.ok) return since;
      late = since.value.changes.length > 0;
      if (late) how = "keep";
    }
    if (how === "discard" && this.pending) this.#spent = true;
    // Only what was told may be written, and most calls have nothing to tell.
    const nothing = how === "commit" && !this.pending;
    const concluded = nothing ? ok(nothingDone) : await this.#verdict(workspace.conclude(how, { server, call }));
    if (!concluded.ok) return concluded;
    this.#told.clear();
    this.#strictest = "commit";
    this.#awaited.clear();
    this.#unjudged = false;
    if (!late) return concluded;
    const held = concluded.value.held.map((one) => (one.reason === undefined ? { ...one, reason: lateReason } : one));
    return ok({ committed: concluded.value.committed, held });
  }

  /** A part of ours that throws has lost its head: nothing of what it was asked is certain then. */
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

function stricter(a: Verdict, b: Verdict): Verdict {
  const order: readonly Verdict[] = ["commit", "keep", "discard"];
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
