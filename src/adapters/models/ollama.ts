/** Ollama by its own `/api/chat`, which takes a JSON Schema as `format` and reports probabilities. */
import type { ModelClient, ModelPlace, ModelRequest } from "../../gateway/model-port.ts";
import { keyHeaders } from "./key.ts";
import { candidatesMax } from "./limits.ts";
import { ModelLink } from "./model-link.ts";
import { jsonOf, ollamaReply } from "./reply.ts";

/** How long Ollama keeps the model in memory after a question. */
const keepModel = "30m";

export function ollamaModel(place: ModelPlace): ModelClient {
  const link = new ModelLink(place.url);
  return {
    complete: async (request, signal) => {
      const key = keyHeaders(place.keyEnv);
      if (!key.ok) return key;
      const body = JSON.stringify(ollamaBody(place.model, request));
      const posted = await link.post(`${place.url ?? ""}/api/chat`, key.value, body, signal);
      if (!posted.ok) return posted;
      const json = jsonOf(posted.value);
      return json.ok ? ollamaReply(json.value) : json;
    },
  };
}

function ollamaBody(model: string, request: ModelRequest): object {
  return {
    model,
    stream: false,
    keep_alive: keepModel,
    messages: [
      { role: "system", content: request.instructions },
      { role: "user", content: request.evidence },
    ],
    options: { temperature: 0, num_predict: request.outputTokensMax },
    ...(request.schema === undefined ? {} : { format: request.schema }),
    ...(request.probabilities === undefined ? {} : { logprobs: true, top_logprobs: candidatesMax }),
  };
}
