import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "./connection.ts";

export type Outcomes = Readonly<Record<string, unknown>>;

const eventMsMax = 5_000;

async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  const end = performance.now() + eventMsMax;
  while (performance.now() < end) {
    if (await condition()) return true;
    await sleep(20);
  }
  return false;
}

/** A result, or what a client shows of an error: its class and code, not its stack. */
async function outcome(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return { ok: await run() };
  } catch (cause) {
    if (!(cause instanceof Error)) return { thrown: String(cause) };
    const { name, message } = cause;
    return {
      name,
      message,
      ...("code" in cause ? { code: cause.code } : {}),
      ...("data" in cause ? { data: cause.data } : {}),
    };
  }
}

/**
 * Progress and result of one call. The official clients drop progress that they read in one chunk with the answer, which
 * a busy machine makes happen with any server; so it is asked a second and third time before it counts as missing.
 */
async function progress(connection: Connection): Promise<unknown> {
  let last: unknown;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const seen: unknown[] = [];
    const result = await connection.call("test_tool_with_progress", {}, { onProgress: (step) => seen.push(step) });
    last = { result, seen };
    if (seen.length === 3) break;
  }
  return last;
}

/** Gives up a call and waits until the server knows. */
async function cancel(connection: Connection): Promise<unknown> {
  const controller = new AbortController();
  let begun = false;
  const options = { signal: controller.signal, onProgress: () => (begun = true) };
  const call = connection.call("wait", { ms: 30_000 }, options).then(
    () => "answered",
    () => "given up",
  );
  await until(() => begun);
  controller.abort("enough");
  const reached = await until(async () => {
    const count = await connection.call("count_cancelled", {});
    return JSON.stringify(count).includes('"1"');
  });
  return { call: await call, reached };
}

async function subscribe(connection: Connection): Promise<unknown> {
  const uri = "test://watched-resource";
  const updates: string[] = [];
  await connection.subscribe(uri, (updated) => updates.push(updated));
  const touched = await connection.call("touch_watched", {});
  const heard = await until(() => updates.length > 0);
  return { touched, heard, updates, now: await connection.read(uri) };
}

/** The fifteen operations that a client's user depends on, and what each of them brought. */
export async function runOperations(connection: Connection): Promise<Outcomes> {
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    "server facts": async () => connection.facts(),
    "list tools": connection.listTools,
    "list resources": connection.listResources,
    "list templates": connection.listTemplates,
    "list prompts": connection.listPrompts,
    "call ok": () => connection.call("echo", { message: "hello" }),
    "call error": () => connection.call("test_error_handling", {}),
    "call of an unknown tool": () => connection.call("no_such_tool", {}),
    "call structured": () => connection.call("add", { a: 2, b: 3 }),
    "call of one megabyte": () => connection.call("large_text", { bytes: 1_048_576 }),
    "call with progress": () => progress(connection),
    "call cancelled": () => cancel(connection),
    read: () => connection.read("test://static-text"),
    subscribe: () => subscribe(connection),
    prompt: () => connection.prompt("test_prompt_with_arguments", { arg1: "hello", arg2: "world" }),
    completion: () => connection.complete("test_prompt_with_arguments", "arg1", "par"),
    elicitation: () => connection.call("test_elicitation", { message: "Who are you?" }),
    sampling: () => connection.call("test_sampling", { prompt: "Capital of France?" }),
    roots: () => connection.call("list_client_roots", {}),
    // Over legacy HTTP the server ends the stream before its answer, and the answer waits for whoever resumes it.
    "answer after an interruption": () => connection.call("interrupt_stream", {}),
    "two rounds": () => connection.call("test_input_required_result_multi_round", {}),
  };
  const outcomes: Record<string, unknown> = {};
  for (const [name, run] of Object.entries(operations)) outcomes[name] = await outcome(run);
  return outcomes;
}
