/**
 * The first message of TLS (RFC 8446 section 4.1.2), read for the name that a client asks its server for (RFC 6066
 * section 3). Strict, because what we read and what the server reads must be the same: a doubled extension or a second
 * name is refused.
 *
 * Encrypted Client Hello hides the true name behind a public one. The public name is compared, and the presence of the
 * extension is noted (browsers always send a dummy one).
 */

/**
 * Bytes until the message must be complete, headers of records included. With post-quantum keys about 2,000 are usual.
 */
export const helloBytesMax = 16_384;

const recordHeaderBytes = 5;
const recordBytesMax = 16_384;
const typeHandshake = 22;
const typeClientHello = 1;
const extensionServerName = 0;
const extensionEncryptedHello = 0xfe0d;
const randomBytes = 32;
const sessionBytesMax = 32;

export type ParsedHello =
  /** Valid so far, but incomplete. */
  | { readonly kind: "more" }
  | { readonly kind: "foreign" }
  | { readonly kind: "malformed" }
  | { readonly kind: "hello"; readonly serverName: string | undefined; readonly encrypted: boolean };

/** Reads what a client has sent so far, from its first byte. */
export function parseClientHello(bytes: Uint8Array): ParsedHello {
  if (bytes.byteLength === 0) return { kind: "more" };
  if (bytes[0] !== typeHandshake || (bytes[1] ?? 3) !== 3) return { kind: "foreign" };
  const joined = joinRecords(bytes);
  if (joined === undefined) return { kind: "malformed" };
  const message = joined.slice(0, helloBytesMax);
  if (message.length > 0 && message[0] !== typeClientHello) return { kind: "malformed" };
  const length = message.length < 4 ? undefined : (message[1]! << 16) | (message[2]! << 8) | message[3]!;
  if ((length ?? 0) + 4 > helloBytesMax) return { kind: "malformed" };
  if (length === undefined || message.length < length + 4) {
    return { kind: bytes.byteLength >= helloBytesMax ? "malformed" : "more" };
  }
  return readHello(new Reader(Uint8Array.from(message.slice(4, length + 4))));
}

/** The handshake bytes of all records so far; a message may be cut into records anywhere. */
function joinRecords(bytes: Uint8Array): readonly number[] | undefined {
  const joined: number[] = [];
  let offset = 0;
  while (offset + recordHeaderBytes <= bytes.byteLength && joined.length < helloBytesMax) {
    // After a complete message other records may follow; the caller looks at the first message only.
    if (bytes[offset] !== typeHandshake || bytes[offset + 1] !== 3) return isComplete(joined) ? joined : undefined;
    const length = (bytes[offset + 3]! << 8) | bytes[offset + 4]!;
    if (length === 0 || length > recordBytesMax) return undefined;
    const start = offset + recordHeaderBytes;
    for (const byte of bytes.subarray(start, start + length)) joined.push(byte);
    offset = start + length;
  }
  return joined;
}

function isComplete(message: readonly number[]): boolean {
  return message.length >= 4 && message.length >= ((message[1]! << 16) | (message[2]! << 8) | message[3]!) + 4;
}

function readHello(reader: Reader): ParsedHello {
  const malformed = { kind: "malformed" } as const;
  if (reader.take(2) === undefined || reader.take(randomBytes) === undefined) return malformed;
  const session = reader.vector(1);
  const ciphers = reader.vector(2);
  const compressions = reader.vector(1);
  if (session === undefined || session.length > sessionBytesMax) return malformed;
  if (ciphers === undefined || ciphers.length < 2 || ciphers.length % 2 === 1) return malformed;
  if (compressions === undefined || compressions.length === 0) return malformed;
  // A hello without extensions is valid up to TLS 1.2 and contains no server name.
  if (reader.done) return { kind: "hello", serverName: undefined, encrypted: false };
  const block = reader.vector(2);
  if (block === undefined || !reader.done) return malformed;
  return readExtensions(new Reader(block));
}

function readExtensions(reader: Reader): ParsedHello {
  const seen = new Set<number>();
  let serverName: string | undefined;
  while (!reader.done) {
    const type = reader.number(2);
    const content = reader.vector(2);
    if (type === undefined || content === undefined || seen.has(type)) return { kind: "malformed" };
    seen.add(type);
    if (type !== extensionServerName) continue;
    serverName = readServerName(new Reader(content));
    if (serverName === undefined) return { kind: "malformed" };
  }
  return { kind: "hello", serverName, encrypted: seen.has(extensionEncryptedHello) };
}

/** The list may hold one name of type 0, and no TLS library sends any other list. */
function readServerName(reader: Reader): string | undefined {
  const list = reader.vector(2);
  if (list === undefined || !reader.done) return undefined;
  const entry = new Reader(list);
  const type = entry.number(1);
  const name = entry.vector(2);
  if (type !== 0 || name === undefined || !entry.done || name.length > 255) return undefined;
  const text = String.fromCharCode(...name);
  return /^[A-Za-z0-9._-]+$/.test(text) ? text.toLowerCase() : undefined;
}

class Reader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#offset === this.#bytes.length;
  }

  take(count: number): Uint8Array | undefined {
    const end = this.#offset + count;
    if (end > this.#bytes.length) return undefined;
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }

  number(width: 1 | 2): number | undefined {
    return this.take(width)?.reduce((value, byte) => value * 256 + byte, 0);
  }

  /** Bytes behind their length. */
  vector(width: 1 | 2): Uint8Array | undefined {
    const length = this.number(width);
    return length === undefined ? undefined : this.take(length);
  }
}
