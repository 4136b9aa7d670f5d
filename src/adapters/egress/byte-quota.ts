/**
 * Bytes that may pass, both ways together. Bytes that pass while calls are in flight count for each of them: the broker
 * cannot know which call a connection serves, so in doubt a call has less left, not more.
 */
export type QuotaRule = "egress-call-bytes" | "egress-server-bytes";

export class ByteQuota {
  readonly #callBytesMax: number;
  readonly #serverBytesMax: number;
  readonly #calls = new Map<string, number>();
  #server = 0;
  #exhausted: QuotaRule | undefined;

  constructor(callBytesMax: number, serverBytesMax: number) {
    this.#callBytesMax = callBytesMax;
    this.#serverBytesMax = serverBytesMax;
  }

  /** Set once bytes were refused, until the calls in flight then have ended; nothing passes meanwhile. */
  get exhausted(): QuotaRule | undefined {
    return this.#exhausted;
  }

  begin(call: string): void {
    if (!this.#calls.has(call)) this.#calls.set(call, 0);
  }

  end(call: string): void {
    const used = this.#calls.get(call) ?? 0;
    this.#calls.delete(call);
    const last = ![...this.#calls.values()].some((bytes) => bytes > this.#callBytesMax);
    if (this.#exhausted === "egress-call-bytes" && used > this.#callBytesMax && last) this.#exhausted = undefined;
  }

  /** Counts bytes before they pass. If it returns a rule, neither these bytes nor any later ones may pass. */
  take(bytes: number): QuotaRule | undefined {
    if (this.#exhausted !== undefined) return this.#exhausted;
    this.#server += bytes;
    for (const [call, used] of this.#calls) {
      this.#calls.set(call, used + bytes);
      if (used + bytes > this.#callBytesMax) this.#exhausted = "egress-call-bytes";
    }
    if (this.#server > this.#serverBytesMax) this.#exhausted = "egress-server-bytes";
    return this.#exhausted;
  }
}
