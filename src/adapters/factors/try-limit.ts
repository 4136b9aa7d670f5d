/** Slows the guessing of codes and passwords down: each failure beyond a few doubles the wait, also over restarts. */
import { type Json, member } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import type { FactorFiles } from "./factor-files.ts";

/** Failures in a row that cost no wait: a code is misread, a password mistyped. */
const freeFailures = 3;
const firstWaitMs = 60_000;
const waitMsMax = 86_400_000;

/**
 * With codes of six digits, of which three are good at a time, 20 failures a day remain after the first two days: a guess
 * succeeds with a chance of 1 in 15,000 a day.
 */
export class TryLimit {
  readonly #files: FactorFiles;
  readonly #file: string;

  constructor(files: FactorFiles, name: string) {
    this.#files = files;
    this.#file = `${name}-tries`;
  }

  /** Whether a try is due; the error says when the next one is. */
  due(wallMs: number): Result<void, string> {
    const { failures, lastWallMs } = this.#state();
    if (failures < freeFailures) return ok(undefined);
    // A clock that was set back neither ends the wait nor prolongs it: it begins anew, at the time that holds now.
    if (wallMs < lastWallMs) this.#keep(failures, wallMs);
    const since = Math.max(0, wallMs - lastWallMs);
    const waitMs = Math.min(waitMsMax, firstWaitMs * 2 ** Math.min(30, failures - freeFailures)) - since;
    if (waitMs <= 0) return ok(undefined);
    const minutes = Math.ceil(waitMs / 60_000);
    return err(`It was wrong ${failures} times in a row: the next try counts in ${minutes} min.`);
  }

  /** Counts a try before its outcome is told, so that many at once gain nothing. */
  failed(wallMs: number): Result<void, string> {
    const { failures } = this.#state();
    return this.#keep(failures + 1, wallMs);
  }

  passed(): void {
    this.#keep(0, 0);
  }

  #keep(failures: number, lastWallMs: number): Result<void, string> {
    return this.#files.put(this.#file, JSON.stringify({ failures, lastWallMs }));
  }

  #state(): { readonly failures: number; readonly lastWallMs: number } {
    const text = this.#files.text(this.#file);
    const read = attempt(() => JSON.parse(text) as Json, undefined);
    const [failures, lastWallMs] = [member(read, "failures"), member(read, "lastWallMs")];
    return {
      failures: typeof failures === "number" ? failures : 0,
      lastWallMs: typeof lastWallMs === "number" ? lastWallMs : 0,
    };
  }
}
