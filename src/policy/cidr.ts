/** IP addresses and blocks. Only plain, unambiguous spellings count: `010.0.0.1` and `1` are no addresses here. */

export type Block = { readonly version: 4 | 6; readonly bits: bigint; readonly prefix: number };

function parseV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return bits;
}

function parseGroups(text: string): readonly bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes(".")) {
      const tail = parseV4(part);
      if (tail === undefined) return undefined;
      groups.push(tail >> 16n, tail & 0xffffn);
    } else {
      if (!/^[0-9A-Fa-f]{1,4}$/.test(part)) return undefined;
      groups.push(BigInt(`0x${part}`));
    }
  }
  return groups;
}

function parseV6(text: string): bigint | undefined {
  if (text.length > 45) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "");
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "") : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...tail];
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** An address with its version; an IPv4 address inside IPv6 (`::ffff:1.2.3.4`) counts as the IPv4 address it is. */
function parseAddress(text: string): { readonly version: 4 | 6; readonly bits: bigint } | undefined {
  const four = parseV4(text);
  if (four !== undefined) return { version: 4, bits: four };
  const six = parseV6(text);
  if (six === undefined) return undefined;
  return six >> 32n === 0xffffn ? { version: 4, bits: six & 0xffffffffn } : { version: 6, bits: six };
}

/** A block such as `10.0.0.0/8`; a bare address is a block of one. */
export function blockOf(text: string): Block | undefined {
  const [address = "", length, more] = text.split("/");
  const parsed = parseAddress(address);
  if (parsed === undefined || more !== undefined) return undefined;
  const width = parsed.version === 4 ? 32 : 128;
  if (length === undefined) return { ...parsed, prefix: width };
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined;
  // A block written inside IPv4-mapped IPv6 space counts its prefix from the left of all 128 bits.
  const prefix = Number(length) - (parsed.version === 4 && address.includes(":") ? 96 : 0);
  return prefix < 0 || prefix > width ? undefined : { ...parsed, prefix };
}

/** Host of a URL, `host:port`, `[v6]:port` or a plain address, as far as it is an IP address. */
function addressOf(text: string): ReturnType<typeof parseAddress> {
  const trimmed = text.trim();
  const plain = parseAddress(trimmed);
  if (plain !== undefined) return plain;
  const host = trimmed.includes("://") && URL.canParse(trimmed) ? new URL(trimmed).hostname : trimmed;
  const bracketed = /^\[([^\]]*)\](?::[0-9]+)?$/.exec(host);
  return parseAddress(bracketed?.[1] ?? host.replace(/:[0-9]{1,5}$/, ""));
}

/** True iff the text is an address, or a URL or host with one, inside the block. */
export function insideBlock(block: string, text: string): boolean {
  const within = blockOf(block);
  const address = text.length > 2_048 ? undefined : addressOf(text);
  if (within === undefined || address === undefined || within.version !== address.version) return false;
  const shift = BigInt((within.version === 4 ? 32 : 128) - within.prefix);
  return within.bits >> shift === address.bits >> shift;
}
