/** What happens in a random trace, and what is remembered of a call that is on its way. */
import type { JsonObject } from "../../../src/core/json.ts";
import type { CallOption } from "../../../src/core/moment.ts";
import type { Run } from "../../../src/core/run.ts";
import { type Move, joinOf } from "./explicit-model.ts";
import type { Follower } from "./follower.ts";
import type { Recipe, Value } from "./planted.ts";
import type { TrueHistory } from "./true-history.ts";

/** How a call ends. `lost`: nobody ever learns; with or without an answer that comes late all the same. */
export type Ending = "succeeded" | "failed" | "no-effect" | "lost" | "late";

export type Operation =
  | {
      readonly kind: "call";
      readonly run: number;
      readonly tool: number;
      readonly given: { readonly [argument: string]: Recipe | undefined };
      readonly ending: Ending;
      /** It ends before anything else happens. */
      readonly atOnce: boolean;
    }
  /** A call that is on its way moves on: it has its effect, it settles, its result is released. */
  | { readonly kind: "advance"; readonly which: number }
  | { readonly kind: "say"; readonly run: number }
  | { readonly kind: "wait"; readonly ms: number };

export type Sent = {
  readonly run: Member;
  readonly call: string;
  readonly option: CallOption;
  /** Labels that its result may bring. */
  readonly brings: readonly number[];
  readonly given: JsonObject;
  readonly values: ReadonlyMap<string, Value>;
  readonly move: Move;
  readonly ending: Ending;
  stage: number;
  result: { readonly whole: Value; readonly field: Value } | undefined;
};

export type Member = {
  run: Run;
  readonly follower: Follower;
  readonly seen: Value[];
  readonly history: TrueHistory;
};

/** A text made of several, with all that is in them. */
export function mixed(parts: readonly Value[]): Value {
  return { text: parts.map(({ text }) => text).join(" "), all: joinOf(parts.map(({ all }) => all)) };
}
