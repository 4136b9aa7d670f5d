/** Applies verdicts to the writes of a server in the projection of a workspace. */
import type { WorkspaceChange } from "../../core/isolation/effect-trace.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Conclusion } from "../../gateway/ports/projection.ts";
import type { ChangeOrigin, WorkspaceProjection } from "../projection/parts.ts";
import { concludeChanges, restlessReason } from "./commit/commit.ts";
import { type Difference, changeOf } from "./difference.ts";
import { SavedCopies } from "./saved-copies.ts";
import type { WorkspaceScan } from "./scan.ts";

export type ScannedParts = {
  readonly scan: WorkspaceScan;
  /** Real path of the workspace. */
  readonly workspace: string;
  readonly stateFolder: string;
  /** True while the quota is reached; absent if the kernel enforces no quota. */
  readonly isFull?: () => boolean;
  /** Releases the resources of the projection. */
  readonly release: () => Promise<void>;
};

/** A projection with visible differences: an overlay or a copy. Its operations run one after the other. */
export class ScannedWorkspace implements WorkspaceProjection {
  readonly #parts: ScannedParts;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #saved: SavedCopies;
  #spent = false;
  /** Mark by path of what was last shown. */
  #shown: ReadonlyMap<string, string> | undefined;
  #closed = false;

  constructor(parts: ScannedParts) {
    this.#parts = parts;
    this.#saved = new SavedCopies(parts);
  }

  changes(): Promise<Result<readonly WorkspaceChange[], string>> {
    return this.#inTurn(async () => {
      const scanned = await this.#parts.scan.scan();
      if (!scanned.ok) return scanned;
      this.#shown = new Map(scanned.value.map(({ path, mark }) => [path, mark]));
      return ok(scanned.value.map(changeOf));
    });
  }

  conclude(how: "commit" | "keep" | "discard", origin: ChangeOrigin): Promise<Result<Conclusion, string>> {
    return this.#inTurn(async () => {
      const scanned = await this.#parts.scan.scan();
      if (!scanned.ok) return scanned;
      if (scanned.value.length === 0) return ok(nothing);
      if (how === "discard") {
        // The layer of a running server cannot be cleaned, so nothing from it may reach the workspace any more.
        this.#spent = true;
        return ok({ committed: [], held: this.#saved.leaveRejected() });
      }
      if (this.#spent) return err(spent);
      const differences = this.#judged(scanned.value);
      if (differences.length === 0) return ok(nothing);
      const concluded = await concludeChanges({ ...this.#parts, differences, how, origin });
      if (concluded.ok) this.#forgetCopies(scanned.value, differences, concluded.value);
      return concluded;
    });
  }

  /** Saves shown changes of these paths, so that neither a later verdict nor a crash loses them. */
  save(paths: ReadonlySet<string>, origin: ChangeOrigin): Promise<Result<void, string>> {
    return this.#inTurn(async () => {
      if (this.#spent) return err(spent);
      const scanned = await this.#parts.scan.scan();
      if (!scanned.ok) return scanned;
      const shown = scanned.value.filter(({ path, mark }) => this.#shown?.get(path) === mark);
      return this.#saved.save(shown, paths, origin);
    });
  }

  /** A copy is kept only of what this verdict did not cover and the projection still holds. */
  #forgetCopies(found: readonly Difference[], judged: readonly Difference[], { held }: Conclusion): void {
    const covered = new Set(judged);
    const open = new Set(found.filter((one) => !covered.has(one)).map(({ path }) => path));
    for (const { path, reason } of held) if (reason === restlessReason) open.add(path);
    this.#saved.forget((path) => !open.has(path));
  }

  /**
   * A verdict covers only the changes that were shown. Otherwise content that the server writes while it is judged
   * would be committed unseen; such content stays in the projection and is shown next time.
   */
  #judged(found: readonly Difference[]): readonly Difference[] {
    const shown = this.#shown;
    if (shown === undefined) return found;
    // Used up: a second verdict without a second scan would cover changes that were never shown.
    this.#shown = new Map();
    return found.filter(({ path, mark }) => shown.get(path) === mark);
  }

  isUntouched(): boolean {
    return !this.#closed && this.#parts.scan.isUntouched?.() === true;
  }

  isFull(): boolean {
    return !this.#closed && this.#parts.isFull?.() === true;
  }

  close(): Promise<void> {
    return this.#turn.then(async () => {
      if (this.#closed) return;
      this.#closed = true;
      this.#saved.leave();
      this.#parts.scan.close();
      await this.#parts.release();
    });
  }

  #inTurn<T>(act: () => Promise<Result<T, string>>): Promise<Result<T, string>> {
    const turn = this.#turn.then(() => (this.#closed ? err(closed) : act()));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

const nothing: Conclusion = { committed: [], held: [] };
const closed = "The projection of the workspace is closed: what was not committed is gone with it.";
const spent =
  "Writes that were thrown away are still in the server's projection, so nothing from it is written into the workspace any more: restart the server.";

/** A server that works in the workspace itself, or may only read it: its changes are neither seen nor reversible. */
export class UnseenWorkspace implements WorkspaceProjection {
  changes(): Promise<Result<readonly WorkspaceChange[], string>> {
    return Promise.resolve(ok([]));
  }

  conclude(): Promise<Result<Conclusion, string>> {
    return Promise.resolve(ok(nothing));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
