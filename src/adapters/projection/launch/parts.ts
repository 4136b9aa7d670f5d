/** The parts of a launch as they are started, so that all of them end if one fails. */
import { ok, type Result } from "../../../core/result.ts";
import type { ServerProcess } from "../../process/server-process.ts";
import type { PreparedWorkspace } from "../../workspace/workspace-order.ts";
import type { LaunchOrder } from "./launch-order.ts";
import { watchLimits } from "../session/kernel-limits.ts";
import type { InMemory } from "../session/memory-folders.ts";
import type { Broker, Launched, LimitWatch, Tracer, WorkspaceProjection } from "../parts.ts";
import { countsEveryMs } from "../session/session-limits.ts";

export class Joined {
  tracer: Tracer | undefined;
  broker: Broker | undefined;
  workspace: WorkspaceProjection | undefined;
  limits: LimitWatch | undefined;
  readonly #server: ServerProcess;
  readonly #undo: (() => void)[] = [];
  #ended = false;

  constructor(server: ServerProcess) {
    this.#server = server;
    void server.ended.then(() => (this.#ended = true));
  }

  onAbandon(undo: () => void): void {
    this.#undo.push(undo);
  }

  /**
   * Opens the workspace inside of the mounts, if there is one, and watches the limits from then on. The error is a
   * sentence.
   */
  async open(
    plan: LaunchOrder,
    workspace: PreparedWorkspace | undefined,
    inMemory?: InMemory,
  ): Promise<Result<void, string>> {
    const opened = await workspace?.open(this.#server.processGroup);
    if (opened?.ok === false) return opened;
    this.workspace = opened?.value;
    this.watch(plan, inMemory);
    return ok(undefined);
  }

  watch({ order, support }: LaunchOrder, inMemory?: InMemory): void {
    const [server, { limits }, now] = [this.#server, order.scope, (): number => performance.now()];
    this.limits = watchLimits({ pid: server.processGroup, limits, server, now, cgroup: support.cgroup, inMemory });
  }

  /** Releases all parts after a failed start. */
  async abandon(): Promise<void> {
    this.#kill();
    this.tracer?.close();
    this.broker?.close();
    this.limits?.close();
    for (const undo of this.#undo) undo();
    await this.#server.ended;
    await this.workspace?.close();
  }

  launched(facts: Pick<Launched, "tier" | "notes" | "places">): Launched {
    const { tracer, broker, workspace } = this;
    const limits = withQuota(this.limits, workspace);
    return { ...facts, process: this.#server, tracer, broker, workspace, limits, kill: () => this.#kill() };
  }

  /** Ends the chain; everything in the projection ends with its first process. */
  #kill(): void {
    // After the end its pid may belong to another process.
    if (this.#ended) return;
    try {
      process.kill(-this.#server.processGroup, "SIGKILL");
    } catch {
      // Gone in this instant.
    }
  }
}

/** Adds a sighting of a limit, once each time that the workspace becomes full. */
export function withQuota(
  limits: LimitWatch | undefined,
  workspace: WorkspaceProjection | undefined,
  now: () => number = () => performance.now(),
): LimitWatch | undefined {
  if (limits === undefined || workspace?.isFull === undefined) return limits;
  let told = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    drain() {
      const at = now();
      if (at - lookedAt < countsEveryMs) return limits.drain();
      lookedAt = at;
      const full = workspace.isFull?.() === true;
      const fresh = full && !told;
      told = full;
      const hit = {
        at,
        action: "limit-hit",
        outcome: "denied",
        grade: "kernel",
        detail: "disk",
      } as const;
      return fresh ? [...limits.drain(), hit] : limits.drain();
    },
    close: () => limits.close(),
    get fatal() {
      return limits.fatal;
    },
  };
}
