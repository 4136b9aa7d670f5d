/** Which run and call a task of a server belongs to. A task id is a name the model sees, so it never grants access. */
import type { ToolContract } from "../core/contract.ts";
import type { CallOption } from "../core/moment.ts";
import type { Answers } from "../core/opinion.ts";
import { runTasksMax } from "./limits.ts";

export type TaskEntry = {
  readonly run: string;
  readonly server: string;
  readonly task: string;
  readonly call: string;
  readonly method: string;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  /** What its call may touch, where it runs in a projection. */
  readonly scope: string | undefined;
  /** What the call did in its projection, once the task is over. */
  known?: Promise<Answers> | undefined;
  /** True once the outcome of the call is on record. */
  settled: boolean;
};

export class TaskTable {
  readonly #byRun = new Map<string, Map<string, TaskEntry>>();
  /** How many runs own a task of each name: a server may name one in every message, and runs are many. */
  readonly #owners = new Map<string, number>();

  /** False when the run owns too many tasks, or this one belongs to another call: its label would be that call's. */
  add(entry: TaskEntry): boolean {
    let own = this.#byRun.get(entry.run);
    if (own === undefined) this.#byRun.set(entry.run, (own = new Map()));
    const key = `${entry.server} ${entry.task}`;
    if (own.has(key) || (own.size >= runTasksMax && !this.#makeRoom(own))) return false;
    own.set(key, entry);
    this.#owners.set(key, (this.#owners.get(key) ?? 0) + 1);
    return true;
  }

  /** The oldest task that is over can be asked for no more. */
  #makeRoom(own: Map<string, TaskEntry>): boolean {
    for (const [key, { settled }] of own) {
      if (!settled) continue;
      own.delete(key);
      this.#disown(key);
      return true;
    }
    return false;
  }

  #disown(key: string): void {
    const left = (this.#owners.get(key) ?? 1) - 1;
    if (left > 0) this.#owners.set(key, left);
    else this.#owners.delete(key);
  }

  /** The task if this run owns it; a foreign one is not found. */
  find(run: string, server: string, task: string): TaskEntry | undefined {
    return this.#byRun.get(run)?.get(`${server} ${task}`);
  }

  /** Whether a run other than this one owns a task of this name, whose text is none of its business. */
  isForeign(run: string, server: string, task: string): boolean {
    if (this.find(run, server, task) !== undefined) return false;
    return this.#owners.has(`${server} ${task}`);
  }

  forget(run: string): void {
    for (const key of this.#byRun.get(run)?.keys() ?? []) this.#disown(key);
    this.#byRun.delete(run);
  }
}
