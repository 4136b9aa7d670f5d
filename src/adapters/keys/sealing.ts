/**
 * Keys of the event log, apart from the database (gateway.md 9).
 *
 *   provenance.key       HMAC key for digests that must not be guessable
 *   signing.pem          Ed25519, signs checkpoints
 *   day-YYYY-MM-DD.key   secret of one day; the key of a run on that day is HMAC(secret, run)
 *
 * One secret a day makes forgetting simple and complete: when it is destroyed, no payload of that day can be read
 * again, even from a backup of the database. A run that lasts over midnight uses the keys of both days.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys } from "../../gateway/ports/store.ts";
import { keyFile, privateFolder, type KeyFailure } from "./key-files.ts";

const dayMs = 86_400_000;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** Version of the sealed form, and the day whose secret it needs. */
const headBytes = 5;
const sealedVersion = 1;

/** Run keys kept in memory; derived anew when they are needed again. */
const runKeysMax = 4_096;

/** Random bytes fetched at once: a call for twelve costs as much as one for thousands. */
const randomPoolBytes = 12 * 1_024;

const dayFile = /^day-(\d{4}-\d{2}-\d{2})\.key$/;

function dayName(day: number): string {
  return `day-${new Date(day * dayMs).toISOString().slice(0, 10)}.key`;
}

type DayKeys = {
  /** The key of a run on a day; undefined if the secret of the day is gone. `make` creates a missing secret. */
  readonly key: (run: string, day: number, make: boolean) => KeyObject | undefined;
  readonly has: (day: number) => boolean;
  readonly destroyBefore: (wallMs: number) => number;
};

/** Overwrites before unlinking. A file system or disk may keep the old blocks; only disk encryption prevents that. */
function shred(path: string): void {
  const file = openSync(path, "r+");
  writeSync(file, randomBytes(keyBytes), 0, keyBytes, 0);
  fsyncSync(file);
  closeSync(file);
  unlinkSync(path);
}

function dayKeys(folder: string): DayKeys {
  const secrets = new Map<number, Buffer>();
  const keys = new Map<string, KeyObject>();
  const secretOf = (day: number, make: boolean): Buffer | undefined => {
    const known = secrets.get(day);
    if (known !== undefined) return known;
    const path = join(folder, dayName(day));
    if (!make && statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const read = make ? keyFile(path, () => randomBytes(keyBytes)) : ok(readFileSync(path));
    // A key folder that cannot be written is a failure of the machine; the append it belongs to must not go through.
    if (!read.ok) throw new Error(read.error);
    if (read.value.length !== keyBytes) return undefined;
    secrets.set(day, read.value);
    return read.value;
  };
  return {
    key: (run, day, make) => {
      const name = `${day} ${run}`;
      const known = keys.get(name);
      if (known !== undefined) return known;
      const secret = secretOf(day, make);
      if (secret === undefined) return undefined;
      if (keys.size >= runKeysMax) keys.clear();
      const key = createSecretKey(createHmac("sha256", secret).update(`run key\n${run}`).digest());
      keys.set(name, key);
      return key;
    },
    has: (day) => secrets.has(day) || existsSync(join(folder, dayName(day))),
    destroyBefore: (wallMs) => {
      const first = `day-${new Date(wallMs).toISOString().slice(0, 10)}.key`;
      const old = dayKeysIn(folder).filter((name) => name < first);
      // What is in memory goes first, and one file that cannot be destroyed does not keep the others.
      secrets.clear();
      keys.clear();
      const kept: unknown[] = [];
      for (const name of old) {
        try {
          shred(join(folder, name));
        } catch (cause) {
          kept.push(cause);
        }
      }
      if (kept.length > 0) throw kept[0];
      return old.length;
    },
  };
}

/** Names of the files with secrets of days; none where the folder cannot be read. */
export function dayKeysIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => dayFile.test(name)) : [];
}

