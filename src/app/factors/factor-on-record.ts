/** The factor that the policy of a run demanded, as the log keeps that policy: also where no gateway runs any more. */
import { type ConsentFactor, consentFactor, strongest } from "../../core/consent-factor.ts";
import { type Json, member, stringMember } from "../../core/json.ts";
import { textOfDigest } from "../../gateway/log/read-record.ts";
import { subjectOf } from "../replay/audit-policy.ts";
import { type OpenedLog, eachLog } from "../state/log-files.ts";

/** Undefined where no log that can be read knows of one. */
export async function factorOnRecord(environment: NodeJS.ProcessEnv, run: string): Promise<ConsentFactor | undefined> {
  const { opened } = eachLog(environment);
  try {
    return strongest(await Promise.all(opened.map((log) => factorIn(log, run))));
  } finally {
    for (const { store } of opened) await store.close(false);
  }
}

async function factorIn(log: OpenedLog, run: string): Promise<ConsentFactor | undefined> {
  const about = await subjectOf(log, run);
  const digest = about.ok ? about.value?.policy : undefined;
  const text = digest === undefined ? undefined : await textOfDigest(log, digest);
  const policy = text === undefined ? undefined : (JSON.parse(text) as Json); // its digest says that it was compiled
  return consentFactor(stringMember(member(policy, "approvals"), "factor"));
}
