/** What is remembered of a run: arguments of calls under way, and servers that have done what they may not. */
import type { RunEvent } from "../../core/event.ts";
import { callsInFlightMax } from "../../core/limits.ts";
import type { CallOption } from "../../core/moment.ts";
import type { JsonObject } from "../../core/json.ts";
import { ownCodes } from "./reasons.ts";

/** Servers remembered as distrusted. A policy has far fewer; beyond it every server is. */
export const distrustedMax = 256;

export type Remembered = { readonly option: CallOption; readonly arguments: JsonObject };

export type Memory = {
  readonly calls: ReadonlyMap<string, Remembered>;
  readonly distrusted: ReadonlySet<string>;
};

export const nothingRemembered: Memory = { calls: new Map(), distrusted: new Set() };

export function isDistrusted({ distrusted }: Memory, server: string): boolean {
  return distrusted.has(server) || distrusted.size >= distrustedMax;
}

/** `isolated` says whether a server has an order: calls of others need not be kept. */
export function rememberedAfter(memory: Memory, event: RunEvent, isolated: (server: string) => boolean): Memory {
  switch (event.kind) {
    case "allowed": {
      const { call, option, arguments: given } = event;
      if (!isolated(option.contract.server)) return memory;
      // The gateway refuses more calls at once than this; the oldest one here can only be one that never ended.
      const kept = [...memory.calls].slice(-(callsInFlightMax - 1));
      return { ...memory, calls: new Map([...kept, [call, { option, arguments: given }]]) };
    }
    case "released": {
      const violated = event.codes?.some((code) => ownCodes.has(code)) === true && event.how === "reject";
      const ended = event.call !== undefined && memory.calls.has(event.call) && event.how !== "withhold";
      if (!violated && !ended) return memory;
      const calls = new Map(memory.calls);
      if (event.call !== undefined) calls.delete(event.call);
      return { calls, distrusted: violated ? new Set([...memory.distrusted, event.server]) : memory.distrusted };
    }
    case "ended":
      return { ...memory, calls: new Map() };
    case "begun":
    case "registered":
    case "requested":
    case "refused":
    case "sent":
    case "succeeded":
    case "failed":
    case "unknown":
    case "granted":
      return memory;
  }
}
