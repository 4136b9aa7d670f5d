import type { JsonObject } from "../../../src/core/json.ts";
import type { Board } from "./board.ts";
import type { Call } from "./call.ts";

export type Tool = {
  readonly listed: JsonObject;
  /** Carries its earlier answers in `requestState` between rounds. */
  readonly stateful?: true;
  readonly run: (call: Call, board: Board) => Promise<JsonObject> | JsonObject;
};

/** Declares a tool whose arguments are the given properties, all of them required. */
export function tool(name: string, description: string, properties: JsonObject, run: Tool["run"]): Tool {
  const required = Object.keys(properties);
  const inputSchema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
  return { listed: { name, description, inputSchema }, run };
}

/** Waits, and stops waiting when the call is cancelled. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
