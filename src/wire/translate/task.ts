/**
 * Tasks across the eras: 2025-11-25 has them in the protocol, 2026-07-28 in the extension of SEP-2663. Only the shapes
 * are translated here. Offering a task of one era to a client of the other means polling on its behalf (`tasks/result`
 * waits, `tasks/get` of the extension carries the result), which is the gateway's work.
 *
 * | 2025-11-25 | extension |
 * |---|---|
 * | `{task: {ttl, pollInterval, ...}}` | `{resultType: "task", ttlMs, pollIntervalMs, ...}` |
 * | `tasks/get` result: state only | state with `result`, `error` or `inputRequests` inlined |
 */
import { isObject, member, type Json, type JsonObject } from "../../core/json.ts";
import { without } from "../object.ts";

function renamed(task: JsonObject, names: readonly (readonly [string, string])[]): JsonObject {
  const moved = names.flatMap(([from, to]): (readonly [string, Json])[] => {
    const value = member(task, from);
    return value === undefined ? [] : [[to, value]];
  });
  return { ...without(task, names.flat()), ...Object.fromEntries(moved) };
}

/** Members of a task that only the extension defines; a legacy server cannot set them. */
const modernOnly = ["resultType", "result", "error", "inputRequests", "requestState"];

/** State of a task in the extension's spelling. */
export function taskToModern(task: JsonObject): JsonObject {
  return renamed(without(task, modernOnly), [
    ["ttl", "ttlMs"],
    ["pollInterval", "pollIntervalMs"],
  ]);
}

/** State of a task in the spelling of 2025-11-25, without inlined payload: that revision reads it by `tasks/result`. */
export function taskToLegacy(task: JsonObject): JsonObject {
  return renamed(without(task, modernOnly), [
    ["ttlMs", "ttl"],
    ["pollIntervalMs", "pollInterval"],
  ]);
}

/** A legacy `CreateTaskResult` as a modern one; undefined if it holds no task. */
export function createdTaskToModern(result: JsonObject): JsonObject | undefined {
  const task = member(result, "task");
  if (!isObject(task)) return undefined;
  return { resultType: "task", ...without(result, ["task", ...modernOnly]), ...taskToModern(task) };
}
