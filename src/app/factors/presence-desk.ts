/** Pages of user presence: what they show, what they ask the browser for, and to which act an answer is bound. */
import { createHash, randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { PresenceFactor, rpId } from "../../adapters/factors/presence.ts";
import { PresenceServer } from "../../adapters/factors/presence-server.ts";
import type { FactorFiles } from "../../adapters/factors/factor-files.ts";
import { algorithms } from "../../adapters/factors/webauthn.ts";
import type { Result } from "../../core/result.ts";

/** An act that is to be proved. */
export type ProvableAct = {
  /** The request as it was read; tickets name acts by it. */
  readonly text: string;
  /** What it stands for, where that is more than its text: digests of the call and of the policy. */
  readonly bound: string;
  /** It in words, for the page. */
  readonly lines: readonly string[];
};

type Shown = { readonly url: string; readonly answered: Promise<boolean> };

export class PresenceDesk {
  readonly factor: PresenceFactor;
  readonly #server = new PresenceServer();
  /** The answer on the registration page that was opened last. */
  #registration: Promise<boolean> = Promise.resolve(false);

  constructor(files: FactorFiles) {
    this.factor = new PresenceFactor(files);
  }

  /** Serves a page on which a registered key consents to these acts. */
  consent(acts: readonly ProvableAct[], waitMs: number): Promise<Result<Shown, string>> {
    const challenge = challengeFor(acts);
    const allowed = this.factor.ids();
    return this.#server.open({
      content: {
        title: acts.length === 1 ? "Sluicegate asks for your consent" : `Sluicegate asks for ${acts.length} consents`,
        lines: acts.flatMap(({ lines }, index) => (index === 0 ? lines : ["", ...lines])),
        button: "Consent with your key",
        options: { get: { rpId, allowed, userVerification: "discouraged", timeout: waitMs } },
      },
      challenge,
      check: (answer, origin) => this.factor.check(answer, { challenge, origin }),
      waitMs,
    });
  }

  /** Whether a key was registered on the page that was opened last; waits for it. */
  registered(): Promise<boolean> {
    return this.#registration;
  }

  /** Serves a page on which a key is registered. */
  async register(waitMs: number): Promise<Result<Shown, string>> {
    const challenge = randomBytes(32);
    const { username } = userInfo();
    const user = { id: Buffer.from(username).toString("base64url"), name: username, displayName: username };
    const shown = await this.#server.open({
      content: {
        title: "Register a key for Sluicegate",
        lines: ["It will consent to calls under policies with `approvals: {factor: presence}`."],
        button: "Register a key",
        options: {
          create: {
            rp: { id: rpId, name: "Sluicegate" },
            user,
            excluded: this.factor.ids(),
            pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
            authenticatorSelection: { residentKey: "discouraged", userVerification: "discouraged" },
            attestation: "none",
            timeout: waitMs,
          },
        },
      },
      challenge,
      check: (answer, origin) => this.factor.register(answer, { challenge, origin }),
      waitMs,
    });
    if (shown.ok) this.#registration = shown.value.answered;
    return shown;
  }
}

/** A challenge that nothing but these acts has: their texts and what they are bound to, with a number used once. */
function challengeFor(acts: readonly ProvableAct[]): Uint8Array {
  const said = JSON.stringify(acts.map(({ text, bound }) => [text, bound]));
  return createHash("sha256").update(randomBytes(32)).update(said).digest();
}
