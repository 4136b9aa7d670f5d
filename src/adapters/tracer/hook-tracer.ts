/**
 * Evidence from hooks in the server's own process: the weakest kind, used where no other tracer is available (tier C).
 * A server can leave acts out, invent them, or damage the file; the record is therefore graded as the server's own
 * claim.
 */
import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { effectActions } from "../../core/isolation/effect-trace.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Sighting, Tracer } from "../projection/parts.ts";
import { hookFileVariable, nodeHook, pythonHook } from "./hook-scripts.ts";
import { sightingsWaitingMax, traceLineBytesMax, traceTextBytesMax, traceTextTotalBytesMax } from "./tracer-limits.ts";
import { shortened } from "./record.ts";

/** Runtimes that can be hooked: Node from 24 on, and Python from 3.8 on. */
export type HookedRuntime = "node" | "python";

export type HookOptions = {
  /** The record. */
  readonly file: string;
  /** Private folder for the hooks; the server must be able to read it. */
  readonly folder: string;
  readonly runtime: HookedRuntime;
  /** The server's environment, to which the hooks are prepended. */
  readonly environment: Readonly<Record<string, string>>;
};

/** Writes the hook and returns the variables to add to the server's environment. The error is a sentence. */
export function hookEnvironment(options: HookOptions): Result<Readonly<Record<string, string>>, string> {
  const { environment, file } = options;
  try {
    mkdirSync(options.folder, { recursive: true });
    if (options.runtime === "node") {
      const script = join(options.folder, "hook.mjs");
      writeFileSync(script, nodeHook, { mode: 0o644 });
      const given = environment["NODE_OPTIONS"];
      const ours = `--permission-audit --import=${JSON.stringify(script)}`;
      return ok({ [hookFileVariable]: file, NODE_OPTIONS: given === undefined ? ours : `${ours} ${given}` });
    }
    writeFileSync(join(options.folder, "sitecustomize.py"), pythonHook, { mode: 0o644 });
    const given = environment["PYTHONPATH"];
    const path = given === undefined || given === "" ? options.folder : `${options.folder}${delimiter}${given}`;
    return ok({ [hookFileVariable]: file, PYTHONPATH: path });
  } catch {
    return err("The hooks for the server could not be written. Check the space and permissions of the runtime folder.");
  }
}

/**
 * Creates the record and makes a tracer that reads it. `user`: user id of the server, if it differs from the gateway's.
 */
export function hookTracer(file: string, user?: number): Result<Tracer, string> {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    if (user !== undefined) fchownSync(fd, user, user);
    return ok(new HookTracer(fd));
  } catch {
    if (fd !== undefined) closeSync(fd);
    return err("The record for the hooks could not be made. Check the space and permissions of the runtime folder.");
  }
}

class HookTracer implements Tracer {
  readonly #fd: number;
  readonly #buffer = Buffer.alloc(64 << 10);
  #position = 0;
  #rest = "";
  #open = true;
  lost = 0;
  failure: string | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  drain(): readonly Sighting[] {
    if (!this.#open || this.failure !== undefined) return [];
    const sightings: Sighting[] = [];
    try {
      this.#checkSize();
      for (let read = 0; read < traceTextBytesMax;) {
        const length = readSync(this.#fd, this.#buffer, 0, this.#buffer.length, this.#position);
        if (length === 0) break;
        read += length;
        this.#position += length;
        this.#take(this.#buffer.toString("utf8", 0, length), sightings);
      }
    } catch {
      this.failure = "The record of the server's hooks could not be read. Start the run again.";
    }
    return sightings;
  }

  close(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }

  #checkSize(): void {
    const size = fstatSync(this.#fd).size;
    // The file is the server's to write, so it may also cut it short or flood it.
    if (size < this.#position) this.failure = "The server cut the record of its hooks short. Do not trust it.";
    else if (size > traceTextTotalBytesMax) {
      this.failure = "The server wrote more to the record of its hooks than it can hold. Start the run again.";
    }
  }

  #take(text: string, sightings: Sighting[]): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > traceLineBytesMax) {
      this.#rest = "";
      this.lost += 1;
    }
    const at = performance.now();
    for (const line of lines) {
      const sighting = line.length > traceLineBytesMax ? undefined : parseHookLine(line, at);
      if (sighting === undefined || sightings.length >= sightingsWaitingMax) this.lost += 1;
      else sightings.push(sighting);
    }
  }
}

const texts = ["path", "target", "domain", "address", "program", "commandLine", "detail"] as const;
const transports = ["tcp", "udp", "unix"] as const;

/** Parses one line of a hook; undefined if it is invalid. Never throws: the server may have written the line. */
export function parseHookLine(line: string, at: number): Sighting | undefined {
  const value = parsed(line);
  if (value === undefined) return undefined;
  const action = effectActions.find((one) => one === value["action"]);
  if (action === undefined) return undefined;
  const given = texts.flatMap((name) => {
    const text = value[name];
    return typeof text === "string" && text !== "" ? [[name, shortened(text)] as const] : [];
  });
  const [port, owner] = [value["port"], value["process"]];
  const transport = transports.find((one) => one === value["transport"]);
  return {
    at,
    action,
    // Hooks report before the act.
    outcome: "unknown",
    grade: "self",
    ...Object.fromEntries(given),
    ...(isCount(port, 65_535) ? { port } : {}),
    ...(isCount(owner, 2 ** 31) ? { process: owner } : {}),
    ...(transport === undefined ? {} : { transport }),
  };
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object of unknown things, each checked at its use
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}
