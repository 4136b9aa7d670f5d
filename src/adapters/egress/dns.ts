/**
 * Questions and answers of the domain name system (RFC 1035), as far as a stub needs them. The answers are made here
 * from the question's own bytes alone, so that no byte chosen by a server reaches a name server: long or numerous names
 * cannot leak data.
 *
 * Strict: one question, no answers, no compression, at most an EDNS record behind it. All else is malformed.
 */

/** Longest message that a question may take, without EDNS the longest over UDP at all (RFC 1035 section 4.2.1). */
export const queryBytesMax = 512;
const nameBytesMax = 255;
const labelBytesMax = 63;
const headerBytes = 12;

export const typeA = 1;
export const typeAny = 255;
const typeOption = 41;
const classInternet = 1;

export const noError = 0;
export const formatError = 1;
export const serverFailure = 2;
export const noSuchName = 3;

export type DnsQuery = {
  readonly id: number;
  readonly recursionDesired: boolean;
  /** Lower case, without the root dot; empty for the root. */
  readonly name: string;
  readonly type: number;
  /** The question as it was asked, whose case an answer repeats. */
  readonly question: Uint8Array;
};

export type ParsedQuery =
  | { readonly kind: "query"; readonly query: DnsQuery }
  /** `id` where the header could be read, so that an answer can say so. */
  | { readonly kind: "malformed"; readonly id: number | undefined };

/** Parses one question; see the head of this file for the accepted form. */
export function parseQuery(bytes: Uint8Array): ParsedQuery {
  if (bytes.byteLength < headerBytes) return { kind: "malformed", id: undefined };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint16(2);
  // An answer to an answer would let two stubs talk to each other for ever.
  if ((flags & 0x8000) !== 0) return { kind: "malformed", id: undefined };
  const id = view.getUint16(0);
  const malformed = { kind: "malformed", id } as const;
  const plain = (flags & 0x7a00) === 0; // Operation code 0, not cut off.
  const counts = [4, 6, 8].map((offset) => view.getUint16(offset)).join() === "1,0,0";
  if (!plain || !counts || bytes.byteLength > queryBytesMax) return malformed;
  const name = readName(bytes);
  if (name === undefined || name.end + 4 > bytes.byteLength) return malformed;
  const end = name.end + 4;
  if (view.getUint16(name.end + 2) !== classInternet) return malformed;
  if (!endsWell(bytes.subarray(end), view.getUint16(10))) return malformed;
  const question = bytes.slice(headerBytes, end);
  const type = view.getUint16(name.end);
  return { kind: "query", query: { id, recursionDesired: (flags & 0x100) !== 0, name: name.text, type, question } };
}

/** Seconds that a client may keep an answer. A name that is granted later must be found, so refusals carry none. */
const lifetimeSeconds = 30;

/** An answer with these IPv4 addresses, each as four numbers. */
export function answerQuery(query: DnsQuery, code: number, addresses: readonly (readonly number[])[]): Uint8Array {
  const records = addresses.flatMap((address) => [
    0xc0,
    headerBytes,
    0,
    typeA,
    0,
    classInternet,
    0,
    0,
    0,
    lifetimeSeconds,
    0,
    4,
    ...address,
  ]);
  const flags = 0x8080 | (query.recursionDesired ? 0x100 : 0) | code;
  const header = [...word(query.id), ...word(flags), 0, 1, ...word(addresses.length), 0, 0, 0, 0];
  return Uint8Array.from([...header, ...query.question, ...records]);
}

/** The answer to a malformed question: its id and "format error". */
export function answerMalformed(id: number): Uint8Array {
  return Uint8Array.from([...word(id), 0x80, 0x80 | formatError, 0, 0, 0, 0, 0, 0, 0, 0]);
}

function word(value: number): readonly [number, number] {
  return [value >> 8, value & 0xff];
}

/** The question's name. Letters, digits, `-` and `_` only: nothing else is the name of a host. */
function readName(bytes: Uint8Array): { readonly text: string; readonly end: number } | undefined {
  const labels: string[] = [];
  let offset = headerBytes;
  while (offset < headerBytes + nameBytesMax) {
    const length = bytes[offset];
    if (length === undefined || length > labelBytesMax) return undefined;
    offset += 1;
    if (length === 0) return { text: labels.join("."), end: offset };
    const label = String.fromCharCode(...bytes.subarray(offset, offset + length)).toLowerCase();
    if (label.length !== length || !/^[a-z0-9_-]+$/.test(label)) return undefined;
    labels.push(label);
    offset += length;
  }
  return undefined;
}

/** Nothing, or the one EDNS record that was announced (RFC 6891 section 6.1.2). */
function endsWell(rest: Uint8Array, announced: number): boolean {
  if (announced === 0) return rest.byteLength === 0;
  if (announced !== 1 || rest.byteLength < 11) return false;
  const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength);
  return rest[0] === 0 && view.getUint16(1) === typeOption && view.getUint16(9) === rest.byteLength - 11;
}
