/** Manifests that were judged: admission is decided once for each (server, manifest, policy, enclosed process). */
import { BoundedMap } from "../../core/bounded-map.ts";

export type Admission =
  | { readonly kind: "connected" }
  | {
      readonly kind: "quarantined";
      readonly decision: string;
      /** The approval by which the operator may release it, and when that expires (wall ms). */
      readonly approval?: { readonly id: string; readonly expires: number };
    };

export type AdmissionKey = {
  readonly server: string;
  readonly manifestDigest: string;
  readonly policyDigest: string;
  /** The enclosed process that its contracts count on; empty where nothing bounds the process. */
  readonly process: string;
};

/** Manifests remembered; the oldest is judged again. */
const admissionsMax = 4_096;

export class Admissions {
  readonly #known = new BoundedMap<string, Admission>(admissionsMax);
  /** Servers whose behaviour cost them their trust, with the decision that says so. */
  readonly #revoked = new Map<string, string>();
  /** Manifests whose look-up or approval is under way; callers that come meanwhile get the same answer. */
  readonly #pending = new Map<string, Promise<Admission>>();
  #epoch = 0;

  /** Changes whenever an admission is taken back or released: a caller that remembers one must look it up again. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Takes every admission of a server back (a deny at `reflect`); only a restart judges it anew. */
  revoke(server: string, decision: string): void {
    this.#epoch += 1;
    if (this.#revoked.size < admissionsMax) this.#revoked.set(server, decision);
  }

  /** True for a server whose behaviour cost it its trust. */
  isRevoked(server: string): boolean {
    return this.#revoked.has(server);
  }

  find(key: AdmissionKey): Admission | undefined {
    const revoked = this.#revoked.get(key.server);
    if (revoked !== undefined) return { kind: "quarantined", decision: revoked };
    return this.#known.get(nameOf(key));
  }

  record(key: AdmissionKey, admission: Admission): void {
    const name = nameOf(key);
    if (this.#known.get(name)?.kind === "quarantined") this.#epoch += 1;
    this.#known.set(name, admission);
  }

  /** Runs a look-up once for all callers that ask while it runs. */
  once(key: AdmissionKey, lookUp: () => Promise<Admission>): Promise<Admission> {
    const name = nameOf(key);
    const known = this.#pending.get(name);
    if (known !== undefined) return known;
    const pending = lookUp().finally(() => this.#pending.delete(name));
    this.#pending.set(name, pending);
    return pending;
  }
}

function nameOf({ server, manifestDigest, policyDigest, process }: AdmissionKey): string {
  return `${server} ${manifestDigest} ${policyDigest} ${process}`;
}
