/**
 * Where a text of a run comes from, and which calls may use a name that it holds. A name means something only where it
 * was given: an id of one store is no id of another, and no amount, though both are trusted (decision 0036).
 */
import { type ArgumentRole, type FieldType, resultScope, type ToolContract } from "../../core/contract.ts";
import type { LabelRange } from "../../core/label.ts";
import { covers, segmentsOf } from "./leaves.ts";

export type Origin = {
  /** Call whose result held the text, or `instruction`, `operator`, `message` for text outside any call. */
  readonly origin: string;
  /** Absent for text of the user or the operator, who may name anything for any call. */
  readonly server?: string;
  readonly tool?: string;
  readonly pointer: string;
  readonly range: LabelRange;
  /** Stores that the tool of the result reads, writes or opens; a name of one that has none is a name of that tool. */
  readonly stores?: readonly string[];
  /** Kinds of name that the place holds, by the most specific declarations of it. */
  readonly types?: readonly string[];
};

/** The call that wants to use a value, as far as origins are concerned. */
export type Consumer = { readonly server: string; readonly tool: string; readonly stores: readonly string[] };

/** An argument that a value is meant for. */
export type Target = { readonly role: ArgumentRole; readonly type?: string; readonly consumer: Consumer };

export function consumerOf(contract: ToolContract): Consumer {
  const { server, tool } = contract;
  return { server, tool, stores: resultScope(contract).stores };
}

/** Names that mean the same to every server: they are how servers work together. */
const worldwide: ReadonlySet<ArgumentRole> = new Set(["recipient", "destination", "path"]);

/**
 * Whether a value of this origin may be drawn on for the argument. Types, where both sides have one, decide: no other
 * kind fits, and on one server the same kind does. Else the two must share a store of the server, or be one tool. An
 * address, host, URL, path or IBAN (`hasForm`) may come from any server.
 */
export function fits({ server, tool, stores = [], types = [] }: Origin, target: Target, hasForm: boolean): boolean {
  const { role, type, consumer } = target;
  if (server === undefined || role === "content") return true;
  const typed = type !== undefined && types.length > 0;
  if (typed && !types.every((one) => one === type)) return false;
  if (hasForm && worldwide.has(role)) return true;
  if (server !== consumer.server) return false;
  if (typed) return true;
  return stores.length === 0 ? tool === consumer.tool : stores.some((store) => consumer.stores.includes(store));
}

/** Two origins that `fits` cannot tell apart. */
export function sameScope(left: Origin, right: Origin): boolean {
  return (
    left.server === right.server &&
    (left.tool === right.tool || (left.stores ?? []).length > 0) &&
    sameWords(left.stores, right.stores) &&
    sameWords(left.types, right.types)
  );
}

function sameWords(left: readonly string[] = [], right: readonly string[] = []): boolean {
  return left.length === right.length && left.every((word, index) => word === right[index]);
}

/** The types of the most specific declarations that cover a place; undefined where none does. */
export function typesAt(path: readonly string[], declared: readonly FieldType[]): readonly string[] | undefined {
  let depth = 0;
  const found = new Set<string>();
  for (const { pointer, type } of declared) {
    const segments = segmentsOf(pointer);
    if (!covers(segments, path) || segments.length < depth) continue;
    if (segments.length > depth) found.clear();
    depth = segments.length;
    found.add(type);
  }
  return found.size === 0 ? undefined : [...found].toSorted();
}
