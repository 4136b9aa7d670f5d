/**
 * The messages to the kernel that make a fresh network namespace answer for every IPv4 address (rtnetlink(7)): the
 * loopback interface goes up with an address, and a route of type `local` for 0.0.0.0/0 makes each address one of this
 * host ("AnyIP"). A packet for any destination then ends at a socket inside of the namespace, or nowhere. Written as
 * bytes here, so that no program `ip` is needed, which a minimal system may lack.
 */
const headerBytes = 16;
const linkBytes = 16;
const routeBytes = 12;
const attributeBytes = 8;

const addressBytes = 8;

const newLink = 16;
const newAddress = 20;
const newRoute = 24;
const errorType = 2;

const flagRequest = 0x1;
const flagAcknowledge = 0x4;
const flagExclusive = 0x200;
const flagCreate = 0x400;

const interfaceUp = 0x1;
const familyInternet = 2;
const tableLocal = 255;
const protocolBoot = 3;
const scopeHost = 254;
const typeLocal = 2;
const attributeOutputInterface = 4;
const attributeAddress = 1;
const attributeLocal = 2;
const wholeAddressBits = 32;

/** The kernel gives the loopback interface of every namespace this index. */
const loopbackIndex = 1;

/** `ip link set lo up`. */
export function loopbackUp(sequence: number): Uint8Array {
  const { bytes, view } = message(linkBytes, newLink, flagRequest | flagAcknowledge, sequence);
  view.setInt32(headerBytes + 4, loopbackIndex, true);
  view.setUint32(headerBytes + 8, interfaceUp, true);
  view.setUint32(headerBytes + 12, interfaceUp, true);
  return bytes;
}

/**
 * `ip address add A/32 dev lo`, `address` as four numbers. With addresses of 127.0.0.0/8 alone the GNU C library
 * assumes that there is no IPv4, and does not resolve names for programs that ask for usable addresses only
 * (AI_ADDRCONFIG).
 */
export function loopbackAddress(sequence: number, address: readonly number[]): Uint8Array {
  const flags = flagRequest | flagAcknowledge | flagCreate | flagExclusive;
  const { bytes, view } = message(addressBytes + 2 * attributeBytes, newAddress, flags, sequence);
  bytes.set([familyInternet, wholeAddressBits], headerBytes);
  view.setUint32(headerBytes + 4, loopbackIndex, true);
  for (const [index, type] of [attributeLocal, attributeAddress].entries()) {
    const attribute = headerBytes + addressBytes + index * attributeBytes;
    view.setUint16(attribute, attributeBytes, true);
    view.setUint16(attribute + 2, type, true);
    bytes.set(address, attribute + 4);
  }
  return bytes;
}

/** `ip route add local 0.0.0.0/0 dev lo`. */
export function everyAddressLocal(sequence: number): Uint8Array {
  const flags = flagRequest | flagAcknowledge | flagCreate | flagExclusive;
  const { bytes, view } = message(routeBytes + attributeBytes, newRoute, flags, sequence);
  bytes.set([familyInternet, 0, 0, 0, tableLocal, protocolBoot, scopeHost, typeLocal], headerBytes);
  const attribute = headerBytes + routeBytes;
  view.setUint16(attribute, attributeBytes, true);
  view.setUint16(attribute + 2, attributeOutputInterface, true);
  view.setUint32(attribute + 4, loopbackIndex, true);
  return bytes;
}

/**
 * Reads the kernel's answer: 0 for success, else a positive error number; undefined when the bytes are no answer to
 * `sequence`.
 */
export function acknowledgement(bytes: Uint8Array, sequence: number): number | undefined {
  if (bytes.byteLength < headerBytes + 4) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint16(4, true) !== errorType || view.getUint32(8, true) !== sequence) return undefined;
  return Math.abs(view.getInt32(headerBytes, true));
}

function message(body: number, type: number, flags: number, sequence: number): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(headerBytes + body);
  // Netlink speaks the byte order of the machine; every system that Node runs on under Linux here is little-endian.
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.byteLength, true);
  view.setUint16(4, type, true);
  view.setUint16(6, flags, true);
  view.setUint32(8, sequence, true);
  return { bytes, view };
}
