/**
 * What the probes of a server amount to (MCPShield, section 4.2): the share of denied ones, S_deny, beyond a limit rejects it,
 * and so does one hard violation. A server of which nothing was run is never trusted.
 */
import type { Objection, ProbeVerdict } from "./judge.ts";

/** `pre_deny_ratio` of the paper. */
export const denyRatioMax = 0.5;

export type Coverage = {
  /** Tools that the server lists. */
  readonly listed: number;
  /** Tools with at least one answered probe. */
  readonly run: number;
  /** Tools that were not run, or whose answers were not read whole, each with its reason. */
  readonly notRun: readonly { readonly tool: string; readonly reason: string }[];
  /** Starts under other conditions that were made (`again`, `flag`, `date`, `user`). */
  readonly starts: readonly string[];
  /** What no trial of this server looks at, or what its time did not suffice for, as sentences. */
  readonly limits: readonly string[];
};

/** An objection with the tool that it is about; undefined = the server as a whole. */
export type ServerObjection = Objection & { readonly tool: string | undefined };

export type ServerVerdict = {
  /** `clean`: every probe passed and every tool was run. `partial`: every probe passed, and some tools were not run. */
  readonly verdict: "clean" | "partial" | "suspect" | "rejected" | "not-run";
  /** S_deny: denied probes by all probes; 0 where none was run. */
  readonly denied: number;
  readonly coverage: Coverage;
  /** Each once. */
  readonly objections: readonly ServerObjection[];
};

export type Judged = { readonly tool: string } & ProbeVerdict;

const objectionsMax = 64;

/** `further`: objections to the server that no single probe brought. */
export function verdictOfServer(
  judged: readonly Judged[],
  coverage: Coverage,
  further: readonly Objection[] = [],
): ServerVerdict {
  const denied = judged.length === 0 ? 0 : judged.filter(({ verdict }) => verdict === "deny").length / judged.length;
  const all: readonly ServerObjection[] = [
    ...further.map((one) => ({ ...one, tool: undefined })),
    ...judged.flatMap(({ tool, objections }) => objections.map((one) => ({ ...one, tool }))),
  ];
  const each = new Map(all.map((one) => [`${one.tool ?? ""} ${one.code} ${one.reason}`, one]));
  const facts = { denied, coverage, objections: [...each.values()].slice(0, objectionsMax) };
  if (all.some(({ hard }) => hard) || denied > denyRatioMax) return { verdict: "rejected", ...facts };
  if (all.length > 0) return { verdict: "suspect", ...facts };
  if (judged.length === 0) return { verdict: "not-run", ...facts };
  return { verdict: coverage.notRun.length === 0 ? "clean" : "partial", ...facts };
}
