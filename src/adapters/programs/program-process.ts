/**
 * Asks programs of rules, one call at a time. A program that takes too long loses its process, and the next call gets a
 * new one; an answer that does not come is an error with its cause, which the rule turns into a refusal.
 */
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProgramContext } from "../../core/questions/program-question.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { programHeapMegabytesMax, programMsMax, programStartMsMax } from "./program-limits.ts";
import { type ProgramOrder, type ProgramReply, lateCause } from "./program-order.ts";

/** True if the program refuses the call. The error is the reason why the program gave no answer. */
export type ProgramAnswer = Result<boolean, string>;

export type Program = Pick<ProgramContext, "program" | "name" | "source">;

type Waiting = { readonly order: ProgramOrder; readonly settle: (answer: ProgramAnswer) => void };

const gone = "it ended the process that it ran in";

const main = fileURLToPath(new URL(`./program-main${extname(import.meta.url)}`, import.meta.url));

/**
 * Permissions of the child: it may read this package, which Node needs to start it. It may not write files, start a
 * process or load native code.
 */
const flags = [
  "--permission",
  "--allow-worker",
  `--allow-fs-read=${join(import.meta.dirname, "../../..")}`,
  `--max-old-space-size=${programHeapMegabytesMax}`,
];

/** Asks programs asynchronously, for a gateway that serves other calls meanwhile. */
export class ProgramProcess {
  #child: ChildProcess | undefined;
  /** True once the child has answered: the time limit then includes no start-up time. */
  #warm = false;
  /** Questions in order; the child process works on the first one. */
  readonly #waiting: Waiting[] = [];
  /** Time limit of the first question. */
  #timer: NodeJS.Timeout | undefined;
  #ids = 0;

  /**
   * Resolves with true if the program refuses the call; without `call` the program is only loaded. Each question has a
   * time limit of its own.
   */
  ask(program: Program, call?: string): Promise<ProgramAnswer> {
    return new Promise((settle) => {
      this.#ids += 1;
      this.#waiting.push({ order: orderOf(program, this.#ids, call), settle });
      if (this.#waiting.length === 1) this.#next();
    });
  }

  /** Kills the child process. The next question starts a new one. */
  close(): void {
    const child = this.#child;
    this.#child = undefined;
    this.#warm = false;
    child?.kill("SIGKILL");
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      // No question is pending, so the child must not keep this process alive.
      this.#child?.unref();
      this.#child?.channel?.unref();
      return;
    }
    const child = (this.#child ??= this.#start());
    child.ref();
    child.channel?.ref();
    const limitMs = this.#warm ? programMsMax : programMsMax + programStartMsMax;
    this.#timer = setTimeout(() => this.#lost(child, lateCause), limitMs);
    child.send(first.order, (fault) => {
      if (fault !== null) this.#lost(child, gone);
    });
  }

  #start(): ChildProcess {
    const child = fork(main, [], { execArgv: flags, env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.on("message", (reply: ProgramReply) => {
      if (this.#child !== child || this.#waiting[0]?.order.id !== reply.id) return;
      this.#warm = true;
      this.#settle(answerOf(reply));
    });
    child.on("error", () => this.#lost(child, "the process for it cannot be started"));
    child.on("exit", () => this.#lost(child, gone));
    return child;
  }

  #lost(child: ChildProcess, cause: string): void {
    if (this.#child !== child) return;
    this.close();
    this.#settle(err(cause));
  }

  #settle(answer: ProgramAnswer): void {
    clearTimeout(this.#timer);
    const first = this.#waiting.shift();
    this.#next();
    first?.settle(answer);
  }
}

/** Asks one question synchronously: for a command-line command only, never for a serving gateway. */
export function askProgramNow(program: Program, call?: string): ProgramAnswer {
  const ran = spawnSync(process.execPath, [...flags, main], {
    env: {},
    input: JSON.stringify(orderOf(program, 0, call)),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
    timeout: programMsMax + programStartMsMax,
    killSignal: "SIGKILL",
  });
  // Our own process wrote the text and writes nothing else.
  return ran.stdout === "" || ran.error !== undefined ? err(gone) : answerOf(JSON.parse(ran.stdout) as ProgramReply);
}

function orderOf({ program, source, name }: Program, id: number, call: string | undefined): ProgramOrder {
  return { id, program, source, name, ...(call === undefined ? {} : { call }) };
}

function answerOf(reply: ProgramReply): ProgramAnswer {
  return "cause" in reply ? err(reply.cause) : ok(reply.said);
}
