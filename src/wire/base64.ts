/** Base64 of UTF-8 text (RFC 4648, with padding), in plain code because this layer has no platform. */

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function encodeBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let encoded = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const group = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    for (let place = 0; place < 4; place += 1) {
      const beyond = index + place > bytes.length;
      encoded += beyond ? "=" : alphabet.charAt((group >> (18 - 6 * place)) & 63);
    }
  }
  return encoded;
}

/** The text, or undefined for anything but the one canonical encoding of valid UTF-8. */
export function decodeBase64(encoded: string): string | undefined {
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined;
  const symbols = encoded.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((symbols.length * 3) / 4));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (const symbol of symbols) {
    held = ((held << 6) | alphabet.indexOf(symbol)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // Spare bits in the last symbol would give one text several encodings, so a filter could be walked around.
    return encodeBase64(text) === encoded ? text : undefined;
  } catch {
    return undefined;
  }
}
