import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ggufModel } from "./gguf.ts";

let folder: string;
let model: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sg-model-"));
  model = join(folder, "m.gguf");
  const head = Buffer.alloc(24);
  head.write("GGUF");
  head.writeUInt32LE(3, 4);
  writeFileSync(model, head);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A library that answers with what it was asked, one at a time, or fails if two questions meet. */
function library(seen: object[]) {
  let busy = false;
  return {
    getLlama: async (options: object) => {
      seen.push(options);
      return {
        loadModel: async () => ({ createContext: async () => ({ getSequence: () => ({}) }) }),
        createGrammarForJsonSchema: async (schema: object) => schema,
      };
    },
    LlamaChatSession: class {
      async prompt(text: string, options: { readonly grammar?: object }) {
        if (busy) throw new Error("two at once");
        busy = true;
        await new Promise((resolve) => setTimeout(resolve, 1));
        busy = false;
        return `${text} ${JSON.stringify(options.grammar ?? "free")}`;
      }
      dispose(): void {}
    },
  };
}

const place = (path: string) => ({ kind: "gguf", url: undefined, model: path, keyEnv: undefined }) as const;
const request = { instructions: "i", evidence: "e", outputTokensMax: 8 };
const soon = (): AbortSignal => AbortSignal.timeout(2_000);

it("answers one question at a time, loads once, and lets nothing be downloaded, compiled or printed", async () => {
  const seen: object[] = [];
  const client = ggufModel(place(model), async () => library(seen));
  const schema = { type: "object" };
  const replies = await Promise.all([
    client.complete(request, soon()),
    client.complete({ ...request, schema }, soon()),
    client.complete(request, soon()),
  ]);
  expect(replies.map((reply) => (reply.ok ? reply.value.text : reply.error.cause))).toEqual([
    'e "free"',
    'e {"type":"object"}',
    'e "free"',
  ]);
  expect(seen).toMatchObject([{ build: "never", skipDownload: true, progressLogs: false }]);
});

it("names the package that is missing, and finds it when it is there", async () => {
  let there = false;
  const client = ggufModel(place(model), async () => {
    if (!there) throw new Error("cannot find package");
    return library([]);
  });
  const before = await client.complete(request, soon());
  expect(before).toMatchObject({ ok: false, error: { kind: "setup" } });
  expect(before.ok ? "" : before.error.cause).toContain("node-llama-cpp");
  there = true;
  expect((await client.complete(request, soon())).ok).toBe(true);
});

it("gives up with its signal, even while the model is being loaded", async () => {
  const client = ggufModel(place(model), () => new Promise(() => undefined));
  expect(await client.complete(request, AbortSignal.timeout(20))).toMatchObject({ error: { kind: "stopped" } });
  expect(await client.complete(request, AbortSignal.abort())).toMatchObject({ error: { kind: "stopped" } });
});

it.each([
  ["no file", undefined],
  ["another file", Buffer.from("#!/bin/sh\necho this is not a model at all\n")],
  ["a file with impossible counts", Buffer.from("GGUF\u0003\u0000\u0000\u0000 but not really, no")],
  ["half a head", Buffer.from("GGUF\u0003")],
])("does not open %s", async (_what, bytes) => {
  const path = join(folder, "other");
  rmSync(path, { force: true });
  if (bytes !== undefined) writeFileSync(path, bytes);
  const seen: object[] = [];
  const reply = await ggufModel(place(path), async () => library(seen)).complete(request, soon());
  expect(reply).toMatchObject({ ok: false, error: { kind: "setup" } });
  expect(seen).toEqual([]);
});

it("a question that breaks leaves the next one its turn", async () => {
  const whole = library([]);
  let first = true;
  class Breaking extends whole.LlamaChatSession {
    override dispose(): void {
      if (!first) return;
      first = false;
      throw new Error("a native fault");
    }
  }
  const client = ggufModel(place(model), async () => ({ ...whole, LlamaChatSession: Breaking }));
  await expect(client.complete(request, soon())).rejects.toThrow("a native fault");
  expect(await client.complete(request, soon())).toMatchObject({ ok: true, value: { text: 'e "free"' } });
});
