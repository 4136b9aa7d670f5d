/**
 * Addresses that stand for names. A server gets an address of 198.18.0.0/15 (RFC 2544, never routed) for each name it
 * may reach, so that each connection identifies its name, even where its protocol does not. Addresses of 127.0.0.0/8
 * would be refused by servers that guard themselves against requests to their own machine.
 */

/** Names of one server; a wildcard grant would let it make up any number. */
export const virtualNamesMax = 4_096;

/** 198.18.1.0, past the broker's own address. */
const firstAddress = ((198 << 24) | (18 << 16) | (1 << 8)) >>> 0;

export class VirtualNames {
  readonly #names: string[] = [];
  readonly #indices = new Map<string, number>();

  /** The address that stands for a name for as long as the server runs; undefined when there are too many. */
  addressOf(name: string): string | undefined {
    const known = this.#indices.get(name);
    if (known !== undefined) return dotted(firstAddress + known);
    if (this.#names.length >= virtualNamesMax) return undefined;
    this.#indices.set(name, this.#names.length);
    this.#names.push(name);
    return dotted(firstAddress + this.#names.length - 1);
  }

  nameOf(address: string): string | undefined {
    const parts = address.split(".").map(Number);
    const bits = parts.reduce((value, part) => value * 256 + part, 0);
    return parts.length === 4 ? this.#names[bits - firstAddress] : undefined;
  }
}

function dotted(bits: number): string {
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");
}
