/** The part of a policy that the gateway reads: how it asks, waits and keeps. */
import type { PolicySettings } from "../../core/settings.ts";
import type { CanonicalPolicy } from "../canonical/form.ts";
import { durationMs } from "../canonical/duration.ts";
import { problem } from "../diagnostic.ts";
import type { Reporter } from "./labels.ts";

/** Official clients give up a request after 60 s; a longer hold would only lose the answer (gateway.md 5). */
export const consentHoldMsMax = 45_000;

export function compileSettings(policy: CanonicalPolicy, report: Reporter): PolicySettings {
  const ms = (section: "approvals" | "limits", key: string, text: string, range: readonly [number, number]): number => {
    const found = durationMs(text) ?? range[1];
    if (found >= range[0] && found <= range[1]) return found;
    const remedy = `write at least ${range[0]} ms and at most ${range[1]} ms`;
    report(problem("RANGE", [section, key], `\`${text}\` is out of range for ${key}`, remedy));
    return range[1];
  };
  const { approvals, audit, limits } = policy;
  return {
    mode: policy.mode,
    sampling: policy.host.sampling,
    approvals: {
      form: approvals.form,
      by: approvals.by,
      holdMsMax: ms("approvals", "hold", approvals.hold, [0, consentHoldMsMax]),
      expiryMs: ms("approvals", "expires", approvals.expires, [1_000, 86_400_000]),
    },
    // A gateway listens on this machine only, where a session belongs to the one user there is.
    sessions: policy.match.sessions ?? "trusted",
    runIdleMs: ms("limits", "runIdle", limits.runIdle, [1_000, 30 * 86_400_000]),
    payload: audit.payload,
    keepDays: audit.keepDays,
    durability: audit.durability,
    answerWaitMsMax: ms("limits", "answerWait", limits.answerWait, [0, 60_000]),
  };
}
