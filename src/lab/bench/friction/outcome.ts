/** What became of a call behind the gateway, read from the sentence that an agent gets (`core/explain/render.ts`). */
import { type Json, isArray, isObject, member } from "../../../core/json.ts";
import { type Answer, textOf } from "../../../app/client/mcp-client.ts";

export type Said =
  | { readonly kind: "answered" }
  /** An approval is asked for; `id` is undefined where the sentence names none. */
  | { readonly kind: "asked"; readonly id: string | undefined; readonly why: string }
  | { readonly kind: "blocked"; readonly why: string };

const ask = /`sluicegate approve ([\w-]+)`/;
const ours = /\(decision [\w-]+\)$/;

export function said(answer: Answer): Said {
  const text = textOf(answer).trim();
  if (!ours.test(text)) return { kind: "answered" };
  const id = ask.exec(text)?.[1];
  const why = causeOf(text);
  if (id !== undefined) return { kind: "asked", id, why };
  if (text.startsWith("Not sent yet")) return { kind: "asked", id: undefined, why };
  return { kind: "blocked", why };
}

/** The cause alone: the remedy and the id differ with every call. */
function causeOf(text: string): string {
  const [cause = text] = text.split(/ (?:Approve with|Do not call again|Go on without|\(decision)/);
  return cause.replace(/^Not executed(?:, (?:approval required|a person must approve))?: /, "").replace(/\.$/, "");
}

/** An answer without `_meta`, with what differs from run to run put out. */
export function comparable({ value }: Answer, mask: readonly RegExp[]): string {
  const text = JSON.stringify(bare(value));
  return mask.reduce((left, pattern) => left.replaceAll(pattern, "*"), text);
}

function bare(value: Json): Json {
  if (isArray(value)) return value.map(bare);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== "_meta" && member(value, key) !== undefined);
  return Object.fromEntries(kept.map(([key, one]) => [key, bare(one)]));
}
