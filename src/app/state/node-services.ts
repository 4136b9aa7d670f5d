/** Time, chance, secrets and absent oracles: what the enforcement point needs of this machine. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { uptime } from "node:os";
import { performance } from "node:perf_hooks";
import { momentClock, systemClock } from "../../adapters/clock.ts";
import type { Answer } from "../../core/opinion.ts";
import type { Clock, Oracle, Secrets } from "../../gateway/ports/services.ts";
import type { LogKeys } from "../../gateway/ports/store.ts";
import { sha256 } from "../policy/policy-source.ts";

const nonceBytes = 12;
const tagBytes = 16;

/** A sealed text beyond this is not opened: `requestState` comes back from the client, which may give it any size. */
export const sealedLengthMax = 16_384;

/** The one clock of moments in this process. */
const moments = momentClock({
  startWallMs: performance.timeOrigin,
  runningMs: systemClock.monotonicMs,
  uptimeMs: sleepingUptimeMs,
});

/** Moments are logged and folded again by a later process, so their clock must go on where the last process stopped. */
export const goOnFrom = moments.goOnFrom;

/** Milliseconds since the machine started, its sleep included; other systems count that in their monotonic clock. */
function sleepingUptimeMs(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return uptime() * 1_000;
  } catch {
    return undefined;
  }
}

export const nodeClock: Clock = {
  wallMs: systemClock.wallMs,
  monotonicMs: moments.nowMs,
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Secrets of this installation, all derived from its one key file. */
export function nodeSecrets(keys: LogKeys): Secrets {
  // A keyed digest has 16 bytes; two of them make one key for AES-256.
  const key = Buffer.from(["one", "two"].map((half) => keys.keyedDigest(`request state ${half}`)).join(""), "hex");
  return {
    hash: sha256,
    mac: (text) => keys.keyedDigest(text),
    seal: (plain) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    unseal: (sealed) => {
      if (sealed.length > sealedLengthMax) return undefined;
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes));
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        const body = bytes.subarray(nonceBytes + tagBytes);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
      } catch {
        return undefined; // not ours, or changed on the way: as good as absent
      }
    },
    // Hexadecimal: an id that begins with `-` could not be given to a command.
    token: () => randomBytes(18).toString("hex"),
  };
}

/** No judge and no world model is configured: every question is unavailable, at once. */
export const noOracle: Oracle = {
  answer: (questions) =>
    Promise.resolve(
      questions.map((question): Answer => ({
        kind: "unavailable",
        question,
        cause: "none configured",
        silence: "unasked",
      })),
    ),
};
