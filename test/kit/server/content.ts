import { type Json, type JsonObject, stringMember } from "../../../src/core/json.ts";
import type { Call } from "./call.ts";

/** One red pixel. */
export const pixelPng =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A WAV header with no samples. */
export const silenceWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

export function text(value: string): JsonObject {
  return { type: "text", text: value };
}

export function embedded(uri: string, mimeType: string, body: string): JsonObject {
  return { type: "resource", resource: { uri, mimeType, text: body } };
}

export const image: JsonObject = { type: "image", data: pixelPng, mimeType: "image/png" };

export const resources: readonly JsonObject[] = [
  { uri: "test://static-text", name: "static-text", description: "A text that never changes", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static-binary", description: "One red pixel", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched", description: "Changes on request", mimeType: "text/plain" },
  { uri: "test://large", name: "large", description: "One megabyte of text", mimeType: "text/plain" },
];

export const resourceTemplates: readonly JsonObject[] = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template",
    description: "Data of one id",
    mimeType: "application/json",
  },
];

const templatePattern = /^test:\/\/template\/([^/]+)\/data$/;

/** Contents of a resource, or undefined when there is none at this URI. */
export function readResource(uri: string, watchedVersion: number): readonly Json[] | undefined {
  switch (uri) {
    case "test://static-text":
      return [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }];
    case "test://static-binary":
      return [{ uri, mimeType: "image/png", blob: pixelPng }];
    case "test://watched-resource":
      return [{ uri, mimeType: "text/plain", text: `Watched resource, version ${watchedVersion}` }];
    case "test://large":
      return [{ uri, mimeType: "text/plain", text: "0123456789abcdef".repeat(65_536) }];
  }
  const id = templatePattern.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const body = { id, templateTest: true, data: `Data for ID: ${id}` };
  return [{ uri, mimeType: "application/json", text: JSON.stringify(body) }];
}

export type Prompt = {
  readonly listed: JsonObject;
  readonly messages: (call: Call) => Promise<readonly Json[]> | readonly Json[];
};

function user(content: JsonObject): JsonObject {
  return { role: "user", content };
}

function argument(name: string, description: string): JsonObject {
  return { name, description, required: true };
}

export const prompts: readonly Prompt[] = [
  {
    listed: { name: "test_simple_prompt", description: "A prompt without arguments" },
    messages: () => [user(text("This is a simple prompt for testing."))],
  },
  {
    listed: {
      name: "test_prompt_with_arguments",
      description: "A prompt with two arguments",
      arguments: [argument("arg1", "First test argument"), argument("arg2", "Second test argument")],
    },
    messages: (call) => {
      const [first, second] = ["arg1", "arg2"].map((name) => stringMember(call.arguments, name) ?? "");
      return [user(text(`Prompt with arguments: arg1='${first}', arg2='${second}'`))];
    },
  },
  {
    listed: {
      name: "test_prompt_with_embedded_resource",
      description: "A prompt that embeds a resource",
      arguments: [argument("resourceUri", "URI of the resource to embed")],
    },
    messages: (call) => {
      const uri = stringMember(call.arguments, "resourceUri") ?? "test://example-resource";
      return [
        user(embedded(uri, "text/plain", "Embedded resource content for testing.")),
        user(text("Please process the embedded resource above.")),
      ];
    },
  },
  {
    listed: { name: "test_prompt_with_image", description: "A prompt that shows an image" },
    messages: () => [user(image), user(text("Please analyze the image above."))],
  },
  {
    listed: { name: "test_input_required_result_prompt", description: "A prompt that asks for context first" },
    messages: async (call) => {
      const answers = await call.ask({
        user_context: {
          method: "elicitation/create",
          params: {
            message: "What context should the prompt use?",
            requestedSchema: { type: "object", properties: { context: { type: "string" } }, required: ["context"] },
          },
        },
      });
      return [user(text(`Use this context: ${JSON.stringify(answers["user_context"] ?? null)}`))];
    },
  },
];

/** Values that completion offers for every argument. */
export const completionWords: readonly string[] = ["paris", "park", "party", "test", "testing"];
