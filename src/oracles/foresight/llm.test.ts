// One word first: kept where the server reports probabilities, given up only where it is there and does not.
import { expect, it } from "vitest";
import { makeLattice } from "../../core/label.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelFailure, ModelReply } from "../../gateway/ports/model.ts";
import type { Judge } from "../../policy/sections/judges.ts";
import { restMs } from "../judges/limits.ts";
import { ModelJudge } from "../judges/model-judge.ts";
import { canaryContext, LanguageWorldModel } from "./llm.ts";
import { wordsInVainMax } from "./llm-limits.ts";

const made = makeLattice({ levels: ["public", "private"], categories: [], groups: ["me", "anyone"] });
if (!made.ok) throw new Error(made.error);
const lattice = made.value;

const settings: Judge = {
  name: "j",
  kind: "openai",
  url: "https://models.example",
  model: "m",
  local: false,
  forbidden: lattice.bottom,
  above: "shapes",
  waitMs: 1_000,
  tokensMax: 8_192,
  runTokensMax: 1_000_000,
  keyEnv: undefined,
  canary: false,
  answers: "schema",
  labelFirst: true,
};

const away: Result<ModelReply, ModelFailure> = err({ kind: "unreachable", cause: "it cannot be reached" });
const word: Result<ModelReply, ModelFailure> = ok({
  text: "unsafe",
  tokens: 5,
  first: [{ token: "unsafe", logProbability: 0 }],
});
const report: Result<ModelReply, ModelFailure> = ok({
  text: '{"next_state": "x", "reasoning": "y", "safety": "critical", "filtered_tools": []}',
  tokens: 50,
  first: undefined,
});

/** Asks about calls that differ, so that none is remembered; `words` counts the questions for one word. */
function modelWith(answer: (isWord: boolean) => Result<ModelReply, ModelFailure>) {
  const seen = { nowMs: 0, words: 0, calls: 0 };
  const nowMs = (): number => seen.nowMs;
  const complete = async ({ evidence }: { readonly evidence: string }): Promise<Result<ModelReply, ModelFailure>> => {
    const isWord = evidence.endsWith("word");
    if (isWord) seen.words += 1;
    return answer(isWord);
  };
  const judge = new ModelJudge(settings, lattice, {
    client: { complete },
    nowMs,
    hash: (text) => text,
    tell: () => {},
  });
  const model = new LanguageWorldModel(judge, nowMs);
  const ask = () => {
    seen.calls += 1;
    return model.predict({ ...canaryContext, instruction: `call ${seen.calls}` }, { run: "r", waitMs: 1_000 });
  };
  return { seen, ask };
}

it("a server that was away is asked for one word again when it is back", async () => {
  let isAway = true;
  const { seen, ask } = modelWith(() => (isAway ? away : word));
  for (let call = 0; call < 2 * wordsInVainMax; call += 1) expect((await ask()).ok).toBe(false);
  isAway = false;
  seen.nowMs += restMs;
  const before = seen.words;
  expect(await ask()).toMatchObject({ ok: true, value: { safety: "unsafe", filteredTools: ["mail.send_mail"] } });
  expect(seen.words).toBe(before + 1);
});

it("a server that reports no probabilities is soon asked for whole answers only", async () => {
  const { seen, ask } = modelWith(() => report);
  for (let call = 0; call < wordsInVainMax + 2; call += 1) {
    expect(await ask()).toMatchObject({ ok: true, value: { safety: "critical" } });
  }
  expect(seen.words).toBe(wordsInVainMax);
});
