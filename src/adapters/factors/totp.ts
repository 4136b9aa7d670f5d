/** Codes that change with time (RFC 6238), as every authenticator application makes them: SHA-1, six digits, 30 s. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Seconds of one step. */
const stepSeconds = 30;
const digits = 6;

/** Steps on each side of now whose codes are taken: clocks differ, and typing takes time (RFC 6238, 5.2). */
const stepsAside = 1;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes in base 32 (RFC 4648) without padding, as `otpauth:` URIs have them. */
export function base32(bytes: Uint8Array): string {
  let [bits, held, text] = [0, 0, ""];
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(held >> (bits - 5)) & 31] ?? "";
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (alphabet[(held << (5 - bits)) & 31] ?? "");
}

export function stepAt(wallMs: number): number {
  return Math.floor(wallMs / 1_000 / stepSeconds);
}

/** The code of one step (RFC 4226, 5.3). */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 0x0f;
  return String((mac.readUInt32BE(at) & 0x7fff_ffff) % 10 ** digits).padStart(digits, "0");
}

/** The step that a code belongs to; undefined where it is none of now. */
export function matchingStep(secret: Uint8Array, code: string, wallMs: number): number | undefined {
  const given = Buffer.from(code.replaceAll(/[\s-]/g, ""));
  let found: number | undefined;
  for (let step = stepAt(wallMs) - stepsAside; step <= stepAt(wallMs) + stepsAside; step += 1) {
    const wanted = Buffer.from(codeAt(secret, step));
    // All are compared, and none in less time than another.
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) found = step;
  }
  return found;
}

/** The URI that authenticator applications read, usually from a picture. */
export function otpauthUri(secret: Uint8Array, account: string): string {
  const label = `Sluicegate:${account}`;
  const query = `secret=${base32(secret)}&issuer=Sluicegate&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`;
  return `otpauth://totp/${encodeURIComponent(label)}?${query}`;
}
