/** A code on another device (`approvals.factor: device`): enrolled once, each code good for one proof. */
import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { FactorFiles } from "./factor-files.ts";
import { base32, matchingStep, otpauthUri } from "./totp.ts";
import { TryLimit } from "./try-limit.ts";

const name = "device";

/** RFC 4226, 4: a secret of 160 bits is recommended. */
const secretBytes = 20;

/** Prefix of the folders that say which steps were used; a step is a count of 30 s since 1970. */
const usedPrefix = `${name}-used-`;

/** A secret that was shown and not confirmed by a code yet. */
export type NewDevice = { readonly uri: string; readonly secret: string };

export class DeviceFactor {
  readonly #files: FactorFiles;
  readonly #limit: TryLimit;
  readonly #wallMs: () => number;
  #shown: Buffer | undefined;

  constructor(files: FactorFiles, wallMs: () => number) {
    this.#files = files;
    this.#limit = new TryLimit(files, name);
    this.#wallMs = wallMs;
  }

  /** Whether a device is enrolled; one that cannot be read counts, since it must not be replaced unproven. */
  enrolled(): boolean {
    return this.#files.names().includes(`${name}.json`);
  }

  /** Makes a secret for the device; it counts once `confirm` saw a code of it. */
  begin(): NewDevice {
    const secret = randomBytes(secretBytes);
    this.#shown = secret;
    return { uri: otpauthUri(secret, `${userInfo().username}@${hostname()}`), secret: base32(secret) };
  }

  /** Enrols the device that shows this code, in place of the one before. */
  confirm(code: string): Result<void, string> {
    const secret = this.#shown;
    if (secret === undefined) return err("No device is being enrolled: run `sluicegate factor add device` again.");
    const step = matchingStep(secret, code, this.#wallMs());
    if (step === undefined) return err(`${wrongCode} Nothing is enrolled yet: give the code that it shows now.`);
    this.#shown = undefined;
    const written = this.#files.write(name, { secret: secret.toString("hex") });
    if (written.ok) this.#use(step);
    if (written.ok) this.#limit.passed();
    return written;
  }

  /** Checks a code, which is used up; the error is a sentence for the approver. */
  check(code: string): Result<void, string> {
    const read = this.#files.read(name);
    if (!read.ok) return read;
    if (read.value === undefined) return err(noDevice);
    const wallMs = this.#wallMs();
    const due = this.#limit.due(wallMs);
    if (!due.ok) return due;
    const counted = this.#limit.failed(wallMs);
    if (!counted.ok) return counted;
    const secret = Buffer.from(stringMember(read.value, "secret") ?? "", "hex");
    const step = matchingStep(secret, code, wallMs);
    if (secret.length !== secretBytes || step === undefined) return err(wrongCode);
    if (!this.#use(step)) return err("This code was used already: wait for the next one.");
    this.#limit.passed();
    return ok(undefined);
  }

  remove(): boolean {
    return this.#files.remove(name);
  }

  /** Marks a step as used; false where it, or a later one, was used before (RFC 6238, 5.2). */
  #use(step: number): boolean {
    const used = this.#files
      .names()
      .filter((file) => file.startsWith(usedPrefix))
      .map((file) => Number(file.slice(usedPrefix.length)));
    if (used.some((other) => other >= step) || !this.#files.claim(`${usedPrefix}${step}`)) return false;
    for (const old of used) this.#files.discard(`${usedPrefix}${old}`);
    return true;
  }
}

const wrongCode = "The code is not the one that the device shows now: check its clock.";

const noDevice = "No device is enrolled: run `sluicegate factor add device` in a terminal of your own, then repeat.";
