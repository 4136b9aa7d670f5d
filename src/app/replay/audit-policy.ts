/** `sluicegate audit policy RUN`: the policy that a run was decided under, as the log keeps it. */
import { type Json, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { textOfDigest } from "../../gateway/log/read-record.ts";
import { readBody } from "../../gateway/log/record.ts";
import { type LogFault, type OpenedLog, chosenLog, readLogs, storeFault } from "../state/log-files.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { shown } from "../state/sentences.ts";
import { leftFault } from "./left-run.ts";

/** The newest record's facts about a run; undefined where a log has no such run. */
export type Subject = { readonly principal: string | undefined; readonly policy: string | undefined };

export async function subjectOf({ store }: OpenedLog, run: string): Promise<Result<Subject | undefined, LogFault>> {
  const last = await store.records({ run, order: "newest", limit: 1 });
  if (!last.ok) return err(storeFault(last.error));
  const body = last.value[0] === undefined ? undefined : readBody(last.value[0].body);
  if (body === undefined || run === "") return ok(undefined);
  const { context } = body;
  return ok({ principal: stringMember(context, "principal"), policy: stringMember(context, "policy") });
}

/** Canonical policy JSON; it is a policy file, so it can be given to every command that wants one. */
export async function policyOnRecord(named: string, options: { readonly log?: string }): Promise<Outcome> {
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const logs = readLogs(process.env, chosen.value);
  if (!logs.ok) return failure(logs.error.code, logs.error.sentence);
  try {
    for (const log of logs.value) {
      const digest = /^[0-9a-f]{64}$/.test(named) ? ok(named) : await digestOf(log, named);
      if (!digest.ok) return failure(digest.error.code, digest.error.sentence);
      const text = digest.value === undefined ? undefined : await textOfDigest(log, digest.value);
      if (text === undefined) continue;
      const policy = JSON.parse(text) as Json; // its digest says that it is what was compiled
      return { exitCode: 0, json: { digest: digest.value, policy }, text };
    }
  } finally {
    for (const { store } of logs.value) await store.close(false);
  }
  const sentence = `The log keeps no policy for \`${shown(named, 70)}\`: \`sluicegate audit tail\` names the runs.`;
  return failure("SG-AUDIT-POLICY", sentence);
}

async function digestOf(log: OpenedLog, run: string): Promise<Result<string | undefined, LogFault>> {
  const there = await leftFault(log, run);
  if (!there.ok) return there;
  const about = await subjectOf(log, run);
  return about.ok ? ok(about.value?.policy) : about;
}
