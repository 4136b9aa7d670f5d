/** Bytes that arrive in parts, and are wanted as a whole later. */

/**
 * A smaller part is joined with what comes after it: beside its own bytes a part costs some two hundred, and may hold the
 * buffer that it was read into. A peer that sends one byte at a time would make us hold that much for each.
 */
const partBytesMin = 4_096;

export function keepPart(parts: Uint8Array[], part: Uint8Array): void {
  const last = parts.at(-1);
  if (last === undefined || last.length >= partBytesMin) parts.push(part);
  else parts.splice(-1, 1, joined([last, part]));
}

/** All of them in a row; a single one is given back as it is. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
