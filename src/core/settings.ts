/** Settings of a policy for the gateway: how to ask, wait and keep. The policy compiler makes them from the document. */

import type { ConsentFactor } from "./consent-factor.ts";

/** How consent is asked for (gateway.md 5); section `approvals`. */
export type ApprovalSettings = {
  /** Where the answer to an elicitation form counts: for effects that can be undone, for all calls, for none. */
  readonly form: "reversible" | "all" | "none";
  /** `other`: the owner of a run may not approve its calls. */
  readonly by: "anyone" | "other";
  /** Longest time that a call waits for consent before it is refused; the gateway has a bound of its own. */
  readonly holdMsMax: number;
  /** Lifetime of an approval card and of the grant that it gives. */
  readonly expiryMs: number;
  /** What proves who gives consent to lasting effects, beside the choice itself; absent: nothing. */
  readonly factor?: ConsentFactor;
  /** Program and arguments that are started for each new card, with its title behind them; absent: none. */
  readonly notify?: readonly string[];
};

/** All settings of a policy. */
export type PolicySettings = {
  /** `observe`: every rule is reported and none decides. */
  readonly mode: "enforce" | "observe";
  /** Whether a server may use the client's model (`sampling/createMessage`). */
  readonly sampling: "allow" | "refuse";
  readonly approvals: ApprovalSettings;
  /** `trusted`: the session id of an HTTP client names its run; else all its sessions are one run (gateway.md 4). */
  readonly sessions: "trusted" | "untrusted";
  /** A run without calls for this long ends; section `limits`. */
  readonly runIdleMs: number;
  /** How arguments and results are logged: encrypted, as digests, or in clear; section `audit`. */
  readonly payload: "sealed" | "digests" | "clear";
  /** Days after which the keys of logged payloads are destroyed. */
  readonly keepDays: number;
  /** Bytes of the log above which the oldest ended runs leave earlier; absent: no limit. */
  readonly keepBytes?: number;
  /** `full`: every commit of the log reaches the disk before its call is sent. */
  readonly durability: "normal" | "full";
  /** Longest wait for the answers to one round of questions. */
  readonly answerWaitMsMax: number;
};
