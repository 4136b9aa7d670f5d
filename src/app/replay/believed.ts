/** Contracts in a replay: those on record, or under another policy what it would have believed of the same tools. */
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";

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

export class Believed {
  readonly #policy: LoadedPolicy;
  readonly #known = new Map<string, ToolContract>();
  readonly #made = new Map<string, ToolContract>();
  /** Some contract of a server's tool was made without what the server says of it, which is not on record. */
  unheard = false;

  constructor(policy: LoadedPolicy) {
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
    // On the machine of the record the server would have run as this policy orders.
    const order = this.#policy.isolation(server)?.digest ?? "";
    const process = known?.process && { ...known.process, order };
    if (method !== "tools/call") return this.#policy.contractOfMethod(server, method, process);
    this.unheard = true;
    // What the server said against its tool is on record only in a belief that no authority replaced.
    const heard = known?.source === "enforced" ? known : undefined;
    // A pack is tied to the digest of the whole entry, which is on record where the entry is not.
    const enclosed = heard === undefined ? undefined : process;
    const made = this.#policy.contractOfTool(server, listedAs(tool, known), known?.toolDigest, enclosed);
    const { effects, flags } = heard !== undefined && made.source === "enforced" ? heard : made;
    return { ...made, effects, flags, toolDigest: known?.toolDigest };
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
