/** Trusted acts on runs: `POST /runs`, `runs new`, and what a client's hook reports (gateway.md 4). */
import type { TrustedText } from "../../core/event.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { LiveRun } from "./live-run.ts";
import { type LoadedPolicy, startProblem } from "../ports/policy.ts";
import { mintedPrefix, mintRunToken } from "./run-key.ts";
import type { RunRegistry } from "./run-registry.ts";
import type { Secrets } from "../ports/services.ts";

/** Characters of an instruction that is registered; longer ones are refused, not cut: half an instruction misleads. */
export const instructionCharactersMax = 1_048_576;

export type NewRun = {
  readonly principal: string;
  /** Key of the run whose labels the new one starts with and joins back into. */
  readonly parent?: string;
  readonly instruction?: string;
  /** Ms without a message after which the run ends, if that is sooner than the policy's. */
  readonly idleMs?: number;
  /** Where clients reach this gateway, for the URL. */
  readonly urlBase: string;
  readonly client?: string;
  readonly tag?: string;
};

export type MintedRun = { readonly run: string; readonly url: string; readonly token: string };

export type RunControl = {
  readonly runs: RunRegistry;
  readonly secrets: Secrets;
  readonly policyFor: (who: NewRun) => LoadedPolicy;
};

/** Starts a run by a trusted act; the caller has authenticated the principal. The error is a sentence. */
export async function beginRun(control: RunControl, wanted: NewRun): Promise<Result<MintedRun, string>> {
  const { runs, secrets } = control;
  if ((wanted.instruction?.length ?? 0) > instructionCharactersMax) {
    return err(`The instruction is longer than ${instructionCharactersMax} characters. Register a shorter one.`);
  }
  let parent: LiveRun | undefined;
  if (wanted.parent !== undefined) {
    parent = await runs.awake(wanted.parent, wanted.principal);
    // Of an unknown parent nothing can be inherited, and a clean run in its place would lose its labels.
    if (parent === undefined) {
      return err("The parent run is not open. Start the child while its parent runs, or start a run of its own.");
    }
  }
  const policy = control.policyFor(wanted);
  const problem = startProblem(policy);
  if (problem !== undefined) return err(problem);
  if (wanted.idleMs !== undefined && wanted.idleMs > policy.settings.runIdleMs) {
    const longest = `${policy.settings.runIdleMs / 1000} seconds (\`limits: {runIdle}\` of the policy)`;
    return err(`The run would outlive what its policy allows: make \`ttl\` at most ${longest}, or leave it out.`);
  }
  const key = `${mintedPrefix}${secrets.token().slice(0, 24)}`;
  const registered: TrustedText[] =
    wanted.instruction === undefined ? [] : [{ source: "instruction", value: wanted.instruction }];
  const live = runs.obtain({
    key: { key, kind: "trusted", lineage: undefined },
    principal: wanted.principal,
    policy,
    client: { name: wanted.client, tag: wanted.tag },
    workspace: parent?.workspace ?? [],
    parent,
    registered,
    idleMs: wanted.idleMs,
    isNew: true,
  });
  if (!live.ok) return live;
  if (live.value.ready !== undefined) await live.value.ready;
  const token = mintRunToken(key, secrets.mac);
  return ok({ run: key, token, url: `${wanted.urlBase}/r/${encodeURIComponent(token)}` });
}
