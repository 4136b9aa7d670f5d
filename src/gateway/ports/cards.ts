/** Admission cards as the enforcement point sees them: it tells what servers are and list, and asks what was answered. */
import type { ToolContract } from "../../core/contract.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { LoadedPolicy } from "./policy.ts";
import type { ServerTarget } from "./transport.ts";

/** The tools of a server as a run is about to be shown them. */
export type SeenList = {
  readonly server: string;
  /** Digest of the whole list. */
  readonly digest: string;
  readonly entries: readonly JsonObject[];
  /** Contracts of the entries, in their order. */
  readonly contracts: readonly ToolContract[];
  readonly policy: LoadedPolicy;
  /** The entry of a name that was accepted last (docs/decisions/0037). */
  readonly before: (name: string) => Json | undefined;
};

export interface Cards {
  /** A client is about to use a server: how it is reached. */
  reached(server: string, target: ServerTarget): void;
  /** What a server calls itself, bounded by the caller. */
  declared(server: string, name: string, version: string): void;
  seen(list: SeenList): void;
  /** Why nothing of a server is listed or called that runs in this tier, as a sentence; undefined where it may be. */
  refusal(server: string, tier: string): string | undefined;
  /** Lines on where to answer once for all calls of a tool of which nothing is accepted; none where something is. */
  hint(contract: ToolContract): readonly string[];
  /** Its behaviour cost a server its trust: what was accepted of it does not count any more. */
  flagged(server: string, why: string): void;
}
