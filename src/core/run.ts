/**
 * A run: the unit of taint, of temporal state and of permission (design/gateway.md 4). `q` is the abstract state of
 * formal.md 4.1 itself, not a copy of it: what the verifier explores is what the gateway holds.
 */
export type Run<Q> = {
  readonly key: string;
  readonly q: Q;
  /** Memory of each mechanism by id. Opaque here; rebuilt by folding the log. */
  readonly memories: ReadonlyMap<string, unknown>;
};
