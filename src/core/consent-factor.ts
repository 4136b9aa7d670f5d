/** What proves who gives consent, beside the choice itself (docs/decisions/0042). */

/** The factors, from the weakest. */
export const consentFactors = ["terminal", "password", "device", "presence"] as const;

/**
 * `terminal`: a controlling terminal that no guarded client stands behind. `password`: one that is typed at a terminal.
 * `device`: a code that another device shows. `presence`: an authenticator that is touched for this very act.
 */
export type ConsentFactor = (typeof consentFactors)[number];

/** The factor of this name; undefined for any other text, so that a factor of a later version never counts as none. */
export function consentFactor(name: string | undefined): ConsentFactor | undefined {
  return consentFactors.find((factor) => factor === name);
}

/** The strongest of several demands; undefined without any. */
export function strongest(demands: readonly (ConsentFactor | undefined)[]): ConsentFactor | undefined {
  return consentFactors.findLast((factor) => demands.includes(factor));
}
