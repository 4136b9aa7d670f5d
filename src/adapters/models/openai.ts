/**
 * OpenAI-compatible servers through the `ai` package. It is loaded with the first question and never before. The model
 * is always an object made for the configured address: a bare name would be resolved to a hosted service by `ai`.
 */
import type { LanguageModel } from "ai";
import type { Json } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelClient, ModelFailure, ModelPlace, ModelReply, ModelRequest } from "../../gateway/ports/model.ts";
import { keyHeaders } from "./key.ts";
import { candidatesMax } from "./model-limits.ts";
import { ModelLink, statusFailure, stopped } from "./model-link.ts";
import { chatChances } from "./reply.ts";

/** Name of the provider: the key under which `ai` passes further members of the body on. */
const provider = "judge";

export function openaiModel(place: ModelPlace): ModelClient {
  const link = new ModelLink(place.url);
  return {
    complete: async (request, signal) => {
      const key = keyHeaders(place.keyEnv);
      if (!key.ok) return key;
      // The failure below `ai`; the errors of `ai` itself hold the whole request and are not read.
      const fault: { failure?: ModelFailure } = {};
      const fetch = fetchOver(link, key.value, fault);
      try {
        const [{ generateText }, { createOpenAICompatible }] = await loaded();
        const made = createOpenAICompatible({ name: provider, baseURL: place.url ?? "", fetch });
        const reply = await ask(generateText, made.chatModel(place.model), request, signal);
        return fault.failure === undefined ? reply : err(fault.failure);
      } catch {
        if (signal.aborted) return err(stopped);
        return err(fault.failure ?? { kind: "unreadable", cause: "its answer cannot be read" });
      }
    },
  };
}

async function loaded() {
  // Its warnings would go to standard output, which may be a protocol stream.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return Promise.all([import("ai"), import("@ai-sdk/openai-compatible")]);
}

type Generate = Awaited<ReturnType<typeof loaded>>[0]["generateText"];

async function ask(
  generateText: Generate,
  model: Exclude<LanguageModel, string>,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Result<ModelReply, ModelFailure>> {
  const format = { type: "json_schema", json_schema: { name: "verdict", strict: true, schema: request.schema ?? {} } };
  const result = await generateText({
    model,
    instructions: request.instructions,
    prompt: request.evidence,
    temperature: 0,
    maxOutputTokens: request.outputTokensMax,
    maxRetries: 0,
    abortSignal: signal,
    include: { responseBody: true },
    providerOptions: {
      [provider]: {
        ...(request.schema === undefined ? {} : { response_format: format }),
        ...(request.probabilities === undefined ? {} : { logprobs: true, top_logprobs: candidatesMax }),
      },
    },
  });
  const body = result.response.body as Json; // parsed by `ai` from the JSON text of the answer
  return ok({ text: result.text, tokens: result.usage.totalTokens, first: chatChances(body) });
}

/** `fetch` for `ai`: the same link as every other client, with its limits, and the key only in the header. */
function fetchOver(
  link: ModelLink,
  headers: Readonly<Record<string, string>>,
  fault: { failure?: ModelFailure },
): typeof globalThis.fetch {
  return async (input, init) => {
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    const body = typeof init?.body === "string" ? init.body : "";
    const posted = await link.post(url, headers, body, init?.signal ?? AbortSignal.timeout(1));
    if (!posted.ok) fault.failure = posted.error;
    else if (posted.value.status < 200 || posted.value.status > 299) fault.failure = statusFailure(posted.value.status);
    if (fault.failure !== undefined || !posted.ok) throw new Error("no usable answer");
    return new Response(posted.value.text, { status: 200, headers: { "content-type": "application/json" } });
  };
}
