/**
 * A recorded run as a trace (system.md 6), to be kept, changed or decided elsewhere. Unlike the log it holds arguments
 * and results in the clear.
 */
import { writeFileSync } from "node:fs";
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { CallOption } from "../../core/moment.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { isJoined } from "../../gateway/runs/restrictive-images.ts";
import type { RecordedEntry } from "../../gateway/log/run-history.ts";
import { shortPath } from "../state/sentences.ts";
import { whyUnwritten } from "../state/text-file.ts";
import { listedAs } from "./believed.ts";

export type SavedTrace = {
  readonly trace: JsonObject;
  readonly steps: number;
  /** Steps that are calls: what `replay` decides and counts. Others are instructions and ends of the run. */
  readonly calls: number;
  /** Calls that a trace cannot say: of other methods than `tools/call`, or of the client's own tools. */
  readonly leftOut: number;
};

/** Never overwrites a file, and no other user can read the new one. */
export function writeTrace(file: string, trace: JsonObject): Result<void, string> {
  try {
    writeFileSync(file, `${JSON.stringify(trace, undefined, 2)}\n`, { flag: "wx", mode: 0o600 });
    return ok(undefined);
  } catch (cause) {
    const there = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const why = there ? "is there already" : `cannot be written (${whyUnwritten(cause)})`;
    return err(`${shortPath(file)} ${why}: name a new file.`);
  }
}

type Step = Record<string, Json>;

/** A tool as far as the record still says, and the digest of the whole entry, to which packs are tied. */
type Listed = { readonly entry: JsonObject; readonly digest: string | undefined };

function serverOf(tools: readonly (readonly [string, Listed])[]): JsonObject {
  const digests = tools.flatMap(([tool, { digest }]) => (digest === undefined ? [] : [[tool, digest] as const]));
  const listed = tools.map(([, { entry }]) => entry);
  return digests.length === 0 ? { tools: listed } : { tools: listed, digests: Object.fromEntries(digests) };
}

/** A call of the run, dispatched or refused. */
type Asked = Pick<Extract<RunEvent, { kind: "refused" }>, "call" | "server" | "tool"> & {
  readonly method: string | undefined;
  readonly arguments: Json | undefined;
  readonly option?: CallOption;
};

/** A trace in the making: takes the events of a run, in order. */
export class TraceWriter {
  readonly #steps: Step[] = [];
  readonly #byCall = new Map<string, Step>();
  readonly #tools = new Map<string, Map<string, Listed>>();
  #calls = 0;
  #leftOut = 0;

  saved(): SavedTrace {
    const servers = [...this.#tools].map(([server, tools]) => [server, serverOf([...tools])] as const);
    const trace = { version: 1, servers: Object.fromEntries(servers), steps: this.#steps };
    return { trace, steps: this.#steps.length, calls: this.#calls, leftOut: this.#leftOut };
  }

  add(entry: RecordedEntry, event: RunEvent): void {
    switch (event.kind) {
      case "registered":
        if (event.text.source === "instruction" && typeof event.text.value === "string") {
          this.#steps.push({ user: event.text.value });
        }
        return;
      case "dispatched":
        if (!isJoined(entry.events, event.call)) this.#call(entry, { ...event, ...event.option.class });
        return;
      case "refused": {
        const { details } = entry;
        const method = stringMember(details, "method");
        return this.#call(entry, { ...event, method, arguments: member(details, "arguments") });
      }
      case "failed":
        this.#set(event.call, "isError", true);
        return;
      case "released":
        if (event.call !== undefined && event.value !== undefined) this.#set(event.call, "result", event.value);
        return;
      case "ended":
        this.#steps.push({ run: "new" });
        return;
      case "begun":
      case "succeeded":
      case "unknown":
      case "foreseen":
      case "granted":
        return;
    }
  }

  #call({ decision }: RecordedEntry, { call, server, tool, method, arguments: given, option }: Asked): void {
    if (method !== "tools/call" || !isObject(given)) {
      this.#leftOut += 1;
      return;
    }
    this.#list(server, tool, (option ?? decision?.option)?.contract);
    const step: Step = { server, tool, arguments: given };
    this.#steps.push(step);
    this.#calls += 1;
    this.#byCall.set(call, step);
  }

  #list(server: string, tool: string, contract: ToolContract | undefined): void {
    let tools = this.#tools.get(server);
    if (tools === undefined) this.#tools.set(server, (tools = new Map<string, Listed>()));
    if (contract === undefined && tools.has(tool)) return;
    tools.set(tool, { entry: listedAs(tool, contract), digest: contract?.toolDigest });
  }

  #set(call: string, name: string, value: Json): void {
    const step = this.#byCall.get(call);
    if (step !== undefined) step[name] = value;
  }
}
