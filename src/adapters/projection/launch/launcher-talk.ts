/** The gateway's side of the conversation with a launcher. */
import type { ChildProcess } from "node:child_process";
import { err, ok, type Result } from "../../../core/result.ts";
import { ListenerCollection } from "../../egress/listeners.ts";
import { printable } from "../../net/printable.ts";
import type { LauncherPlan, LauncherReport } from "../launcher/plan.ts";

/** Wait for an answer of a launcher, which makes its mounts and sockets in a fraction of this or fails. */
const launcherAnswerMsMax = 8_000;

/** Reason of a failed start whose launcher did not answer within that time. */
export const silentLauncher = "The launcher of the projection did not answer in time. Start again.";

const kinds: readonly unknown[] = [
  "launcher-waits",
  "launcher-ready",
  "launcher-failed",
] satisfies LauncherReport["kind"][];

export class LauncherTalk {
  readonly sockets = new ListenerCollection();
  readonly #child: ChildProcess;
  readonly #reports: LauncherReport[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (message, handle) => {
      if (!this.sockets.accept(message, handle) && isReport(message)) this.#reports.push(message);
      this.#wake?.();
    });
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    child.once("disconnect", end);
    child.once("exit", end);
  }

  /** Sends its plan to the next launcher of the chain; resolves with the launcher's final report. */
  async carryOut(
    plan: LauncherPlan,
  ): Promise<Result<Extract<LauncherReport, { kind: "launcher-ready" }> | undefined, string>> {
    const waits = await this.#next();
    if (!waits.ok) return waits;
    this.#child.send(plan);
    if (plan.kind === "stage") return ok(undefined);
    const made = await this.#next();
    if (!made.ok) return made;
    return made.value.kind === "launcher-ready" ? ok(made.value) : err("The launcher spoke out of turn. Start again.");
  }

  /** Lets the launcher become the server; resolves when it has. */
  async go(): Promise<Result<void, string>> {
    this.#child.send({ kind: "launcher-go" });
    const until = Date.now() + launcherAnswerMsMax;
    while (!this.#ended && (await this.#wait(until)));
    return this.#ended ? ok(undefined) : err("The launcher did not become the server in time. Start again.");
  }

  async #next(): Promise<Result<LauncherReport, string>> {
    const until = Date.now() + launcherAnswerMsMax;
    for (;;) {
      const report = this.#reports.shift();
      if (report?.kind === "launcher-failed") return err(printable(report.reason, 240));
      if (report !== undefined) return ok(report);
      if (this.#ended) return err("The launcher of the projection ended before its work was done. Start again.");
      if (!(await this.#wait(until))) return err(silentLauncher);
    }
  }

  /** Waits for the next message; false if the time is over. */
  #wait(until: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.max(0, until - Date.now()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

function isReport(message: unknown): message is LauncherReport {
  return typeof message === "object" && message !== null && "kind" in message && kinds.includes(message.kind);
}
