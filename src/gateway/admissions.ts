/** Manifests that were judged: admission is decided once for each (server, manifest, policy). */
export type Admission = { readonly kind: "connected" } | { readonly kind: "quarantined"; readonly decision: string };

/** Manifests remembered; the oldest is judged again. */
const admissionsMax = 4_096;

export class Admissions {
  readonly #known = new Map<string, Admission>();

  find(server: string, manifestDigest: string, policyDigest: string): Admission | undefined {
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
