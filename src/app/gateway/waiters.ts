/** Watchers at a terminal (`approve --watch`): they see the waiting cards and answer within the hold. */
import { spawn } from "node:child_process";
import type { Watched } from "./control-contract.ts";
import type { ApprovalCard, Human, Ruling } from "../../gateway/ports/services.ts";

type Open = {
  readonly card: ApprovalCard;
  readonly answer: (ruling: Ruling) => void;
  /** Whether it waits although no approver watches: its client shows a form meanwhile. */
  readonly waits: () => boolean;
};

/** Variables that a program needs to reach the user's desktop. */
const desktopVariables = [
  "PATH",
  "HOME",
  "LANG",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
];

/** Time between two starts of the program: an agent must not flood a desktop by asking in a loop. */
const notifyEveryMs = 2_000;

/** Time that the program gets. */
const notifyMsMax = 10_000;

export class Waiters implements Human {
  #notifiedAtMs = -Infinity;
  readonly #watchers = new Set<(part: Watched) => void>();
  readonly #open = new Map<string, Open>();
  readonly #tell: (text: string) => void;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /**
   * Asks the watchers; `absent` when the hold is over or the card is withdrawn, and without watchers at once, or as soon
   * as `unwatched` is aborted.
   */
  ask(card: ApprovalCard, holdMs: number, withdrawn?: AbortSignal, unwatched?: AbortSignal): Promise<Ruling> {
    const waits = (): boolean => unwatched?.aborted === false;
    if (this.#watchers.size === 0 && !waits()) return Promise.resolve("absent");
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer("absent"), holdMs);
      const withdraw = (): void => {
        answer("absent");
        for (const show of this.#watchers) show({ withdrawn: card.approval });
      };
      const leave = (): void => {
        if (this.#watchers.size === 0) answer("absent");
      };
      const answer = (ruling: Ruling): void => {
        clearTimeout(timer);
        withdrawn?.removeEventListener("abort", withdraw);
        unwatched?.removeEventListener("abort", leave);
        // The same call may have come twice, and the second card stands in the place of the first.
        if (this.#open.get(card.approval) === open) this.#open.delete(card.approval);
        resolve(ruling);
      };
      const open: Open = { card, answer, waits };
      withdrawn?.addEventListener("abort", withdraw);
      unwatched?.addEventListener("abort", leave);
      this.#open.set(card.approval, open);
      for (const show of this.#watchers) show(cardOf(card));
    });
  }

  /** For the record, and for the watchers: the notice of a quarantine or a debt must not stay unread in a file. */
  notify(text: string): void {
    this.#tell(text);
    for (const show of this.#watchers) show({ notice: text });
  }

  /** Starts the program with the title as its last argument, without a shell; a failure is reported and harms nothing. */
  waiting(title: string, [program = "", ...words]: readonly string[]): void {
    const now = performance.now();
    if (now - this.#notifiedAtMs < notifyEveryMs) return;
    this.#notifiedAtMs = now;
    const names = desktopVariables.flatMap((name) => (process.env[name] === undefined ? [] : [name]));
    const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    const started = spawn(program, [...words, title], { env, stdio: "ignore", timeout: notifyMsMax });
    started.on("error", (cause) =>
      this.#tell(`The program of \`approvals.notify\` cannot be started (${cause.message}): correct its path.`),
    );
    started.unref();
  }

  /** Adds a watcher until the signal; cards that wait already are shown at once. */
  watch(show: (part: Watched) => void, signal: AbortSignal): Promise<void> {
    this.#watchers.add(show);
    for (const { card } of this.#open.values()) show(cardOf(card));
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        this.#watchers.delete(show);
        if (this.#watchers.size === 0)
          for (const { answer, waits } of this.#open.values()) if (!waits()) answer("absent");
        resolve();
      });
    });
  }

  /** Answers a call that is held right now; false if none is held under this id. */
  rule(approval: string, ruling: Exclude<Ruling, "absent">): boolean {
    const open = this.#open.get(approval);
    open?.answer(ruling);
    return open !== undefined;
  }
}

/** The card as a watcher gets it; digests of values are of no use to a reader. */
function cardOf({ endorses: _endorses, ...card }: ApprovalCard): Watched {
  return { ...card, id: card.approval };
}
