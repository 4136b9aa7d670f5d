/**
 * Decides which addresses a granted *name* may resolve to. The owner of a name chooses its addresses, and may choose
 * 127.0.0.1 or the metadata service of a cloud (DNS rebinding): such addresses need a grant of their own.
 */
import { type InternetAddress, parseAddress, sharesPrefix } from "../../core/isolation/internet-address.ts";

type Block = { readonly address: InternetAddress; readonly prefix: number; readonly why: Guarded };

export type Guarded = "loopback" | "link-local" | "metadata" | "private" | "reserved" | "own-address" | "no-address";

/** More special ones first. IANA special-purpose registries, and where clouds keep their metadata services. */
const blocks: readonly Block[] = [
  block("169.254.169.254/32", "metadata"),
  block("169.254.170.2/32", "metadata"),
  block("100.100.100.200/32", "metadata"),
  block("192.0.0.192/32", "metadata"),
  block("168.63.129.16/32", "metadata"),
  block("fd00:ec2::/32", "metadata"),
  block("fe80::a9fe:a9fe/128", "metadata"),
  block("127.0.0.0/8", "loopback"),
  block("0.0.0.0/8", "reserved"),
  block("10.0.0.0/8", "private"),
  block("100.64.0.0/10", "private"),
  block("172.16.0.0/12", "private"),
  block("192.168.0.0/16", "private"),
  block("169.254.0.0/16", "link-local"),
  block("192.0.0.0/24", "reserved"),
  block("192.0.2.0/24", "reserved"),
  block("192.88.99.0/24", "reserved"),
  block("198.18.0.0/15", "reserved"),
  block("198.51.100.0/24", "reserved"),
  block("203.0.113.0/24", "reserved"),
  block("224.0.0.0/3", "reserved"),
  block("::1/128", "loopback"),
  block("fe80::/10", "link-local"),
  block("fc00::/7", "private"),
  block("2001::/23", "reserved"),
  block("2001:db8::/32", "reserved"),
  block("3fff::/20", "reserved"),
];

/** All of IPv6 that is routed in public. */
const globalUnicast = block("2000::/3", "reserved");
const sixToFour = block("2002::/16", "reserved");
const translated = block("64:ff9b::/96", "reserved");

/** Reason why an address is guarded, or undefined. `own`: addresses of this machine, whose services trust it. */
export function guarded(text: string, own: readonly string[]): Guarded | undefined {
  const address = parseAddress(text);
  if (address === undefined) return "no-address";
  const inner = embedded(address);
  if (inner !== undefined) return reason(inner) ?? ownReason(inner, own) ?? ownReason(address, own);
  return reason(address) ?? ownReason(address, own);
}

function reason(address: InternetAddress): Guarded | undefined {
  const found = blocks.find((one) => within(address, one));
  if (found !== undefined) return found.why;
  return address.version === 6 && !within(address, globalUnicast) ? "reserved" : undefined;
}

/** The IPv4 address that a gateway would make of this one (RFC 3056 section 2, RFC 6052 section 2.1). */
function embedded(address: InternetAddress): InternetAddress | undefined {
  if (within(address, translated)) return { version: 4, bits: address.bits & 0xffffffffn };
  if (within(address, sixToFour)) return { version: 4, bits: (address.bits >> 80n) & 0xffffffffn };
  return undefined;
}

function ownReason(address: InternetAddress, own: readonly string[]): Guarded | undefined {
  const same = own.some((text) => {
    const one = parseAddress(text.split("%")[0] ?? "");
    return one !== undefined && one.version === address.version && one.bits === address.bits;
  });
  return same ? "own-address" : undefined;
}

function within(address: InternetAddress, one: Block): boolean {
  return sharesPrefix(one.address, address, one.prefix);
}

function block(text: string, why: Guarded): Block {
  const [head = "", prefix] = text.split("/");
  const address = parseAddress(head);
  if (address === undefined) throw new Error(`not a block of addresses: ${text}`);
  return { address, prefix: Number(prefix), why };
}
