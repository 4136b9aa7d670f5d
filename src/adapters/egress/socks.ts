/** SOCKS version 5 (RFC 1928) as a server speaks it: no authentication, CONNECT only. */

const version = 5;
const commandConnect = 1;
const noAuthentication = 0;
const typeV4 = 1;
const typeName = 3;
const typeV6 = 4;

/** The longest greeting and the longest request that the protocol allows. */
export const greetingBytesMax = 257;
export const requestBytesMax = 262;

export type SocksGreeting =
  | { readonly kind: "more" }
  | { readonly kind: "malformed" }
  /** `usable` is false when the client insists on authentication. */
  | { readonly kind: "greeting"; readonly usable: boolean; readonly bytes: number };

export type SocksRequest =
  | { readonly kind: "more" }
  | { readonly kind: "malformed" }
  | { readonly kind: "unsupported" }
  | { readonly kind: "connect"; readonly host: string; readonly port: number; readonly bytes: number };

export const methodAccepted: Uint8Array = Uint8Array.from([version, noAuthentication]);
export const methodRefused: Uint8Array = Uint8Array.from([version, 0xff]);

/** Codes of RFC 1928 section 6. */
export const replies = { done: 0, failure: 1, notAllowed: 2, unreachable: 4, unsupported: 7 } as const;
export type Reply = (typeof replies)[keyof typeof replies];

/** Encodes an answer. It contains no bound address: clients ignore that, and it would be an address of the gateway. */
export function socksReply(code: Reply): Uint8Array {
  return Uint8Array.from([version, code, 0, typeV4, 0, 0, 0, 0, 0, 0]);
}

/** Parses the greeting of a client from its first byte; `bytes` is its length. */
export function parseGreeting(bytes: Uint8Array): SocksGreeting {
  const count = bytes[1];
  if ((bytes[0] ?? version) !== version || count === 0) return { kind: "malformed" };
  if (count === undefined || bytes.length < 2 + count) return { kind: "more" };
  return { kind: "greeting", usable: bytes.subarray(2, 2 + count).includes(noAuthentication), bytes: 2 + count };
}

/** Parses the request after the greeting; `bytes` is its length. */
export function parseRequest(bytes: Uint8Array): SocksRequest {
  if ((bytes[0] ?? version) !== version || (bytes[2] ?? 0) !== 0) return { kind: "malformed" };
  const type = bytes[3];
  if (type === undefined) return { kind: "more" };
  const start = type === typeName ? 5 : 4;
  const length = type === typeV4 ? 4 : type === typeV6 ? 16 : type === typeName ? bytes[4] : 0;
  if (length === 0) return { kind: "malformed" };
  if (length === undefined || bytes.length < start + length + 2) return { kind: "more" };
  const address = bytes.subarray(start, start + length);
  const host = hostOf(type, address);
  const port = bytes[start + length]! * 256 + bytes[start + length + 1]!;
  if (host === undefined || port === 0) return { kind: "malformed" };
  if (bytes[1] !== commandConnect) return { kind: "unsupported" };
  return { kind: "connect", host, port, bytes: start + length + 2 };
}

function hostOf(type: number, address: Uint8Array): string | undefined {
  if (type === typeV4) return address.join(".");
  if (type === typeName) {
    const name = String.fromCharCode(...address);
    return /^[A-Za-z0-9._-]+$/.test(name) ? name.toLowerCase() : undefined;
  }
  const groups = Array.from({ length: 8 }, (_, index) => (address[index * 2]! << 8) | address[index * 2 + 1]!);
  return groups.map((group) => group.toString(16)).join(":");
}
