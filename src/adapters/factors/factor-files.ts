/**
 * Files of what proves an approver (docs/decisions/0042): enrolments sealed by a key beside them, and counts of failed
 * tries. The folder belongs to the user, not to one log, since the daemon and every gateway take the same proofs. The seal
 * keeps an enrolment out of backups and of what a tool prints; it is no wall against a program of the same user.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { keyFile, privateFolder } from "../keys/key-files.ts";

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

/** An enrolment has some hundred bytes; anything larger is another file. */
const fileBytesMax = 65_536;

export class FactorFiles {
  readonly folder: string;

  /** `folder`: made with the first enrolment. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** The enrolment of this name; undefined where there is none. The error is a sentence for the user. */
  read(name: string): Result<Json | undefined, string> {
    const place = join(this.folder, `${name}.json`);
    const found = attempt(() => statSync(place), undefined);
    if (found === undefined) return ok(undefined);
    const damaged = err(
      `The enrolment ${place} cannot be read: restore it, or move it away and run \`sluicegate factor add\` again.`,
    );
    if (!found.isFile() || found.size > fileBytesMax) return damaged;
    const key = this.#key();
    if (!key.ok) return key;
    return attempt(() => ok(opened(readFileSync(place), key.value, name)), damaged);
  }

  /** Replaces an enrolment in one step. */
  write(name: string, value: Json): Result<void, string> {
    const key = this.#key();
    if (!key.ok) return key;
    return this.put(`${name}.json`, sealed(JSON.stringify(value), key.value, name));
  }

  /** Replaces a file of this folder in one step. */
  put(file: string, content: Uint8Array | string): Result<void, string> {
    const place = join(this.folder, file);
    const draft = `${place}.${randomBytes(6).toString("hex")}.new`;
    try {
      writeFileSync(draft, content, { mode: 0o600, flag: "wx" });
      renameSync(draft, place);
      return ok(undefined);
    } catch {
      return err(`${place} cannot be written: check the owner of its folder and the free space.`);
    }
  }

  /** The text of a small file of this folder; empty where it cannot be read. */
  text(file: string): string {
    const place = join(this.folder, file);
    const found = attempt(() => statSync(place), undefined);
    if (found?.isFile() !== true || found.size > fileBytesMax) return "";
    return attempt(() => readFileSync(place, "utf8"), "");
  }

  /** Removes everything of this name; false where there was nothing. */
  remove(name: string): boolean {
    const own = this.names().filter((file) => file === `${name}.json` || file.startsWith(`${name}-`));
    for (const file of own) rmSync(join(this.folder, file), { recursive: true, force: true });
    return own.includes(`${name}.json`);
  }

  names(): readonly string[] {
    return attempt(() => readdirSync(this.folder), []);
  }

  /** Makes an entry that must not exist yet; false where another process, or an earlier use, made it. */
  claim(name: string): boolean {
    // A folder: making one is the simplest act that only one of two processes can do.
    return attempt(() => {
      mkdirSync(join(this.folder, name), { mode: 0o700 });
      return true;
    }, false);
  }

  /** Removes one entry of `claim`. */
  discard(name: string): void {
    rmSync(join(this.folder, name), { recursive: true, force: true });
  }

  #key(): Result<Buffer, string> {
    const usable = privateFolder(this.folder);
    if (!usable.ok) return usable;
    const key = keyFile(join(this.folder, "seal.key"), () => randomBytes(keyBytes));
    if (key.ok && key.value.length !== keyBytes)
      return err(`The key ${join(this.folder, "seal.key")} is damaged: remove its folder, and enrol again.`);
    return key;
  }
}

function sealed(text: string, key: Buffer, name: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Throws where the bytes are not sealed by this key under this name. */
function opened(bytes: Buffer, key: Buffer, name: string): Json {
  const tagAt = nonceBytes + tagBytes;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(nonceBytes, tagAt));
  const text = Buffer.concat([decipher.update(bytes.subarray(tagAt)), decipher.final()]).toString("utf8");
  return JSON.parse(text) as Json; // the seal says that this program wrote it
}
