/**
 * A mark in the state folder that the log was lost. Until a user starts clean runs, every run of which nothing is
 * known counts as one of the lost ones, and holds everything: labels must never fall because a file broke.
 */
import { attempt } from "../../adapters/attempt.ts";
import { makeFolder } from "../../adapters/make-folder.ts";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type LostHistory = {
  readonly lost: boolean;
  /** The history turned out to be lost while the gateway runs. */
  readonly lose: () => void;
  readonly clear: () => void;
};

const markOf = (home: string): string => join(home, "history-lost");

export function markHistoryLost(home: string): void {
  writeFileSync(
    markOf(home),
    "The event log was lost, altered or set aside. `sluicegate runs new` removes this mark.\n",
    {
      mode: 0o600,
    },
  );
}

/** The same in a folder that may be gone; without a folder there is none to tell, and the user is told anyway. */
export function rememberLoss(home: string): void {
  attempt(() => {
    makeFolder(home, 0o700);
    markHistoryLost(home);
  }, undefined);
}

export function lostHistory(home: string): LostHistory {
  const state = { lost: existsSync(markOf(home)) };
  return {
    get lost() {
      return state.lost;
    },
    lose: () => {
      state.lost = true;
      markHistoryLost(home);
    },
    clear: () => {
      state.lost = false;
      rmSync(markOf(home), { force: true });
    },
  };
}
