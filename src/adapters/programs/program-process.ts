/**
 * Asks programs of rules, one call at a time. A program that takes too long loses its process, and the next call gets a
 * new one; an answer that does not come is an error with its cause, which the rule turns into a refusal.
 */
import type { ChildProcess } from "node:child_process";
import { fork, spawnSync } from "node:child_process";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProgramContext } from "../../core/program-question.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { programHeapMegabytesMax, programMsMax, programStartMsMax } from "./limits.ts";
import type { ProgramOrder, ProgramReply } from "./program-order.ts";
import { lateCause } from "./program-order.ts";

/** Whether the call is refused; the error is why nobody knows. */
export type ProgramAnswer = Result<boolean, string>;

export type Program = Pick<ProgramContext, "program" | "name" | "source">;

type Waiting = { readonly order: ProgramOrder; readonly settle: (answer: ProgramAnswer) => void };

const gone = "it ended the process that it ran in";

const main = fileURLToPath(new URL(`./program-main${extname(import.meta.url)}`, import.meta.url));

/** It may read this package, which Node needs to start it, and neither write, nor start a process, nor load native code. */
const flags = [
  "--permission",
  "--allow-worker",
  `--allow-fs-read=${join(import.meta.dirname, "../../..")}`,
  `--max-old-space-size=${programHeapMegabytesMax}`,
];

/** For a gateway, which has other things to do meanwhile. */
export class ProgramProcess {
  #child: ChildProcess | undefined;
  /** It has answered before, so that it need not start first. */
  #warm = false;
  /** The first one is with the process. */
  readonly #waiting: Waiting[] = [];
  /** Runs for the first one. */
  #timer: NodeJS.Timeout | undefined;
  #ids = 0;

  /** Whether a program refuses a call; without one it is only loaded. One program's time is not taken from another's. */
  ask(program: Program, call?: string): Promise<ProgramAnswer> {
    return new Promise((settle) => {
      this.#ids += 1;
      this.#waiting.push({ order: orderOf(program, this.#ids, call), settle });
      if (this.#waiting.length === 1) this.#next();
    });
  }

  /** Ends the process. The next question starts another. */
  close(): void {
    const child = this.#child;
    this.#child = undefined;
    this.#warm = false;
    child?.kill("SIGKILL");
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      // Nobody waits for it, so it keeps nobody from ending.
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

/** For a command, which has nothing else to do; never for a gateway that serves. */
export function askProgramNow(program: Program, call?: string): ProgramAnswer {
  const ran = spawnSync(process.execPath, [...flags, main], {
    env: {},
    input: JSON.stringify(orderOf(program, 0, call)),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
    timeout: programMsMax + programStartMsMax,
    killSignal: "SIGKILL",
  });
  // Our own process wrote it, and wrote nothing else.
  return ran.stdout === "" || ran.error !== undefined ? err(gone) : answerOf(JSON.parse(ran.stdout) as ProgramReply);
}

function orderOf({ program, source, name }: Program, id: number, call: string | undefined): ProgramOrder {
  return { id, program, source, name, ...(call === undefined ? {} : { call }) };
}

function answerOf(reply: ProgramReply): ProgramAnswer {
  return "cause" in reply ? err(reply.cause) : ok(reply.said);
}
