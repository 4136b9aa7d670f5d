import { expect, it } from "vitest";
import type { ConsentFactor } from "../../core/consent-factor.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import { unmetFactors } from "./unmet-factors.ts";

/** Only the factor is looked at. */
const policy = (factor: ConsentFactor | undefined): Pick<LoadedPolicy, "settings"> => {
  const approvals = {
    form: "none",
    by: "anyone",
    holdMsMax: 0,
    expiryMs: 0,
    ...(factor === undefined ? {} : { factor }),
  };
  return { settings: { approvals } } as unknown as Pick<LoadedPolicy, "settings">;
};
const desk = (...enrolled: readonly ConsentFactor[]) => ({ enrolled: (one: ConsentFactor) => enrolled.includes(one) });

it("A9: a gateway says at its start which demanded proof cannot be given there, and the way on", () => {
  expect(unmetFactors([policy(undefined)], desk())).toEqual([]);
  expect(unmetFactors([policy("device")], desk("device"))).toEqual([]);
  expect(unmetFactors([policy("terminal")], desk("terminal"))).toEqual([expect.stringContaining("`factor: presence`")]);
  const both = unmetFactors([policy("presence"), policy("device"), policy("presence")], desk());
  expect(both).toEqual([
    expect.stringContaining("`sluicegate factor add device`"),
    expect.stringContaining("`sluicegate factor add presence`"),
  ]);
});
