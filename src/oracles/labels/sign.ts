/** What a sign is, and what a tool is read beside. */
import type { JsonObject } from "../../core/json.ts";

/** `id` is a row of the table of weights. `because` is a part of a sentence, in words of this project and of the tool's name. */
export type Sign = { readonly id: string; readonly because: string };

/** What is known of the server besides the tool. */
export type ReadingContext = {
  /** The name that the policy knows the server by. */
  readonly server: string;
  /** Everything that the server lists, the tool included. */
  readonly tools: readonly JsonObject[];
  /** True where the server is reached over the network, so that nothing it does is local. */
  readonly remote?: boolean;
};

/** Characters of a description that are looked at; of a longer one the beginning. */
export const descriptionCharsMax = 4_000;

/** Notes a sign once. */
export type Add = (id: string, because: string) => void;
