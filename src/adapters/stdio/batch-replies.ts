import type { ErrorMessage, RequestId, ResponseMessage } from "../../wire/message.ts";

type Reply = ResponseMessage | ErrorMessage;
type Open = { readonly waiting: Set<RequestId>; readonly replies: Reply[] };

/**
 * Answers to the requests of a batch (revision 2025-03-26): collected until the last one came, then written as one
 * array. The number of open batches is bounded by the requests in flight, each of which belongs to at most one batch.
 */
export class BatchReplies {
  readonly #open = new Map<RequestId, Open>();

  /**
   * Starts a batch: `ids` await an answer, `refused` are answers that are known already. Returns a batch that is
   * complete.
   */
  begin(ids: readonly RequestId[], refused: readonly Reply[]): readonly Reply[] | undefined {
    if (ids.length === 0) return refused.length === 0 ? undefined : refused;
    const open: Open = { waiting: new Set(ids), replies: [...refused] };
    for (const id of ids) this.#open.set(id, open);
    return undefined;
  }

  /** Takes an answer. `apart`: it belongs to no batch; `held`: others are missing; an array: the batch is complete. */
  take(reply: Reply): "apart" | "held" | readonly Reply[] {
    if (this.#open.size === 0 || reply.id === null) return "apart";
    const open = this.#open.get(reply.id);
    if (open === undefined) return "apart";
    this.#open.delete(reply.id);
    open.waiting.delete(reply.id);
    open.replies.push(reply);
    return open.waiting.size === 0 ? open.replies : "held";
  }
}
