/**
 * Projections of servers that run in none: what they do is not seen, and their traces say so. They exist so that the
 * gateway asks everybody the same questions and a policy decides what the absence of evidence is worth.
 */
import type { EffectTrace } from "../../core/effect-trace.ts";
import { err, ok } from "../../core/result.ts";
import type { IsolationTier } from "../../core/scope.ts";
import type { Conclusion, Projection } from "../../gateway/projection-port.ts";
import { parseCallScope } from "./call-scope.ts";

const nothingDone: Conclusion = { committed: [], held: [] };

/** How a server comes to run bare. */
export type Bare = {
  readonly tier: IsolationTier;
  /** What it lacks, one sentence each. */
  readonly notes: readonly string[];
  /** Digest of the order that lets it run so. */
  readonly order: string;
};

/** A server of this machine without isolation; `kill` ends it as far as its connection can. */
export function bareProjection({ tier, notes, order }: Bare, kill: (reason: string) => void): Projection {
  return standIn({ tier, notes, order }, kill);
}

/** A server somewhere else: nobody here can see what it does, and no order reaches it. */
export function remoteProjection(kill: (reason: string) => void): Projection {
  return standIn({ tier: "remote", notes: [], order: undefined }, kill);
}

type StandIn = {
  readonly tier: Projection["tier"];
  readonly notes: readonly string[];
  readonly order: string | undefined;
};

function standIn({ tier, notes, order }: StandIn, kill: (reason: string) => void): Projection {
  const places = { home: "", workspace: [], code: [], scratch: [] };
  // Nobody looked, so nothing follows from the absence of events.
  const trace: EffectTrace = { tier, complete: false, dropped: 0, places, events: [], changes: [] };
  let ended: string | undefined;
  return {
    tier,
    notes,
    begin(_call, _tool, scope) {
      if (ended !== undefined) return err(goneText);
      const parsed = parseCallScope(scope, order);
      return parsed.ok ? ok(undefined) : parsed;
    },
    end() {},
    trace: () => Promise.resolve(trace),
    conclude: () => Promise.resolve(ok(nothingDone)),
    onBackground() {},
    kill(reason) {
      if (ended !== undefined) return;
      ended = reason;
      kill(reason);
    },
  };
}

const goneText = "Not executed: the server was ended. Restart the session to use it again.";
