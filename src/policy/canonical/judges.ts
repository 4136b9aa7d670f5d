/** The long form of `judges`: defaults written out, so that what holds can be read in the canonical policy. */
import type { JudgeText } from "../document-judges.ts";
import { canonicalDuration } from "./duration.ts";
import type { JudgeForm, JudgesForm } from "./form.ts";
import { boundForm, compact, mapValues, sortedWords } from "./labels.ts";

export function judgesForm(judges: { readonly [name: string]: JudgeText }): JudgesForm {
  return mapValues(judges, (judge) =>
    compact<JudgeForm>({
      url: judge.url,
      model: judge.model,
      kind: judge.kind ?? "openai",
      bound: judge.bound === undefined ? undefined : boundForm(judge.bound),
      audience: judge.audience === undefined ? undefined : sortedWords(judge.audience),
      above: judge.above ?? "shapes",
      wait: canonicalDuration(judge.wait ?? "2s"),
      tokensMax: judge.tokensMax ?? 8_192,
      runTokensMax: judge.runTokensMax ?? 500_000,
      keyEnv: judge.keyEnv,
      canary: judge.canary ?? true,
      answers: judge.answers ?? "schema",
      labelFirst: judge.labelFirst ?? true,
    }),
  );
}
