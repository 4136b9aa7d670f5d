/**
 * The option a call was judged on, as JSON in two parts. Clear: classes, digests, labels, and which result of which
 * call a value came from. Payload: rule keys, amounts and pointers, which are made of the data itself.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { ArgumentLabel, CallOption, PathStep } from "../../core/moment.ts";
import type { LabelRange } from "../../core/label.ts";
import type { EntryHead, Pen } from "./json-text.ts";
import { readRange, type ReadLabel } from "./label-codec.ts";

export function rangeText(range: LabelRange): string {
  return `[${range.lo},${range.hi}]`;
}

function stepText({ origin, server, tool, label }: PathStep, pen: Pen): string {
  const from = server === undefined ? "null" : pen.name(server);
  return `[${JSON.stringify(origin)},${from},${tool === undefined ? "null" : pen.name(tool)},${label}]`;
}

/**
 * The clear part of an option; of a call of the entry itself, server and tool are left to it, and what is empty is left
 * out. Maps become lists of pairs, so that names such as `__proto__` stay plain data.
 */
export function optionText(option: CallOption, pen: Pen, entry: EntryHead): string {
  const { server, tool, truths, keys } = option.class;
  const isOwn = server === entry.server && tool === entry.tool;
  const subject = isOwn ? "" : `"server":${pen.name(server)},"tool":${pen.name(tool)},`;
  let pairs = "";
  for (const [predicate, holds] of truths) pairs += `${pairs === "" ? "" : ","}[${predicate},${holds}]`;
  let labels = "";
  for (const [argument, { range, digest, path }] of option.arguments) {
    let steps = "";
    for (const step of path) steps += steps === "" ? stepText(step, pen) : `,${stepText(step, pen)}`;
    const label = `[${pen.name(argument)},${range.lo},${range.hi},${JSON.stringify(digest)},[${steps}]]`;
    labels += labels === "" ? label : `,${label}`;
  }
  const truthful = pairs === "" ? "" : `,"truths":[${pairs}]`;
  const keyed = keys.size === 0 ? "" : `,"keyed":${pen.json([...keys.keys()])}`;
  const bare = option.class.bare === true ? ',"bare":true' : "";
  const contract = `"contract":"${pen.contract(option.contract)}"`;
  return `{${subject}${contract}${truthful}${keyed}${bare},"arguments":[${labels}]}`;
}

/** The payload of an option, as members behind others; it has none for what is empty, as it nearly always is. */
export function hiddenOption(option: CallOption, pen: Pen): string {
  const { keys, amounts } = option.class;
  let hidden = "";
  if (keys.size > 0) hidden += `,"keys":${pen.json([...keys])}`;
  if (amounts.size > 0) hidden += `,"amounts":${pen.json([...amounts])}`;
  let pointed = false;
  for (const { path } of option.arguments.values()) pointed ||= path.some((step) => step.pointer !== "");
  if (!pointed) return hidden;
  const pointers = [...option.arguments.values()].map(({ path }) => path.map((step) => step.pointer));
  return `${hidden},"pointers":${pen.json(pointers)}`;
}

function readStep(value: Json, pointer: Json | undefined, read: ReadLabel): PathStep | undefined {
  if (!isArray(value)) return undefined;
  const [origin, server, tool, bits] = value;
  const label = read(bits);
  if (typeof origin !== "string" || label === undefined) return undefined;
  return {
    origin,
    ...(typeof server === "string" ? { server } : {}),
    ...(typeof tool === "string" ? { tool } : {}),
    pointer: typeof pointer === "string" ? pointer : "",
    label,
  };
}

function readArgument(value: Json, pointers: Json | undefined, read: ReadLabel): [string, ArgumentLabel] | undefined {
  if (!isArray(value)) return undefined;
  const [name, lo, hi, digest, steps] = value;
  const range = readRange([lo ?? null, hi ?? null], read);
  if (typeof name !== "string" || typeof digest !== "string" || range === undefined || !isArray(steps))
    return undefined;
  const path = steps.map((step, index) => readStep(step, isArray(pointers) ? pointers[index] : undefined, read));
  const whole = path.filter((step) => step !== undefined);
  return whole.length === path.length ? [name, { range, digest, path: whole }] : undefined;
}

function readTruths(value: Json): Map<number, boolean> | undefined {
  if (!isArray(value)) return undefined;
  const truths = new Map<number, boolean>();
  for (const pair of value) {
    if (!isArray(pair) || typeof pair[0] !== "number" || typeof pair[1] !== "boolean") return undefined;
    truths.set(pair[0], pair[1]);
  }
  return truths;
}

function readKeys(keyed: Json, payload: JsonObject | undefined): Map<string, readonly string[]> | undefined {
  const keys = new Map<string, readonly string[]>();
  const stored = member(payload, "keys");
  if (!isArray(stored)) {
    // Without the payload every keyed rule sees a missing key, which it treats as the worst one.
    if (!isArray(keyed)) return undefined;
    for (const rule of keyed) if (typeof rule === "string") keys.set(rule, []);
    return keys;
  }
  for (const pair of stored) {
    if (!isArray(pair) || typeof pair[0] !== "string" || !isArray(pair[1])) return undefined;
    keys.set(
      pair[0],
      pair[1].filter((key) => typeof key === "string"),
    );
  }
  return keys;
}

function readAmounts(payload: JsonObject | undefined): Map<string, string> {
  const amounts = new Map<string, string>();
  const stored = member(payload, "amounts");
  for (const pair of isArray(stored) ? stored : []) {
    if (isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string") amounts.set(pair[0], pair[1]);
  }
  return amounts;
}

/** The needs of decoding from outside: labels of the present lattice, and contracts by digest. */
export type ReadContext = {
  readonly read: ReadLabel;
  readonly contract: (digest: string) => ToolContract | undefined;
};

/** The option back; `payload` undefined gives it without keys, amounts and pointers. */
export function joinOption(
  clear: Json | undefined,
  payload: Json | undefined,
  context: ReadContext,
): CallOption | undefined {
  if (!isObject(clear)) return undefined;
  const hidden = isObject(payload) ? payload : undefined;
  const server = stringMember(clear, "server");
  const tool = stringMember(clear, "tool");
  const contract = context.contract(stringMember(clear, "contract") ?? "");
  const truths = readTruths(member(clear, "truths") ?? []);
  const keys = readKeys(member(clear, "keyed") ?? [], hidden);
  const labels = member(clear, "arguments");
  if (server === undefined || tool === undefined || contract === undefined || truths === undefined) return undefined;
  if (keys === undefined || !isArray(labels)) return undefined;
  const pointers = member(hidden, "pointers");
  const entries = labels.map((label, index) =>
    readArgument(label, isArray(pointers) ? pointers[index] : undefined, context.read),
  );
  const whole = entries.filter((entry) => entry !== undefined);
  if (whole.length !== entries.length) return undefined;
  const bare = member(clear, "bare") === true ? ({ bare: true } as const) : {};
  const callClass = { server, tool, truths, keys, amounts: readAmounts(hidden), ...bare };
  return { class: callClass, contract, arguments: new Map(whole) };
}
