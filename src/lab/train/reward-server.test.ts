// The rewards over HTTP, as each engine asks for them, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RewardServer, serveRewards } from "./reward-server.ts";

let server: RewardServer;
beforeAll(async () => {
  const serving = await serveRewards(0);
  if (!serving.ok) throw new Error(serving.error);
  server = serving.value;
});
afterAll(() => server.close());

const good = 'a mailbox\n<|safety|>critical<|safety|>\nSending.\n<|filtered_tools|>["mail.send"]<|filtered_tools|>';
const truth = { safety: "critical", filtered_tools: ["mail.send"] };
const label = JSON.stringify(truth);

async function post(path: string, body: unknown): Promise<{ readonly status: number; readonly value: unknown }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const reply = await fetch(server.url + path, { method: "POST", body: text });
  const answer = await reply.text();
  return { status: reply.status, value: answer.startsWith("{") ? JSON.parse(answer) : answer };
}

describe("rewards over HTTP", () => {
  test("OpenRLHF: the whole text, prompt included", async () => {
    const prompt = "Answer with <|safety|>safe<|safety|> or another.\n";
    const asked = {
      query: [prompt + good, good, "nothing"],
      prompts: [prompt, "other", ""],
      labels: [label, label, label],
    };
    const { status, value } = await post("/get_reward", asked);
    expect(status).toBe(200);
    expect(value).toEqual({
      rewards: [3, 3, 0],
      scores: [1, 1, 0],
      extra_logs: { safety: [1, 1, 0], tools: [1, 1, 0], format: [1, 1, 0] },
    });
  });

  test("verl: one answer and a truth that is an object", async () => {
    const { value } = await post("/compute_score", { solution_str: good, ground_truth: truth, data_source: "x" });
    expect(value).toMatchObject({
      score: 3,
      safety: 1,
      tools: 1,
      format: 1,
      spans: [{ value: 1 }, { at: good.length }],
    });
  });

  test("TRL: a column for each reward", async () => {
    const { value } = await post("/rewards", { completions: [good], ground_truth: [label] });
    expect(value).toEqual({ safety: [1], tools: [1], format: [1] });
  });

  test("what is no question is refused with what to send", async () => {
    const refused = async (path: string, body: unknown): Promise<unknown> => {
      const { status, value } = await post(path, body);
      expect(status).toBe(400);
      return value;
    };
    expect(await refused("/get_reward", "{")).toEqual({ error: "The body is not JSON: send one JSON object." });
    expect(await refused("/get_reward", { query: [good], labels: [] })).toHaveProperty("error");
    expect(await refused("/get_reward", { query: [good], labels: ["{}"] })).toHaveProperty("error");
    expect(await refused("/get_reward", { query: [1], labels: ["x"] })).toHaveProperty("error");
    expect(await refused("/compute_score", { solution_str: good })).toHaveProperty("error");
    expect(
      await refused("/compute_score", { solution_str: good, ground_truth: { ...truth, safety: "ok" } }),
    ).toHaveProperty("error");
    expect(await refused("/rewards", { completions: good })).toHaveProperty("error");
    expect(await refused("/rewards", { completions: [good], ground_truth: ["no"] })).toHaveProperty("error");
  });

  test("there is nothing else, and no page of another host may ask", async () => {
    expect((await post("/mcp", {})).status).toBeGreaterThanOrEqual(400);
    const foreign = await fetch(`${server.url}/rewards`, {
      method: "POST",
      body: "{}",
      headers: { origin: "https://evil.example" },
    });
    expect(foreign.status).toBe(403);
  });

  test("a port that is taken is an error with a way on", async () => {
    const second = await serveRewards(Number(new URL(server.url).port));
    expect(second.ok).toBe(false);
  });
});
