/** Uses of a client's built-in tools between the hook before and the hook after. */
import type { ToolContract } from "../core/contract.ts";
import type { Decision } from "../core/decision.ts";
import type { JsonObject } from "../core/json.ts";
import type { CallOption } from "../core/moment.ts";
import { canonicalJson } from "../wire/canonical.ts";
import type { Call } from "./call.ts";
import { callsInFlightMax } from "../core/limits.ts";
import type { LiveRun } from "./live-run.ts";

export type OpenUse = {
  readonly call: string;
  readonly contract: ToolContract;
  readonly option: CallOption;
  /** The dispatch is on record already; false while the client asks its person. */
  readonly recorded: boolean;
  /** Why its person was asked: what that consent accepts is in it. */
  readonly decision: Decision;
};

type Named = { readonly use?: string; readonly tool: string; readonly arguments: JsonObject };

export class HostUses<Q> {
  readonly #open = new Map<LiveRun<Q>, Map<string, OpenUse>>();

  note(live: LiveRun<Q>, named: Named, use: OpenUse): void {
    const open = this.#open.get(live) ?? new Map<string, OpenUse>();
    const oldest = open.size >= callsInFlightMax ? open.keys().next() : undefined;
    if (oldest?.done === false) open.delete(oldest.value);
    this.#open.set(live, open.set(keyOf(named), use));
  }

  take(live: LiveRun<Q>, named: Named): OpenUse | undefined {
    const open = this.#open.get(live);
    const key = keyOf(named);
    const found = open?.get(key);
    open?.delete(key);
    if (open?.size === 0) this.#open.delete(live);
    return found;
  }

  forget(live: LiveRun<Q>): void {
    this.#open.delete(live);
  }
}

/** The client's own id of the use, else what was used with which arguments. */
function keyOf({ use, tool, arguments: given }: Named): string {
  return use === undefined ? `${tool} ${canonicalJson(given)}` : `id ${use}`;
}

/** A use as the record of a call, for a refusal: nobody waits for an answer over the protocol. */
export function orderedUse<Q>(
  live: LiveRun<Q>,
  facts: { contract: ToolContract; call: string; digest: string; arguments: JsonObject },
): Call<Q> {
  const request = { kind: "request", id: facts.call, method: "host/tool", params: undefined } as const;
  return {
    id: facts.call,
    live,
    exchange: { request, send: () => undefined, respond: () => undefined, onAbandoned: () => undefined },
    request,
    method: "host/tool",
    contract: facts.contract,
    arguments: facts.arguments,
    digest: facts.digest,
    manifestDigest: undefined,
    retry: undefined,
    cancelled: false,
    lost: false,
    option: undefined,
    performed: undefined,
    scope: undefined,
    windowed: false,
    warnings: [],
  };
}
