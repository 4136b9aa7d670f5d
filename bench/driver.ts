import type { ChildProcess } from "node:child_process";
import { Agent, request } from "node:http";

/** A raw JSON-RPC client: no library between the benchmark and the subject. */
export type Driver = {
  /** Sends one request and resolves with the milliseconds until its whole answer lay here. */
  readonly ask: (method: string, params: object, bytesMin: number) => Promise<number>;
  readonly notify: (method: string) => Promise<void>;
  readonly close: () => void;
};

/** An answer that never comes fails the run and does not hang it. */
const answerMsMax = 60_000;
/** Id and error flags stand at the ends of an answer; the text between is not worth parsing. */
const endBytes = 200;

function ends(answer: Buffer): string {
  return answer.length < 2 * endBytes
    ? answer.toString("latin1")
    : answer.toString("latin1", 0, endBytes) + answer.toString("latin1", answer.length - endBytes);
}

/** A refusal is quick and small: measuring it for an answer would flatter the subject. */
function check(answer: Buffer, bytesMin: number): void {
  const shown = ends(answer);
  if (answer.length >= bytesMin && !shown.includes('"isError":true') && !shown.includes('"error":{')) return;
  throw new Error(`the answer is an error or too short: ${shown.slice(0, 300)}`);
}

function idOf(answer: Buffer): number | undefined {
  const found = /"id":(\d+)[,}]/.exec(ends(answer))?.[1];
  return found === undefined ? undefined : Number(found);
}

type Waiting = {
  readonly bytesMin: number;
  readonly started: number;
  readonly resolve: (ms: number) => void;
  readonly reject: (cause: Error) => void;
};

export function stdioDriver(child: ChildProcess): Driver {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("the subject needs pipes");
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let parts: Buffer[] = [];

  function receive(line: Buffer): void {
    const id = idOf(line) ?? -1;
    const asked = waiting.get(id);
    if (asked === undefined) return;
    waiting.delete(id);
    try {
      check(line, asked.bytesMin);
      asked.resolve(performance.now() - asked.started);
    } catch (cause) {
      asked.reject(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  stdout.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      receive(Buffer.concat([...parts, chunk.subarray(start, end)]));
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
  child.once("close", () => {
    for (const asked of waiting.values()) asked.reject(new Error("the subject ended"));
  });

  return {
    ask: (method, params, bytesMin) => {
      const id = (lastId += 1);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer to ${method} in time`)), answerMsMax);
        const settle = (ms: number): void => {
          clearTimeout(timer);
          resolve(ms);
        };
        waiting.set(id, { bytesMin, started: performance.now(), resolve: settle, reject });
        stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      });
    },
    notify: async (method) => void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method })}\n`),
    close: () => stdin.end(),
  };
}

export function httpDriver(url: string): Driver {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const target = new URL(url);
  let session: string | undefined;
  let lastId = 0;

  function post(message: object): Promise<Buffer> {
    const body = JSON.stringify(message);
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      "content-length": Buffer.byteLength(body),
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(target, { method: "POST", agent, headers, timeout: answerMsMax }, (incoming) => {
        const given = incoming.headers["mcp-session-id"];
        if (typeof given === "string") session = given;
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () => resolve(Buffer.concat(chunks)));
        incoming.on("error", reject);
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  return {
    ask: async (method, params, bytesMin) => {
      const id = (lastId += 1);
      const started = performance.now();
      const answer = await post({ jsonrpc: "2.0", id, method, params });
      const taken = performance.now() - started;
      check(answer, bytesMin);
      return taken;
    },
    notify: async (method) => void (await post({ jsonrpc: "2.0", method })),
    close: () => agent.destroy(),
  };
}
