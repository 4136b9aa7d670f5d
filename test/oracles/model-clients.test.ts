// The clients of model servers against a scripted one: what they send, and how each failure is told.
import { createServer, type AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openModel } from "../../src/adapters/models/open-model.ts";
import { answerBytesMax } from "../../src/adapters/models/model-limits.ts";
import { member } from "../../src/core/json.ts";
import type { ModelPlace, ModelRequest } from "../../src/gateway/ports/model.ts";
import { chances, completion, messagesOf, startModelServer, type ModelServer } from "../kit/server/model-server.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer(() => completion("yes"));
});
afterEach(() => server.close());

const schema = { type: "object", properties: { safety: { enum: ["safe", "unsafe"] } }, required: ["safety"] };
const request: ModelRequest = { instructions: "our words", evidence: "their words", outputTokensMax: 64, schema };
const ollamaAnswer = {
  message: { role: "assistant", content: "yes" },
  prompt_eval_count: 100,
  eval_count: 20,
  logprobs: [{ token: "y", logprob: -0.1, top_logprobs: [{ token: "y", logprob: -0.1 }] }],
};

const kinds = ["openai", "ollama", "llama-cpp"] as const;
const place = (kind: ModelPlace["kind"], more: Partial<ModelPlace> = {}): ModelPlace => ({
  kind,
  url: kind === "openai" ? `${server.url}/v1` : server.url,
  model: "small",
  keyEnv: undefined,
  ...more,
});
const ask = (where: ModelPlace, waitMs = 5_000, what: ModelRequest = request) =>
  openModel(where).complete(what, AbortSignal.timeout(waitMs));

describe.each(kinds)("%s", (kind) => {
  beforeEach(() => {
    const given = { ...chances({ y: 0.9, n: 0.1 }) };
    server.script = () => (kind === "ollama" ? { body: JSON.stringify(ollamaAnswer) } : completion("yes", given));
  });

  it("keeps instructions and evidence apart, and sends the schema", async () => {
    const reply = await ask(place(kind));
    expect(reply).toMatchObject({ ok: true, value: { text: "yes", tokens: 120 } });
    expect(messagesOf(server.bodies[0] ?? null)).toEqual({ instructions: "our words", evidence: "their words" });
    expect(server.received[0]).toContain(`POST ${kind === "ollama" ? "/api/chat" : "/v1/chat/completions"} `);
    const body = server.bodies[0];
    const format = member(body, "format") ?? member(body, "json_schema");
    const strict = member(member(member(body, "response_format"), "json_schema"), "schema");
    expect(format ?? strict).toEqual(schema);
    expect(member(body, "model")).toBe("small");
    expect(member(body, "logprobs")).toBeUndefined();
  });

  it("asks for probabilities and reads them", async () => {
    const { schema: _schema, ...plain } = request;
    const reply = await ask(place(kind), 5_000, { ...plain, probabilities: true });
    if (!reply.ok) throw new Error(reply.error.cause);
    expect(reply.value.first?.[0]?.token).toBe("y");
    expect(member(server.bodies[0], "top_logprobs")).toBe(20);
    expect(member(server.bodies[0], "response_format")).toBeUndefined();
  });

  it("sends the key from the environment as a header and tells it to nobody", async () => {
    process.env["SLUICEGATE_TEST_KEY"] = "sk-planted-key";
    try {
      server.script = () => ({ status: 401, body: '{"error":{"message":"bad key sk-planted-key"}}' });
      const reply = await ask(place(kind, { keyEnv: "SLUICEGATE_TEST_KEY" }));
      expect(server.received[0]).toContain("Bearer sk-planted-key");
      expect(reply).toMatchObject({ ok: false, error: { kind: "status" } });
      expect(JSON.stringify(reply)).not.toContain("planted");
      process.env["SLUICEGATE_TEST_KEY"] = "two\nlines";
      const broken = await ask(place(kind, { keyEnv: "SLUICEGATE_TEST_KEY" }));
      expect(broken).toMatchObject({ ok: false, error: { kind: "setup" } });
      expect(JSON.stringify(broken)).not.toContain("lines");
    } finally {
      delete process.env["SLUICEGATE_TEST_KEY"];
    }
    const missing = await ask(place(kind, { keyEnv: "SLUICEGATE_TEST_KEY" }));
    expect(missing).toMatchObject({ ok: false, error: { kind: "setup" } });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ["never answers", "hang", "stopped"],
    ["cuts the connection", "cut", "unreachable"],
    ["answers with 500", { status: 500, body: "oh no, SECRET" }, "status"],
    ["answers with 404", { status: 404, body: "{}" }, "status"],
    ["sends no JSON", { body: "<html>SECRET" }, "unreadable"],
    ["sends JSON of another form", { body: '{"choices":"SECRET"}' }, "unreadable"],
    ["sends nothing", { body: "" }, "unreadable"],
    ["sends a huge answer", { body: "SECRET".repeat(answerBytesMax / 4) }, "too-large"],
  ] as const)("that %s gives a sentence of ours", async (_what, answer, wanted) => {
    server.script = () => answer;
    const reply = await ask(place(kind), answer === "hang" ? 150 : 5_000);
    expect(reply).toMatchObject({ ok: false, error: { kind: wanted } });
    expect(JSON.stringify(reply)).not.toContain("SECRET");
  });

  it("that sends it elsewhere is not followed", async () => {
    const other = await startModelServer(() => completion("yes"));
    try {
      server.script = () => ({ status: 307, body: "", location: `${other.url}/v1/chat/completions` });
      expect(await ask(place(kind))).toMatchObject({ ok: false, error: { kind: "status" } });
      expect(other.received).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it("that is not there is told so", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
    const { port } = probe.address() as AddressInfo; // listening on TCP
    await new Promise((resolve) => probe.close(resolve));
    const reply = await ask(place(kind, { url: `http://127.0.0.1:${port}` }));
    expect(reply).toMatchObject({ ok: false, error: { kind: "unreachable" } });
  });

  it("at `localhost` is this machine, and no proxy is asked", async () => {
    process.env["HTTP_PROXY"] = process.env["http_proxy"] = "http://127.0.0.1:9";
    try {
      const url = (place(kind).url ?? "").replace("127.0.0.1", "localhost");
      expect(await ask(place(kind, { url }))).toMatchObject({ ok: true });
    } finally {
      delete process.env["HTTP_PROXY"];
      delete process.env["http_proxy"];
    }
  });
});
