/** Blocks of IP addresses, as policies write them. */
import { parseAddress, sharesPrefix } from "../core/internet-address.ts";
import type { InternetAddress } from "../core/internet-address.ts";

export type Block = InternetAddress & { readonly prefix: number };

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
function addressOf(text: string): InternetAddress | undefined {
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
  return within !== undefined && address !== undefined && sharesPrefix(within, address, within.prefix);
}
