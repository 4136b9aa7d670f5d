/** The client of a model by its kind. Nothing is loaded or opened before the first question. */
import type { OpenModel } from "../../gateway/model-port.ts";
import { ggufModel } from "./gguf.ts";
import { llamaServerModel } from "./llama-server.ts";
import { ollamaModel } from "./ollama.ts";
import { openaiModel } from "./openai.ts";

export const openModel: OpenModel = (place) => {
  switch (place.kind) {
    case "openai":
      return openaiModel(place);
    case "ollama":
      return ollamaModel(place);
    case "llama-cpp":
      return llamaServerModel(place);
    case "gguf":
      return ggufModel(place);
  }
};
