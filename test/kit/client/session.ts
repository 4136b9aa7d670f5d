import { setTimeout as sleep } from "node:timers/promises";
import { isArray, isObject, member, type Json, type JsonObject } from "../../../src/core/json.ts";
import { parseExact } from "../server/json-rpc.ts";
import { startChild } from "./child.ts";

/** What one step of a script brought back, in order of arrival. */
export type Recorded = { readonly step: string; readonly messages: readonly Json[] };

/** How long a script waits for one step; the first one of a sandbox also starts the daemon, maybe on a busy machine. */
const stepMsMax = 20_000;
/** A surplus message would come within this time after the last expected one, in milliseconds. */
const surplusMs = 40;

/** Line JSON-RPC with one server, as raw text: no library decides what may be sent or is understood. */
export type Session = {
  /** Sends lines and waits until so many messages came back, or fails; all of them are recorded under the step's name. */
  readonly step: (name: string, lines: readonly string[], count: number) => Promise<readonly Json[]>;
  /** What the client answers to requests of the server from now on, by method. */
  readonly answerWith: (answers: JsonObject) => void;
};

export type Script = (session: Session) => Promise<void>;

/** Server requests have ids of the sender's choosing; only their order is compared. */
function neutral(message: Json, number: number): Json {
  return isObject(message) && member(message, "method") !== undefined && member(message, "id") !== undefined
    ? { ...message, id: `server-request-${number}` }
    : message;
}

/** Runs a script against the server behind a command and returns what came back. */
export async function play(command: readonly string[], script: Script, env: Readonly<Record<string, string>> = {}) {
  const child = startChild(command, env);
  const arrived: Json[] = [];
  const recorded: Recorded[] = [];
  let answers: JsonObject = {};
  let taken = 0;
  let asked = 0;
  let rest = "";

  function write(line: string): void {
    child.process.stdin?.write(`${line}\n`);
  }

  function receive(line: string): void {
    const message = parseExact(line);
    const method = member(message, "method");
    const id = member(message, "id");
    if (typeof method === "string" && id !== undefined) {
      asked += 1;
      const result = member(answers, method);
      const refusal = { code: -32601, message: "Method not found" };
      write(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error: refusal } : { result }) }));
    }
    // The answers of a batch may come in any order.
    const sorted = isArray(message) ? message.toSorted((a, b) => idText(a).localeCompare(idText(b))) : message;
    arrived.push(neutral(sorted, asked));
  }

  child.process.stdout?.setEncoding("utf8");
  child.process.stdout?.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") receive(line);
  });

  async function step(name: string, lines: readonly string[], count: number): Promise<readonly Json[]> {
    for (const line of lines) write(line);
    const until = performance.now() + stepMsMax;
    const ended = (): boolean => child.process.exitCode !== null || child.process.signalCode !== null;
    while (arrived.length < taken + count && performance.now() < until && !ended()) await sleep(2);
    await sleep(surplusMs);
    const messages = arrived.slice(taken);
    if (messages.length < count) {
      const { exitCode, signalCode } = child.process;
      const state = ended() ? `it ended with ${signalCode ?? exitCode}` : `it is silent for ${stepMsMax} ms`;
      throw new Error(`${name}: ${messages.length} of ${count} messages, then ${state}: ${child.stderr().slice(-500)}`);
    }
    taken = arrived.length;
    recorded.push({ step: name, messages });
    return messages;
  }

  try {
    await script({ step, answerWith: (given) => (answers = given) });
  } finally {
    child.process.stdin?.end();
    await child.stop();
  }
  return recorded;
}

function idText(message: Json): string {
  return JSON.stringify(member(message, "id") ?? null);
}
