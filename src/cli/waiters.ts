/** People who watch at a terminal (`approve --watch`): they see what waits and answer within the hold. */
import type { Json } from "../core/json.ts";
import type { ApprovalCard, ApprovalChoice, Human, Ruling } from "../gateway/services-port.ts";

type Open = { readonly card: ApprovalCard; readonly answer: (ruling: Ruling) => void };

export class Waiters implements Human {
  readonly #watchers = new Set<(card: Json) => void>();
  readonly #open = new Map<string, Open>();
  readonly #tell: (text: string) => void;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** Asks whoever watches; `absent` at once when nobody does, and when the hold is over or the card is withdrawn. */
  ask(card: ApprovalCard, holdMs: number, withdrawn?: AbortSignal): Promise<Ruling> {
    if (this.#watchers.size === 0) return Promise.resolve("absent");
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer("absent"), holdMs);
      const withdraw = (): void => {
        answer("absent");
        for (const show of this.#watchers) show({ withdrawn: card.approval });
      };
      const answer = (ruling: Ruling): void => {
        clearTimeout(timer);
        withdrawn?.removeEventListener("abort", withdraw);
        // The same call may have come twice, and the second card stands in the place of the first.
        if (this.#open.get(card.approval) === open) this.#open.delete(card.approval);
        resolve(ruling);
      };
      const open: Open = { card, answer };
      withdrawn?.addEventListener("abort", withdraw);
      this.#open.set(card.approval, open);
      for (const show of this.#watchers) show(cardOf(card));
    });
  }

  /** For the record, and for whoever watches: a quarantine or a debt is of no use in a file that nobody reads. */
  notify(text: string): void {
    this.#tell(text);
    for (const show of this.#watchers) show({ notice: text });
  }

  /** Somebody watches until the signal; what waits already is shown at once. */
  watch(show: (card: Json) => void, signal: AbortSignal): Promise<void> {
    this.#watchers.add(show);
    for (const { card } of this.#open.values()) show(cardOf(card));
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        this.#watchers.delete(show);
        if (this.#watchers.size === 0) for (const { answer } of this.#open.values()) answer("absent");
        resolve();
      });
    });
  }

  /** Answers a call that is held right now; false if none is held under this id. */
  rule(approval: string, choice: ApprovalChoice, by: string): boolean {
    const open = this.#open.get(approval);
    open?.answer({ choice, by });
    return open !== undefined;
  }
}

/** What a person needs; digests of values say nothing to anybody. */
function cardOf({ endorses: _endorses, ...card }: ApprovalCard): Json {
  return { ...card, id: card.approval, lines: [...card.lines], risks: [...card.risks], choices: [...card.choices] };
}
