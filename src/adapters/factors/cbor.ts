/**
 * The part of CBOR (RFC 8949) that authenticators send: definite lengths, integers up to 32 bits, no tags, no floats. The
 * bytes come from a browser page, so depth, members and lengths are bounded by what is there.
 */
export type Cbor = number | string | boolean | null | Uint8Array | readonly Cbor[] | CborMap;
export type CborMap = ReadonlyMap<number | string, Cbor>;

/** An attestation has maps in a map; a deeper value is none. */
const depthMax = 8;

/** Members of one array or map. */
const membersMax = 64;

/** A value, and the offset behind it. */
type Read = { readonly value: Cbor; readonly end: number };

/** Reads one value from an offset; undefined where the bytes are none of this part, or are cut. */
export function readCbor(bytes: Uint8Array, at = 0, depth = 0): Read | undefined {
  const first = bytes[at];
  if (first === undefined || depth > depthMax) return undefined;
  const head = argumentOf(bytes, at, first & 0x1f);
  if (head === undefined) return undefined;
  const { argument, end } = head;
  switch (first >> 5) {
    case 0:
      return { value: argument, end };
    case 1:
      return { value: -1 - argument, end };
    case 2:
    case 3:
      return stringOf(bytes, end, { length: argument, text: first >> 5 === 3 });
    case 4:
      return listOf(bytes, end, { count: argument, depth });
    case 5:
      return mapOf(bytes, end, { count: argument, depth });
    case 7:
      return simpleOf(first & 0x1f, end);
    default:
      return undefined;
  }
}

/** The number behind the first byte; lengths of eight bytes are of no value that fits here. */
function argumentOf(bytes: Uint8Array, at: number, low: number) {
  if (low < 24) return { argument: low, end: at + 1 };
  const size = [1, 2, 4][low - 24];
  if (size === undefined || at + 1 + size > bytes.length) return undefined;
  let argument = 0;
  for (let index = 0; index < size; index += 1) argument = argument * 256 + (bytes[at + 1 + index] ?? 0);
  return { argument, end: at + 1 + size };
}

function stringOf(
  bytes: Uint8Array,
  at: number,
  { length, text }: { length: number; text: boolean },
): Read | undefined {
  const end = at + length;
  if (end > bytes.length) return undefined;
  const part = bytes.slice(at, end);
  return { value: text ? new TextDecoder().decode(part) : part, end };
}

type Members = { readonly count: number; readonly depth: number };

function listOf(bytes: Uint8Array, at: number, { count, depth }: Members): Read | undefined {
  if (count > membersMax) return undefined;
  const value: Cbor[] = [];
  let end = at;
  for (let index = 0; index < count; index += 1) {
    const read = readCbor(bytes, end, depth + 1);
    if (read === undefined) return undefined;
    value.push(read.value);
    end = read.end;
  }
  return { value, end };
}

function mapOf(bytes: Uint8Array, at: number, { count, depth }: Members): Read | undefined {
  const flat = listOf(bytes, at, { count: count * 2, depth });
  if (flat === undefined) return undefined;
  const items = flat.value as readonly Cbor[]; // `listOf` gives nothing else
  const value = new Map<number | string, Cbor>();
  for (let index = 0; index < items.length; index += 2) {
    const [key, member] = [items[index], items[index + 1]];
    if ((typeof key !== "number" && typeof key !== "string") || member === undefined) return undefined;
    // Of two members with one name another reader might take the other one.
    if (value.has(key)) return undefined;
    value.set(key, member);
  }
  return { value, end: flat.end };
}

function simpleOf(low: number, end: number): Read | undefined {
  const value = new Map([
    [20, false],
    [21, true],
    [22, null],
  ]).get(low);
  return value === undefined ? undefined : { value, end };
}
