/**
 * Rewards over HTTP on loopback, for training engines (interfaces: reference of OpenRLHF, verl and TRL). Answers come from
 * a model in training, so they are bounded and only ever read; nothing here can be changed by a request.
 *
 * POST /get_reward     OpenRLHF: {query[], prompts[], labels[]} -> {rewards[], scores[], extra_logs}
 * POST /compute_score  verl: {solution_str, ground_truth} -> {score, safety, tools, format, spans}
 * POST /rewards        TRL: {completions[], ground_truth[]} -> {safety[], tools[], format[]}
 */
import { httpServer } from "../../adapters/http/http-server.ts";
import type { Route, RouteReply } from "../../adapters/http/http-contract.ts";
import { type Json, isArray, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { type GroundTruth, type Reward, rewardOf } from "../../oracles/foresight/reward.ts";
import { isStateClass } from "../../oracles/foresight/llm-verdict.ts";

/** Bytes of one request, answers of one batch, and tools of one truth. */
const bodyBytesMax = 64 * 1024 * 1024;
const samplesMax = 8_192;
const truthToolsMax = 1_024;

/** Rewards of one answer are at most this, all three together. */
const totalMax = 3;

export type RewardServer = { readonly url: string; readonly close: () => Promise<void> };

/** Listens on loopback; port 0 takes any free one. The error is a sentence for the user. */
export async function serveRewards(port: number): Promise<Result<RewardServer, string>> {
  const server = httpServer({
    // There is no MCP endpoint here: every path but the three routes is refused before a connection is made.
    accept: () => {
      throw new Error("a reward server has no clients");
    },
    serves: () => false,
    authenticate: () => err({ status: 401, text: "This server has no sign-in; use one of its three routes." }),
    routes: [route("/get_reward", openRlhf), route("/compute_score", verl), route("/rewards", trl)],
    limits: { bodyBytesMax, bodiesBytesMax: 2 * bodyBytesMax },
  });
  const listening = await server.listen("127.0.0.1", port);
  if (!listening.ok) return listening;
  return ok({ url: `http://127.0.0.1:${listening.value.port}`, close: () => server.close() });
}

type Answer = (request: Json) => Result<object, string>;

function route(path: string, answer: Answer): Route {
  return {
    method: "POST",
    path,
    open: true,
    handle: ({ body }) => {
      const request = readJson(Buffer.from(body).toString("utf8"));
      const made = request === undefined ? err("The body is not JSON: send one JSON object.") : answer(request);
      return made.ok ? reply(200, made.value) : reply(400, { error: made.error });
    },
  };
}

function reply(status: number, value: object): RouteReply {
  return { status, body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}

/** `query` is the whole text, prompt included; the prompt is cut off where it can be recognised. */
function openRlhf(request: Json): Result<object, string> {
  const queries = texts(member(request, "query"));
  const prompts = texts(member(request, "prompts")) ?? [];
  const labels = texts(member(request, "labels"));
  if (queries === undefined || labels === undefined || queries.length !== labels.length)
    return err("Send `query` and `labels` as lists of texts of the same length.");
  const rewards = rewardsOf(
    queries.map((query, index) => withoutPrompt(query, prompts[index])),
    labels,
  );
  if (!rewards.ok) return rewards;
  return ok({
    rewards: rewards.value.map(({ total }) => total),
    scores: rewards.value.map(({ total }) => total / totalMax),
    extra_logs: columns(rewards.value),
  });
}

function withoutPrompt(query: string, prompt: string | undefined): string {
  return prompt !== undefined && query.startsWith(prompt) ? query.slice(prompt.length) : query;
}

function verl(request: Json): Result<object, string> {
  const solution = stringMember(request, "solution_str");
  const truth = truthIn(member(request, "ground_truth"));
  if (solution === undefined || truth === undefined)
    return err("Send `solution_str` as a text and `ground_truth` as {safety, filtered_tools}.");
  const { total, ...rest } = rewardOf(solution, truth);
  return ok({ score: total, ...rest });
}

function trl(request: Json): Result<object, string> {
  const completions = texts(member(request, "completions"));
  const labels = texts(member(request, "ground_truth"));
  if (completions === undefined || labels === undefined || completions.length !== labels.length)
    return err("Send `completions` and `ground_truth` as lists of texts of the same length.");
  const rewards = rewardsOf(completions, labels);
  return rewards.ok ? ok(columns(rewards.value)) : rewards;
}

function columns(rewards: readonly Reward[]): object {
  return {
    safety: rewards.map(({ safety }) => safety),
    tools: rewards.map(({ tools }) => tools),
    format: rewards.map(({ format }) => format),
  };
}

function rewardsOf(answers: readonly string[], labels: readonly string[]): Result<readonly Reward[], string> {
  const rewards: Reward[] = [];
  for (const [index, answer] of answers.entries()) {
    const truth = truthIn(readJson(labels[index] ?? ""));
    if (truth === undefined)
      return err(`Label ${index + 1} is not a truth: send {"safety": ..., "filtered_tools": [...]} as a JSON text.`);
    rewards.push(rewardOf(answer, truth));
  }
  return ok(rewards);
}

function truthIn(value: Json | undefined): GroundTruth | undefined {
  const safety = stringMember(value, "safety");
  const filteredTools = listOfTexts(member(value, "filtered_tools"), truthToolsMax);
  return isStateClass(safety) && filteredTools !== undefined ? { safety, filteredTools } : undefined;
}

function texts(value: Json | undefined): readonly string[] | undefined {
  return listOfTexts(value, samplesMax);
}

function listOfTexts(value: Json | undefined, countMax: number): readonly string[] | undefined {
  if (!isArray(value) || value.length > countMax) return undefined;
  const found = value.flatMap((one) => (typeof one === "string" ? [one] : []));
  return found.length === value.length ? found : undefined;
}
