/** Servers that ended before they said a word, for reports: each with the reason of its last attempt, until one starts. */

/** Servers that are remembered; a shim names its own, so their number is the client's choice. */
const rememberedMax = 256;

export type StartFailure = { readonly server: string; readonly why: string };

export class StartFailures {
  readonly #reasons = new Map<string, string>();

  /** True if this is news: the server failed for another reason before, or had not failed. */
  note(server: string, why: string): boolean {
    const known = this.#reasons.get(server);
    this.#reasons.delete(server);
    const oldest = this.#reasons.keys().next();
    if (this.#reasons.size >= rememberedMax && oldest.done !== true) this.#reasons.delete(oldest.value);
    this.#reasons.set(server, why);
    return known !== why;
  }

  started(server: string): void {
    this.#reasons.delete(server);
  }

  all(): readonly StartFailure[] {
    return [...this.#reasons].map(([server, why]) => ({ server, why }));
  }
}
