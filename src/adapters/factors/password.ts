/**
 * A password of the gateway's own (`approvals.factor: password`), kept as its scrypt hash (RFC 7914). It is not the
 * system's: checking that takes native code or a helper that is set-uid, and it would hand a stronger secret to a process
 * that any program of the user can look into.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { FactorFiles } from "./factor-files.ts";
import { TryLimit } from "./try-limit.ts";

const name = "password";

/** Characters: a program of the user can take the hash and try on its own. */
const lengthMin = 12;
const lengthMax = 1_024;

const saltBytes = 16;
const hashBytes = 32;

/** OWASP's parameters of equal strength with the least memory: 32 MB, 0.3 s on two ordinary cores. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1_024 * 1_024 };

export class PasswordFactor {
  readonly #files: FactorFiles;
  readonly #limit: TryLimit;
  readonly #wallMs: () => number;

  constructor(files: FactorFiles, wallMs: () => number) {
    this.#files = files;
    this.#limit = new TryLimit(files, name);
    this.#wallMs = wallMs;
  }

  /** Whether there is one; a file that cannot be read counts, since it must not be replaced unproven. */
  enrolled(): boolean {
    return this.#files.names().includes(`${name}.json`);
  }

  /** Replaces the password. The error is a sentence for the user. */
  async set(password: string): Promise<Result<void, string>> {
    if (password.length < lengthMin || password.length > lengthMax)
      return err(`A password has at least ${lengthMin} characters, and at most ${lengthMax}.`);
    const salt = randomBytes(saltBytes);
    const hash = await hashed(password, salt);
    const written = this.#files.write(name, { salt: salt.toString("hex"), hash: hash.toString("hex") });
    if (written.ok) this.#limit.passed();
    return written;
  }

  /** Checks a password; the error is a sentence for the approver. */
  async check(password: string): Promise<Result<void, string>> {
    const read = this.#files.read(name);
    if (!read.ok) return read;
    const salt = Buffer.from(stringMember(read.value, "salt") ?? "", "hex");
    const hash = Buffer.from(stringMember(read.value, "hash") ?? "", "hex");
    const wallMs = this.#wallMs();
    const due = this.#limit.due(wallMs);
    if (!due.ok) return due;
    const counted = this.#limit.failed(wallMs);
    if (!counted.ok) return counted;
    // A longer text is none that was ever set, and would only cost time.
    const given = await hashed(password.slice(0, lengthMax + 1), salt);
    if (hash.length !== hashBytes || !timingSafeEqual(given, hash)) return err("The password is not right.");
    this.#limit.passed();
    return ok(undefined);
  }

  remove(): boolean {
    return this.#files.remove(name);
  }
}

/** Keyboards write one letter in several forms, so both ends take the composed one. */
function hashed(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, hashBytes, cost, (cause, hash) =>
      cause === null ? resolve(hash) : reject(cause),
    );
  });
}
