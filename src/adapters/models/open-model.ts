/**
 * Makes the client of a model by its kind. Nothing is loaded or opened before the first question. Ollama and the server
 * of llama.cpp are asked by one POST each; they differ in path, body and reply.
 */
import type { Json } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type {
  ModelClient,
  ModelFailure,
  ModelPlace,
  ModelReply,
  ModelRequest,
  OpenModel,
} from "../../gateway/ports/model.ts";
import { ggufModel } from "./gguf.ts";
import { keyHeaders } from "./key.ts";
import { candidatesMax } from "./model-limits.ts";
import { ModelLink } from "./model-link.ts";
import { openaiModel } from "./openai.ts";
import { chatReply, jsonOf, ollamaReply } from "./reply.ts";

export const openModel: OpenModel = (place) => {
  switch (place.kind) {
    case "openai":
      return openaiModel(place);
    case "ollama":
      return postedModel(place, ollama);
    case "llama-cpp":
      return postedModel(place, llamaServer);
    case "gguf":
      return ggufModel(place);
  }
};

type Endpoint = {
  readonly urlOf: (base: string) => string;
  /** Members of the body beside `model`, `stream` and `messages`. */
  readonly optionsOf: (request: ModelRequest) => object;
  readonly replyOf: (json: Json) => Result<ModelReply, ModelFailure>;
};

/** Ollama by its own endpoint, which takes a JSON Schema as `format` and reports probabilities. */
const ollama: Endpoint = {
  urlOf: (base) => `${base}/api/chat`,
  optionsOf: (request) => ({
    // How long Ollama keeps the model in memory after a question.
    keep_alive: "30m",
    options: { temperature: 0, num_predict: request.outputTokensMax },
    ...(request.schema === undefined ? {} : { format: request.schema }),
    ...(request.probabilities === undefined ? {} : { logprobs: true, top_logprobs: candidatesMax }),
  }),
  replyOf: ollamaReply,
};

/** The server of llama.cpp: its chat endpoint with `json_schema`, and the prompt kept in its cache. */
const llamaServer: Endpoint = {
  urlOf: (base) => `${base.replace(/\/v1$/, "")}/v1/chat/completions`,
  optionsOf: (request) => ({
    cache_prompt: true,
    temperature: 0,
    max_tokens: request.outputTokensMax,
    ...(request.schema === undefined ? {} : { json_schema: request.schema }),
    ...(request.probabilities === undefined ? {} : { logprobs: true, top_logprobs: candidatesMax }),
  }),
  replyOf: chatReply,
};

function postedModel(place: ModelPlace, { urlOf, optionsOf, replyOf }: Endpoint): ModelClient {
  const link = new ModelLink(place.url);
  return {
    complete: async (request, signal) => {
      const key = keyHeaders(place.keyEnv);
      if (!key.ok) return key;
      const messages = [
        { role: "system", content: request.instructions },
        { role: "user", content: request.evidence },
      ];
      const body = JSON.stringify({ model: place.model, stream: false, messages, ...optionsOf(request) });
      const posted = await link.post(urlOf(place.url ?? ""), key.value, body, signal);
      if (!posted.ok) return posted;
      const json = jsonOf(posted.value);
      return json.ok ? replyOf(json.value) : json;
    },
  };
}
