/**
 * Language models as the oracles see them: text in, text out, within a limit. Implementations know how one kind of
 * server is spoken to; none of them knows what is asked, or what may be sent to whom.
 */
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";

/** Where a model is. `key` is the name of an environment variable, never a key. */
export type ModelPlace = {
  readonly kind: "openai" | "ollama" | "llama-cpp" | "gguf";
  /** Base address; undefined for a file that runs inside this process. */
  readonly url: string | undefined;
  /** Model name, or path of a file. */
  readonly model: string;
  readonly keyEnv: string | undefined;
};

export type ModelRequest = {
  /** Our own words. Nothing from outside is ever part of them. */
  readonly instructions: string;
  /** Evidence, already delimited and escaped. */
  readonly evidence: string;
  /** JSON Schema that the answer must satisfy; absent = plain text. */
  readonly schema?: JsonObject;
  /** Ask for the probabilities of the first token, where the server knows them. */
  readonly probabilities?: true;
  readonly outputTokensMax: number;
};

export type TokenChance = { readonly token: string; readonly logProbability: number };

export type ModelReply = {
  readonly text: string;
  /** Tokens read and written as the server counts them; undefined where it does not say. */
  readonly tokens: number | undefined;
  /** The candidates for the first token, most likely first; undefined where the server does not say. */
  readonly first: readonly TokenChance[] | undefined;
};

/** Why there is no reply. `cause` is a sentence of ours: never text of the server, never a header, never a key. */
export type ModelFailure = {
  readonly kind: "stopped" | "unreachable" | "status" | "too-large" | "unreadable" | "setup";
  readonly cause: string;
};

export interface ModelClient {
  /** Asks once, without a second try; `signal` ends the wait and the connection. Never throws. */
  complete(request: ModelRequest, signal: AbortSignal): Promise<Result<ModelReply, ModelFailure>>;
}

/** Makes the client of a place. Loading what it needs is left to the first question. */
export type OpenModel = (place: ModelPlace) => ModelClient;
