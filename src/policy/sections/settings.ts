/** The sections `match`, `approvals`, `audit` and `limits`: for which clients a policy is, how the gateway asks, waits and keeps. */
import { consentFactors } from "../../core/consent-factor.ts";
import type { PolicySettings } from "../../core/settings.ts";
import { type Reporter, problem } from "../document/diagnostic.ts";
import { type Infer, integer, list, object, oneOf, optional, text } from "../document/shape.ts";
import { type ModeText, duration, trust } from "../document/shapes-labels.ts";
import { canonicalDuration, durationMs } from "../values/duration.ts";
import type { HostForm } from "./host.ts";

/** Names of connections, with `*` within; any other text would match no client, without a word. */
const tagPattern = "^[A-Za-z0-9*][A-Za-z0-9._*-]{0,63}$";

const match = object("a match", {
  principal: optional(text("principal"), "`*` within a name"),
  client: optional(text("client"), "`*` within a name"),
  tag: optional(text("tag", tagPattern, "work"), "`*` within a name"),
  sessions: optional(trust, "whether session ids of these clients may name a run"),
});
const approvals = object("an approvals section", {
  form: optional(oneOf("choice", ["reversible", "all", "none"]), "where a form in the client counts as consent"),
  by: optional(oneOf("choice", ["anyone", "other"]), "`other`: not the owner of the run"),
  hold: optional(duration, "how long a call waits for an approval"),
  expires: optional(duration, "how long an approval is good for"),
  factor: optional(oneOf("factor", [...consentFactors, "none"]), "what proves who approves irreversible effects"),
  notify: optional(
    list(text("word of a command", "^[^\\p{Cc}]{1,256}$", "notify-send"), 1),
    "a program with its arguments, started for each call that waits",
  ),
});
const audit = object("an audit section", {
  /** With `digests` there is nothing to replay: after a restart or a change of policy open runs hold everything. */
  payload: optional(
    oneOf("payload", ["sealed", "digests", "clear"]),
    "how arguments and results are stored; with `digests` open runs hold everything after a restart or a change of policy",
  ),
  keepDays: optional(
    integer("days", 1, 36_500),
    "days until run keys are destroyed; a run that is still open then holds everything when it is replayed",
  ),
  keepMb: optional(
    integer("mebibytes", 1, 1_048_576),
    "size of the log above which the runs that ended first leave it before `keepDays` have passed; without it there is no limit",
  ),
  durability: optional(oneOf("durability", ["normal", "full"]), "`full` waits for the disk"),
});
const limits = object("a limits section", {
  runIdle: optional(duration, "after which a run ends by itself"),
  answerWait: optional(duration, "longest wait for an advisory answer"),
});
export const shape = { match, approvals, audit, limits };

export type SettingsText = {
  readonly match?: Infer<typeof match>;
  readonly approvals?: Infer<typeof approvals>;
  readonly audit?: Infer<typeof audit>;
  readonly limits?: Infer<typeof limits>;
};
export type SettingsForm = {
  readonly match: Infer<typeof match>;
  /** What has no default is absent where it is not said, so that the digest of a policy stays what it was. */
  readonly approvals: Required<Omit<Infer<typeof approvals>, "factor" | "notify">> &
    Pick<Infer<typeof approvals>, "factor" | "notify">;
  readonly audit: Required<Omit<Infer<typeof audit>, "keepMb">> & Pick<Infer<typeof audit>, "keepMb">;
  readonly limits: Required<Infer<typeof limits>>;
};

export function canonical(document: SettingsText): SettingsForm {
  return {
    match: document.match ?? {},
    approvals: {
      form: document.approvals?.form ?? "reversible",
      by: document.approvals?.by ?? "anyone",
      hold: canonicalDuration(document.approvals?.hold ?? "45s"),
      expires: canonicalDuration(document.approvals?.expires ?? "10m"),
      ...(document.approvals?.factor === undefined ? {} : { factor: document.approvals.factor }),
      ...(document.approvals?.notify === undefined ? {} : { notify: document.approvals.notify }),
    },
    audit: {
      payload: document.audit?.payload ?? "sealed",
      keepDays: document.audit?.keepDays ?? 30,
      ...(document.audit?.keepMb === undefined ? {} : { keepMb: document.audit.keepMb }),
      durability: document.audit?.durability ?? "normal",
    },
    limits: {
      runIdle: canonicalDuration(document.limits?.runIdle ?? "8h"),
      answerWait: canonicalDuration(document.limits?.answerWait ?? "2s"),
    },
  };
}

type Needs = SettingsForm & { readonly mode: ModeText; readonly host: HostForm };

const mebibyte = 1_048_576;

/** Official clients give up a request after 60 s; a longer hold would only lose the answer (gateway.md 5). */
const consentHoldMsMax = 45_000;

export function compile(policy: Needs, report: Reporter): PolicySettings {
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
      ...(approvals.factor === undefined || approvals.factor === "none" ? {} : { factor: approvals.factor }),
      ...(approvals.notify === undefined ? {} : { notify: approvals.notify }),
    },
    // A gateway listens on this machine only, where a session belongs to the one user there is.
    sessions: policy.match.sessions ?? "trusted",
    runIdleMs: ms("limits", "runIdle", limits.runIdle, [1_000, 30 * 86_400_000]),
    payload: audit.payload,
    keepDays: audit.keepDays,
    ...(audit.keepMb === undefined ? {} : { keepBytes: audit.keepMb * mebibyte }),
    durability: audit.durability,
    answerWaitMsMax: ms("limits", "answerWait", limits.answerWait, [0, 60_000]),
  };
}
