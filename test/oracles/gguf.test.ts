// A model file inside this process: a tiny one of random weights, held to the form of its answers by a grammar.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openModel } from "../../src/adapters/models/open-model.ts";
import type { ModelPlace } from "../../src/gateway/ports/model.ts";
import { answerSchema } from "../../src/oracles/foresight/llm-answer.ts";
import { shownTools } from "../../src/oracles/foresight/llm-prompt.ts";
import { context } from "./contexts.ts";
import { judged } from "./judged.ts";
import { tinyModel } from "./tiny-gguf.ts";

const packageName = "node-llama-cpp";
const installed = await import(packageName).then(
  () => true,
  () => false,
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sg-gguf-"));
  writeFileSync(join(folder, "tiny.gguf"), tinyModel());
  writeFileSync(join(folder, "broken.gguf"), "GGUF, but not really");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = (name: string): ModelPlace => ({
  kind: "gguf",
  url: undefined,
  model: join(folder, name),
  keyEnv: undefined,
});
// A byte is a token here, so the texts are short.
const request = { instructions: "Judge.", evidence: '"mail.send_mail" ANSWER: report', outputTokensMax: 64 };
const safety = { type: "object", properties: { safety: { enum: ["safe", "critical", "unsafe"] } } } as const;

describe.skipIf(!installed)("a GGUF file", () => {
  it("answers within its grammar, one question after the other", { timeout: 120_000 }, async () => {
    const client = openModel(place("tiny.gguf"));
    const signal = AbortSignal.timeout(100_000);
    const asked = { ...request, schema: safety };
    const both = await Promise.all([client.complete(asked, signal), client.complete(asked, signal)]);
    for (const reply of both) {
      if (!reply.ok) throw new Error(reply.error.cause);
      const answer: unknown = JSON.parse(reply.value.text);
      expect(answer).toMatchObject({ safety: expect.stringMatching(/^(safe|critical|unsafe)$/) });
    }
    // Equal questions, temperature 0: what one question leaves behind does not reach the next.
    expect(both[0]).toEqual(both[1]);
  });

  it("that rambles gives no verdict, and never a wrong one", { timeout: 120_000 }, async () => {
    const judge = `{kind: gguf, model: ${join(folder, "tiny.gguf")}, canary: false, wait: 10s, tokensMax: 900}`;
    const said = await judged(judge).ask(context, { budgetMs: 20_000 });
    // Random weights seldom end a text; where they do, the grammar holds the rest of the answer.
    if (typeof said === "string")
      expect(said).toMatch(/^the judge j gave no answer: it(s answer| did not answer in time)/);
    else expect(context.tools.map((tool) => tool.name)).toEqual(expect.arrayContaining([...said.filteredTools]));
  });

  it("is stopped in time", { timeout: 60_000 }, async () => {
    const schema = answerSchema(shownTools(context));
    const reply = await openModel(place("tiny.gguf")).complete(
      { ...request, schema, outputTokensMax: 4_000 },
      AbortSignal.timeout(1_500),
    );
    expect(reply).toMatchObject({ ok: false, error: { kind: "stopped" } });
  });

  it("that is broken is told, with what to do", { timeout: 60_000 }, async () => {
    for (const name of ["broken.gguf", "missing.gguf"]) {
      const reply = await openModel(place(name)).complete(request, AbortSignal.timeout(20_000));
      expect(reply).toMatchObject({ ok: false, error: { kind: "setup" } });
    }
  });
});

it.skipIf(installed)("without the package says which one to install", async () => {
  const reply = await openModel(place("tiny.gguf")).complete(request, AbortSignal.timeout(5_000));
  expect(reply).toMatchObject({ ok: false, error: { kind: "setup", cause: expect.stringContaining(packageName) } });
});
