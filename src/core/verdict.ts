/** Verdict of an opinion or decision. The strictest wins; reasons and obligations add up (system.md 3). */
export type Verdict = "allow" | "confirm" | "deny";

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, confirm: 1, deny: 2 };

/** The stricter of two verdicts. */
export function stricter(left: Verdict, right: Verdict): Verdict {
  return strictness[left] >= strictness[right] ? left : right;
}

/** The strictest of all verdicts; `allow` for none. */
export function strictestOf(verdicts: Iterable<Verdict>): Verdict {
  let found: Verdict = "allow";
  for (const verdict of verdicts) found = stricter(found, verdict);
  return found;
}

export function atLeastAsStrict(left: Verdict, right: Verdict): boolean {
  return strictness[left] >= strictness[right];
}

/**
 * One verdict for both ends of an uncertain label (formal.md 4.2): allow if the worst end is allowed, deny if even the best
 * end is denied, else confirm.
 */
export function combineEnds(atLo: Verdict, atHi: Verdict): Verdict {
  if (atHi === "allow") return "allow";
  return atLo === "deny" ? "deny" : "confirm";
}
