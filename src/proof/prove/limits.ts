/** Named limits of the proof engine. A question beyond one is refused with the name of the limit; no proof hangs. */

/** Nodes of one decision diagram, about 16 bytes each and as much again for its tables. */
export const diagramNodesMax = 1_000_000;

/**
 * Steps of all diagrams of one hazard, about ten million a second on a desk machine. Every part of a proof counts, also
 * the minimisation of its core, so a policy that is too complex is refused in seconds.
 */
export const diagramStepsMax = 100_000_000;

/** Bits of one model's state. Functions over them are walked by recursion, so this also bounds the stack. */
export const stateVariablesMax = 1_000;

/** Combinations of truth values evaluated for all tools of one model. */
export const combinationsMax = 200_000;

/** Classes of one tool: combinations of its relevant predicates (formal.md annex 15). */
export const classesPerToolMax = 4_096;

/** Classes of one model after indistinguishable ones were merged. */
export const classesMax = 20_000;

/** Distinct labels that a run can hold; beyond it the two nearest share a variable (formal.md annex 4). */
export const heldVariablesMax = 24;

/** Layers of a fixpoint; each adds a state, so a finite model that needs more is too large anyway. */
export const layersMax = 10_000;
