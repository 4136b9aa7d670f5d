/** What a policy says to the gateway beside its rules: how to ask, wait and keep. The compiler makes it, the gateway reads it. */

/** How the operator wants consent to be asked for (design/gateway.md 5). */
export type ApprovalSettings = {
  /** `reversible`: an elicitation form counts only where the effect can be undone; `all`: always; `none`: never. */
  readonly form: "reversible" | "all" | "none";
  /** `other`: whoever owns a run may not approve its calls. */
  readonly by: "anyone" | "other";
  readonly holdMsMax: number;
  readonly expiryMs: number;
};

export type PolicySettings = {
  readonly mode: "enforce" | "observe";
  /** `sampling: allow` lets a server use the client's model; everything else refuses it. */
  readonly sampling: "allow" | "refuse";
  readonly approvals: ApprovalSettings;
  /** Whether the session id of an HTTP client names its run; else all its sessions are one run (design/gateway.md 4). */
  readonly sessions: "trusted" | "untrusted";
  readonly runIdleMs: number;
  readonly payload: "sealed" | "digests" | "clear";
  readonly keepDays: number;
  readonly durability: "normal" | "full";
  readonly answerWaitMsMax: number;
};
