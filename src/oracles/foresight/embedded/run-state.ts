/**
 * The state of a run, guessed from its steps: labels held, stores written, open channels. It has the shape of the state of
 * formal.md 4.1; a context carries no policy, so names decide.
 */
import type { PredictionContext, PredictionStep } from "../../../core/questions/prediction.ts";
import { deed, deedsOf } from "./deeds.ts";
import { held, heldBits } from "./held.ts";

/** One server: what its store may hold, and what was opened on it. */
export type ServerState = {
  readonly content: number;
  readonly open: boolean;
  readonly unattended: boolean;
};

export type RunState = {
  readonly held: number;
  readonly elevated: boolean;
  readonly servers: ReadonlyMap<string, ServerState>;
  /** Consequential calls and failures so far, each up to three. */
  readonly consequential: number;
  readonly failed: number;
};

/** The latest steps are looked at. */
export const stepsMax = 64;

export const noServer: ServerState = { content: 0, open: false, unattended: false };

/** The state before the pending call. */
export function readState(context: PredictionContext): RunState {
  let state: RunState = {
    // The evidence counts the instruction as the most private there is, so only its trust says something of the run.
    held: heldBits(context.evidence) & held.untrusted,
    elevated: false,
    servers: new Map(),
    consequential: 0,
    failed: 0,
  };
  for (const step of context.steps.slice(-stepsMax)) state = after(state, step, heldBits(step.brought));
  return state;
}

/** The state after one more call, whose result brings the given bits. */
export function after(state: RunState, step: PredictionStep, brought: number): RunState {
  if (step.outcome === "failed") return { ...state, failed: upToThree(state.failed + 1) };
  const { bits } = deedsOf(step.effects);
  const has = (bit: number): boolean => (bits & bit) !== 0;
  const before = state.servers.get(step.server) ?? noServer;
  const servers = new Map(state.servers);
  servers.set(step.server, {
    content: before.content | (has(deed.writes) ? state.held : 0) | (has(deed.reads) ? brought & ~held.secret : 0),
    open: before.open || has(deed.opens),
    unattended: before.unattended || has(deed.unattended),
  });
  return {
    held: state.held | brought,
    elevated: state.elevated || has(deed.elevates),
    servers,
    consequential: upToThree(state.consequential + (has(deed.consequential) ? 1 : 0)),
    failed: state.failed,
  };
}

function upToThree(count: number): number {
  return count > 3 ? 3 : count;
}
