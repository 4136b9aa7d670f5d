/** What is believed of the tools of a recorded run: as recorded, and made anew where another policy decides. */
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LoadedPolicy } from "../../gateway/policy-port.ts";

export type Subject = {
  readonly server: string;
  readonly tool: string;
  readonly method: string;
  /** The contract of the record, where it has one. */
  readonly recorded: ToolContract | undefined;
  /** Digest of the policy that the record was decided under. */
  readonly policy: string | undefined;
};

const hostPrefix = "host:";

export class Believed<Q> {
  readonly #policy: LoadedPolicy<Q>;
  readonly #known = new Map<string, ToolContract>();
  readonly #made = new Map<string, ToolContract>();
  /** Some contract of a server's tool was made without what the server says of it, which is not on record. */
  unheard = false;

  constructor(policy: LoadedPolicy<Q>) {
    this.#policy = policy;
  }

  contractOf(subject: Subject): ToolContract {
    const { server, tool, method, recorded, policy } = subject;
    const key = `${method} ${server} ${tool}`;
    if (recorded !== undefined) this.#known.set(key, recorded);
    const known = recorded ?? this.#known.get(key);
    if (known !== undefined && policy === this.#policy.digest) return known;
    const made = this.#made.get(key) ?? this.#make(subject, known);
    this.#made.set(key, made);
    return made;
  }

  #make({ server, tool, method }: Subject, known: ToolContract | undefined): ToolContract {
    if (server.startsWith(hostPrefix)) return this.#policy.contractOfHostTool(server.slice(hostPrefix.length), tool);
    if (method !== "tools/call") return this.#policy.contractOfMethod(server, method);
    this.unheard = true;
    // A pack is tied to the digest of the whole entry, which is on record where the entry is not.
    const made = this.#policy.contractOfTool(server, listedAs(tool, known), known?.toolDigest);
    return { ...made, toolDigest: known?.toolDigest };
  }
}

/** A tool as its server listed it, as far as its contract still says. */
export function listedAs(name: string, known: ToolContract | undefined): JsonObject {
  if (known === undefined) return { name };
  const properties = Object.fromEntries(
    [...known.arguments].map(([argument, { schemaValues }]) => [
      argument,
      schemaValues.length === 0 ? {} : { enum: [...schemaValues] },
    ]),
  );
  return { name, inputSchema: { type: "object", properties, required: [...(known.required ?? [])] } };
}
