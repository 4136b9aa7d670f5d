/**
 * The worker thread that runs the programs of rules, so that the main thread can stop a program that does not return.
 */
import { stripTypeScriptTypes } from "node:module";
import { parentPort } from "node:worker_threads";
import { programCauseMax } from "./program-limits.ts";
import type { ProgramOrder, ProgramReply } from "./program-order.ts";

type Loaded = Readonly<Record<string, unknown>>;

/** Loaded programs, by digest. A program that failed to load fails each time with the same error. */
const programs = new Map<string, Promise<Loaded>>();

parentPort?.on("message", (order: ProgramOrder) => {
  void answer(order).then((reply) => parentPort?.postMessage(reply));
});

async function answer({ id, program, source, name, call }: ProgramOrder): Promise<ProgramReply> {
  try {
    let loaded = programs.get(program);
    if (loaded === undefined) programs.set(program, (loaded = load(source)));
    const found = (await loaded)[name];
    if (typeof found !== "function") return { id, cause: `it exports no function ${name}` };
    if (call === undefined) return { id, said: false };
    const said: unknown = found(JSON.parse(call, exactNumber));
    if (typeof said === "boolean") return { id, said };
    return { id, cause: `it returned ${said instanceof Promise ? "a promise" : typeof said}, not true or false` };
  } catch (thrown) {
    return { id, cause: `it threw: ${textOf(thrown)}` };
  }
}

function load(source: string): Promise<Loaded> {
  const script = stripTypeScriptTypes(source);
  return import(`data:text/javascript,${encodeURIComponent(script)}`) as Promise<Loaded>; // a module's namespace
}

/**
 * A number that a double cannot represent exactly is passed as its source text: a string is safer than a wrong amount.
 */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return exact ? value : context.source;
}

function textOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : "a value that is not an error";
  // An import error names the importing module by its `data:` URL, which is the whole program text: left out.
  return text
    .replace(/\s+/g, " ")
    .replace(/ from "data:.*/, "")
    .slice(0, programCauseMax);
}