function noncePool(): () => Buffer {
  let pool = randomBytes(randomPoolBytes);
  let used = 0;
  return () => {
    if (used === randomPoolBytes) {
      pool = randomBytes(randomPoolBytes);
      used = 0;
    }
    used += nonceBytes;
    return pool.subarray(used - nonceBytes, used);
  };
}

function sealer(days: DayKeys): Pick<LogKeys, "seal" | "open" | "readable"> {
  const nextNonce = noncePool();
  return {
    seal: (run, text, bound, wallMs) => {
      const day = Math.floor(wallMs / dayMs);
      const key = days.key(run, day, true);
      if (key === undefined) throw new Error("the key of the day has a wrong length");
      const nonce = nextNonce();
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(Buffer.from(`${run}\n${bound}`));
      const body = cipher.update(text, "utf8");
      cipher.final();
      const sealed = Buffer.allocUnsafe(headBytes + nonceBytes + tagBytes + body.length);
      sealed[0] = sealedVersion;
      sealed.writeUInt32BE(day, 1);
      nonce.copy(sealed, headBytes);
      cipher.getAuthTag().copy(sealed, headBytes + nonceBytes);
      body.copy(sealed, headBytes + nonceBytes + tagBytes);
      return sealed;
    },
    open: (run, sealed, bound) => {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      if (bytes.length < headBytes + nonceBytes + tagBytes || bytes[0] !== sealedVersion) return err("damaged");
      const key = days.key(run, bytes.readUInt32BE(1), false);
      if (key === undefined) return err("missing-key");
      const tagAt = headBytes + nonceBytes;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(headBytes, tagAt), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(`${run}\n${bound}`));
      decipher.setAuthTag(bytes.subarray(tagAt, tagAt + tagBytes));
      try {
        return ok(decipher.update(bytes.subarray(tagAt + tagBytes), undefined, "utf8") + decipher.final("utf8"));
      } catch {
        return err("damaged"); // the tag does not fit: other key, other place, or changed bytes
      }
    },
    readable: (sealed) => {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      return bytes.length > headBytes && days.has(bytes.readUInt32BE(1));
    },
  };
}

function signing(pem: Buffer): Pick<LogKeys, "sign" | "signer" | "verify"> {
  const key = createPrivateKey(pem);
  const publicKey = createPublicKey(key);
  const signer = hash("sha256", publicKey.export({ type: "spki", format: "der" })).slice(0, 32);
  return {
    signer,
    sign: (text) => sign(null, Buffer.from(text), key),
    verify: (who, text, signature) =>
      who === signer ? verify(null, Buffer.from(text), publicKey, signature) : undefined,
  };
}

const [provenanceFile, signingFile] = ["provenance.key", "signing.pem"];

/** Files that a log needs for as long as there is one; the keys of days come and go. */
export const lastingKeys: readonly string[] = [provenanceFile, signingFile];

/** The keys in a folder; missing ones are made. The error is a sentence for the user. */
export function openKeys(folder: string): Result<LogKeys, KeyFailure> {
  const usable = privateFolder(folder);
  if (!usable.ok) return usable;
  const provenance = keyFile(join(folder, provenanceFile), () => randomBytes(keyBytes));
  if (!provenance.ok) return provenance;
  const pem = keyFile(join(folder, signingFile), () =>
    Buffer.from(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" })),
  );
  if (!pem.ok) return pem;
  const days = dayKeys(folder);
  try {
    return ok({
      hash: (data) => hash("sha256", data),
      keyedDigest: (text) => createHmac("sha256", provenance.value).update(text).digest("hex").slice(0, 32),
      destroyBefore: days.destroyBefore,
      ...sealer(days),
      ...signing(pem.value),
    });
  } catch {
    return err(
      `The signing key ${join(folder, signingFile)} is damaged. Restore it, or move it away and run \`sluicegate audit set-aside\`.`,
    );
  }
}
