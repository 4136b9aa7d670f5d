/** IP addresses as numbers. Only plain, unambiguous spellings count: `010.0.0.1` and `1` are not addresses here. */

export type InternetAddress = { readonly version: 4 | 6; readonly bits: bigint };

const addressCharactersMax = 45;

/** An address with its version; an IPv4 address inside IPv6 (`::ffff:1.2.3.4`) counts as the IPv4 address it is. */
export function parseAddress(text: string): InternetAddress | undefined {
  const four = parseV4(text);
  if (four !== undefined) return { version: 4, bits: four };
  const six = parseV6(text);
  if (six === undefined) return undefined;
  return six >> 32n === 0xffffn ? { version: 4, bits: six & 0xffffffffn } : { version: 6, bits: six };
}

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

/** Groups of hexadecimal digits; four numbers with dots may stand for the last two of an address, and nowhere else. */
function parseGroups(text: string, isEnd: boolean): readonly bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (isEnd && index === parts.length - 1 && part.includes(".")) {
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
  if (text.length > addressCharactersMax) return undefined;
  const [before = "", after, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const head = parseGroups(before, after === undefined);
  const tail = after === undefined ? [] : parseGroups(after, true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (after === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...tail];
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** True iff both have one version and share their first `prefix` bits. */
export function sharesPrefix(left: InternetAddress, right: InternetAddress, prefix: number): boolean {
  if (left.version !== right.version) return false;
  const shift = BigInt((left.version === 4 ? 32 : 128) - prefix);
  return left.bits >> shift === right.bits >> shift;
}
