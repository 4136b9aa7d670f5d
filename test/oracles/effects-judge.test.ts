// The judge that a policy names for isolation answers questions about acts, beside the world model of the same policy.
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PolicyOracles } from "../../src/app/oracles/oracles.ts";
import { effectsJudgeKind, type EffectsContext } from "../../src/core/questions/effect-question.ts";
import type { Json } from "../../src/core/json.ts";
import type { Question } from "../../src/core/opinion.ts";
import type { CompiledPolicy } from "../../src/policy/compile/compile.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { context } from "./contexts.ts";
import { questionOf } from "./judged.ts";
import { type ModelServer, completion, startModelServer } from "../kit/server/model-server.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const acts: EffectsContext = {
  version: 1,
  server: "s",
  tool: "t",
  effects: ["read.local"],
  events: ["process-spawn success hint /usr/bin/tar"],
  arguments: {},
  rules: [],
  evidence: [],
};

function policyOf(text: string): CompiledPolicy {
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy;
}

let server: ModelServer;
beforeEach(async () => {
  const distrust = '{"trusted": false, "reason": "it packs", "flags": ["packs"]}';
  server = await startModelServer(() => completion(distrust));
});
afterEach(() => server.close());

it("answers about acts with the judge of isolation, and about the future with nobody where nobody is named", async () => {
  const oracles = new PolicyOracles(() => undefined);
  const policy = policyOf(`isolation: {judge: {use: j}}\njudges: {j: {url: "${server.url}/v1", model: m}}\n`);
  oracles.learn(policy);
  // A context is JSON by construction.
  const content = acts as unknown as Json;
  const asked: Question = {
    key: "k",
    mechanism: "projection",
    kind: effectsJudgeKind,
    content,
    mode: "advisory",
    without: "allow",
  };
  const future = questionOf(context, "advisory");
  const answers = await oracles.answer([asked, future], 5_000, { policy: policy.digest, run: "r" });
  const byKey = new Map(answers.map((answer) => [answer.question.key, answer]));
  expect(byKey.get("k")).toMatchObject({ kind: "known", value: { trusted: false, flags: ["packs"] } });
  expect(byKey.get(future.key)).toMatchObject({ kind: "unavailable", cause: "none configured" });
});
