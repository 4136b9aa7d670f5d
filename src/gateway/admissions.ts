/** Manifests that were judged: admission is decided once for each (server, manifest, policy). */
export type Admission = { readonly kind: "connected" } | { readonly kind: "quarantined"; readonly decision: string };

/** Manifests remembered; the oldest is judged again. */
const admissionsMax = 4_096;

export class Admissions {
  readonly #known = new Map<string, Admission>();
  /** Servers whose behaviour cost them their trust, with the decision that says so. */
  readonly #revoked = new Map<string, string>();

  /** Takes every admission of a server back (a deny at `reflect`); only a restart judges it anew. */
  revoke(server: string, decision: string): void {
    if (this.#revoked.size < admissionsMax) this.#revoked.set(server, decision);
  }

  find(server: string, manifestDigest: string, policyDigest: string): Admission | undefined {
    const revoked = this.#revoked.get(server);
    if (revoked !== undefined) return { kind: "quarantined", decision: revoked };
    return this.#known.get(`${server} ${manifestDigest} ${policyDigest}`);
  }

  record(key: { server: string; manifestDigest: string; policyDigest: string }, admission: Admission): void {
    if (this.#known.size >= admissionsMax) {
      const oldest = this.#known.keys().next();
      if (oldest.done !== true) this.#known.delete(oldest.value);
    }
    this.#known.set(`${key.server} ${key.manifestDigest} ${key.policyDigest}`, admission);
  }
}
