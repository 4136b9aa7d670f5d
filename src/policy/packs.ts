/**
 * Finds what `extends` and `pack` name. Reading files is an adapter's business: here a name is looked up in texts that
 * were read before, and `default` is built in.
 */
import type { PolicyInput, PolicyLoader } from "./canonical/extends.ts";
import { defaultPolicy, defaultPolicyName } from "./default-policy.ts";

/** What a policy without a file is. */
export const defaultInput: PolicyInput = { file: defaultPolicyName, document: defaultPolicy };

/**
 * A loader over the shipped packs (text by pack name) and, for everything else, over files beside the policy.
 * `readBeside` gets a name and the file that mentions it; it bounds what it reads and answers undefined for a file that
 * is not there.
 */
export function packLoader(
  packs: ReadonlyMap<string, string>,
  readBeside: PolicyLoader = () => undefined,
): PolicyLoader {
  return (name, from) => {
    if (name === defaultPolicyName) return defaultInput;
    const text = packs.get(name);
    return text === undefined ? readBeside(name, from) : { file: `packs/${name}.yaml`, text };
  };
}
