/**
 * Stand-in projections of servers without isolation: their acts are not seen, and their traces say so. They let the
 * gateway treat all servers alike, while a policy decides how to treat the absence of evidence.
 */
import type { EffectTrace } from "../../../core/isolation/effect-trace.ts";
import { err, ok } from "../../../core/result.ts";
import type { IsolationTier } from "../../../core/isolation/scope.ts";
import type { Conclusion, Projection } from "../../../gateway/ports/projection.ts";
import { parseCallScope } from "./call-scope.ts";

const nothingDone: Conclusion = { committed: [], held: [] };

/** The facts about a server that runs without isolation. */
export type Bare = {
  readonly tier: IsolationTier;
  /** Missing parts of the isolation, one sentence each. */
  readonly notes: readonly string[];
  /** Digest of the order that lets it run so. */
  readonly order: string;
};

/** A server of this machine without isolation; `kill` ends it as far as its connection can. */
export function bareProjection({ tier, notes, order }: Bare, kill: (reason: string) => void): Projection {
  return standIn({ tier, notes, order }, kill);
}

/** The projection of a remote server: the gateway cannot see its acts, and no isolation order applies to it. */
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
  // There was no tracer, so nothing follows from the absence of events.
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
