/** The judges that the user's policies ask: whether each answers, in time, and without obeying what it is shown. */
import { reachesDaemon } from "../../adapters/daemon/connect.ts";
import type { Judge } from "../../policy/judges.ts";
import type { Check } from "./check.ts";
import { failed, noted, passed } from "./check.ts";
import { compiledPolicies } from "./compiled-policies.ts";

/** One check for each judge that is asked; none where no policy asks one, and nothing is loaded for that. */
export async function checkJudges(): Promise<readonly Check[]> {
  const asking = compiledPolicies().filter((policy) => policy.regulation.models.judge !== undefined);
  if (asking.length === 0) return [];
  const { ConfiguredModels } = await import("../models.ts");
  const models = new ConfiguredModels(
    () => undefined,
    () => undefined,
  );
  const checks: Check[] = [];
  for (const policy of asking) {
    const examined = await models.examine(policy);
    if (examined === undefined) continue;
    const { judge, said } = examined;
    if (judge.keyEnv !== undefined && !reachesDaemon(judge.keyEnv)) checks.push(noted("judge", unseenKey(judge)));
    const ms = said.ok ? Math.round(said.value) : 0;
    if (!said.ok)
      checks.push(
        failed(
          "judge",
          `The judge ${judge.name} gave no answer: ${said.error}. Until it does, calls are decided without it.`,
        ),
      );
    else if (ms > judge.waitMs) {
      const late = `The judge ${judge.name} needed ${ms} ms, with its test; calls wait at most ${judge.waitMs} ms for it.`;
      checks.push(noted("judge", late));
    } else {
      const where = judge.local ? "on this machine" : "elsewhere";
      checks.push(passed("judge", `The judge ${judge.name}, ${where}, answers in ${ms} ms and obeyed no evidence.`));
    }
  }
  return checks;
}

/** What is found here, with the whole environment, would mislead whoever only uses the daemon. */
function unseenKey({ name, keyEnv = "" }: Judge): string {
  return `Servers behind \`sluicegate run\` go without the judge ${name}: their daemon does not take over ${keyEnv}. Give the key a name that begins with SLUICEGATE_.`;
}
