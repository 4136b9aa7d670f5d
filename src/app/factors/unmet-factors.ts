/** Factors that the policies of a gateway demand and that cannot be proved there, told at its start and not at the first call. */
import { type ConsentFactor, consentFactors } from "../../core/consent-factor.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import type { FactorDesk } from "./factor-desk.ts";

type Demanding = Pick<LoadedPolicy, "settings">;

/** Sentences with the way on, one for each factor. */
export function unmetFactors(policies: readonly Demanding[], desk: Pick<FactorDesk, "enrolled">): readonly string[] {
  const demanded = new Set(policies.map(({ settings }) => settings.approvals.factor));
  return consentFactors.filter((factor) => demanded.has(factor)).flatMap((factor) => faultOf(factor, desk) ?? []);
}

function faultOf(factor: ConsentFactor, desk: Pick<FactorDesk, "enrolled">): string | undefined {
  if (factor === "terminal")
    return "The policy demands a terminal of approvers, and a gateway knows no client processes: no irreversible call can be approved. Write `factor: presence` or `factor: device` into it.";
  if (desk.enrolled(factor)) return undefined;
  return `The policy demands \`${factor}\` of approvers, and none is enrolled: run \`sluicegate factor add ${factor}\`.`;
}
