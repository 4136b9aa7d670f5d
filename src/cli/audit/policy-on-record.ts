/** `sluicegate audit policy RUN`: the policy that a run was decided under, as the log keeps it. */
import type { Json } from "../../core/json.ts";
import { stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { textOfDigest } from "../../gateway/log/open-record.ts";
import { readBody } from "../../gateway/log/record.ts";
import type { LogFault, OpenedLog } from "../log-reader.ts";
import { chosenLog, readLogs, storeFault } from "../log-reader.ts";
import type { Outcome } from "../output.ts";
import { failure, shown } from "../output.ts";

/** What the newest record of a run says of it; undefined where a log has no such run. */
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
export async function policyOnRecord(named: string, options: Readonly<Record<string, unknown>>): Promise<Outcome> {
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
  const about = await subjectOf(log, run);
  return about.ok ? ok(about.value?.policy) : about;
}
