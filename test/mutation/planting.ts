/**
 * Secrets planted in what tools return and stores hold, each found nowhere else: whoever has one of these texts got it
 * from there, whatever any label says.
 */
import { sha256 } from "../../src/app/policy/policy-source.ts";
import type { ToolContract } from "../../src/core/contract.ts";
import type { Json } from "../../src/core/json.ts";
import { contractFor } from "../../src/policy/ir/ir.ts";
import type { Subject } from "../../src/proof/prove/subject.ts";

export type Planted = { readonly text: string; readonly label: number };

export class Planting {
  readonly #seed: number;
  readonly #known = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** What a tool returns of its own; other text where another case of its labels holds. */
  output(contract: ToolContract, truths: ReadonlyMap<number, boolean>): Planted {
    const held = contract.cases.findIndex(
      (one) => one.output !== undefined && one.predicates.every((index) => truths.get(index) === true),
    );
    const { label, fields } = contractFor(contract, truths).output;
    const all = fields.reduce((bits, field) => bits | field.label.hi, Number(label.hi));
    return this.#plant(`${contract.server} ${contract.tool} ${held}`, all);
  }

  /** What stands in a store from the start. */
  store({ policy }: Subject, name: string): Planted {
    const declared = policy.ir.stores.find((store) => store.name === name);
    return this.#plant(`store ${name}`, declared?.initial.hi ?? 0);
  }

  /** The labels of all secrets in a value, joined. */
  labelIn(value: Json): number {
    const found = JSON.stringify(value) ?? "";
    let label = 0;
    for (const [text, bits] of this.#known) if (found.includes(text)) label |= bits;
    return label;
  }

  #plant(place: string, label: number): Planted {
    const text = `planted-${sha256(`${this.#seed} ${place}`).slice(0, 20)}`;
    this.#known.set(text, label);
    return { text, label };
  }
}
