import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { userPolicies } from "../../app/policy/policy-source.ts";
import { installedReadings } from "../../app/cards/accepted-readings.ts";
import { PolicyFiles } from "../../app/policy/policy-files.ts";

/** One thing that `doctor` looked at. A note is worth knowing and no reason to stop. */
export type Check = {
  readonly name: string;
  readonly state: "ok" | "note" | "failed";
  /** The finding, and for a fault its remedy. */
  readonly sentence: string;
};

const lengthMax = 240;

function check(name: string, state: Check["state"], sentence: string): Check {
  return { name, state, sentence: sentence.length <= lengthMax ? sentence : `${sentence.slice(0, lengthMax - 3)}...` };
}

export const passed = (name: string, sentence: string): Check => check(name, "ok", sentence);
export const noted = (name: string, sentence: string): Check => check(name, "note", sentence);
export const failed = (name: string, sentence: string): Check => check(name, "failed", sentence);

/** The user's policies, compiled; one that does not load has its own check. */
export function compiledPolicies(): readonly CompiledPolicy[] {
  const found: CompiledPolicy[] = [];
  const more = (policy: CompiledPolicy): readonly [] => {
    found.push(policy);
    return [];
  };
  const files = new PolicyFiles(userPolicies(process.env), () => undefined, {
    more,
    readings: installedReadings(process.env),
  });
  files.openAll();
  files.close();
  return found;
}
