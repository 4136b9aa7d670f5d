declare const modelState: unique symbol;

/**
 * The abstract state of the formal model (formal.md 4.1). It is opaque: `policy` makes it and reads it, every other part
 * keeps it, compares it and hands it back.
 */
export type ModelState = { readonly [modelState]: never };

/**
 * A run: the unit of taint, of temporal state and of permission (gateway.md 4). `q` is the abstract state itself, so
 * prover and gateway run on the same states.
 */
export type Run = {
  readonly key: string;
  readonly q: ModelState;
  /** Memory of each mechanism, by its id. Opaque here; folding the log rebuilds it. */
  readonly memories: ReadonlyMap<string, unknown>;
};
