/** The server of llama.cpp: its chat endpoint with `json_schema`, and the prompt kept in its cache. */
import type { ModelClient, ModelPlace, ModelRequest } from "../../gateway/model-port.ts";
import { keyHeaders } from "./key.ts";
import { candidatesMax } from "./limits.ts";
import { ModelLink } from "./model-link.ts";
import { chatReply, jsonOf } from "./reply.ts";

export function llamaServerModel(place: ModelPlace): ModelClient {
  const link = new ModelLink(place.url);
  const base = (place.url ?? "").replace(/\/v1$/, "");
  return {
    complete: async (request, signal) => {
      const key = keyHeaders(place.keyEnv);
      if (!key.ok) return key;
      const body = JSON.stringify(chatBody(place.model, request));
      const posted = await link.post(`${base}/v1/chat/completions`, key.value, body, signal);
      if (!posted.ok) return posted;
      const json = jsonOf(posted.value);
      return json.ok ? chatReply(json.value) : json;
    },
  };
}

function chatBody(model: string, request: ModelRequest): object {
  return {
    model,
    stream: false,
    cache_prompt: true,
    messages: [
      { role: "system", content: request.instructions },
      { role: "user", content: request.evidence },
    ],
    temperature: 0,
    max_tokens: request.outputTokensMax,
    ...(request.schema === undefined ? {} : { json_schema: request.schema }),
    ...(request.probabilities === undefined ? {} : { logprobs: true, top_logprobs: candidatesMax }),
  };
}
