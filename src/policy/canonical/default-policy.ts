/**
 * The policy that holds without a file. Permission itself (reads pass, writes outside ask) is the total default of the
 * semantics; this adds the hazards that must never happen, in words that a stopped user can understand.
 */
import type { PolicyDocument } from "./policy-document.ts";

/** Name under which the built-in default policy is found in `extends`. */
export const defaultPolicyName = "default";

/**
 * Packs pinned to the digests of real tools: a server that lists exactly these needs no configuration. Every other
 * shipped pack takes effect only for a server that a policy gives it to, and is read only then.
 */
export const pinnedPacks: readonly string[] = ["everything", "filesystem", "memory", "sequential-thinking"];

/** Effects that leave this machine for readers without a statement of trust. */
const outside: readonly string[] = ["write.external", "read.external", "execute.external"];

export const defaultPolicy: PolicyDocument = {
  version: 1,
  extends: pinnedPacks,
  lattice: {
    confidentiality: ["public", "sensitive", "private"],
    categories: ["credentials", "medical", "finance"],
    trust: ["trusted", "untrusted"],
    groups: ["me", "anyone"],
    clearance: { anyone: "public" },
  },
  hazards: {
    "private-leaves": {
      loss: "private data becomes known to others",
      consent: "may",
      why: "private data must not leave without your word",
      never: {
        flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: outside } },
      },
    },
    "credentials-leave": {
      loss: "somebody else can act in your name",
      consent: "never",
      why: "passwords and keys never leave this machine",
      never: {
        flow: { from: { categories: ["credentials"], audience: ["anyone"] }, to: { effect: outside } },
      },
    },
  },
  rules: [
    {
      id: "keep-private",
      tier: "block",
      when: { effect: outside, data: { confidentiality: "private", audience: ["anyone"] } },
      why: "private data stays with you",
      serves: ["private-leaves"],
    },
    // A key that some label calls less than private would pass the rule above.
    {
      id: "keep-credentials",
      tier: "block",
      when: { effect: outside, data: { categories: ["credentials"], audience: ["anyone"] } },
      why: "passwords and keys never leave this machine",
      serves: ["credentials-leave"],
    },
  ],
  flow: { mode: "provenance" },
  approvals: { form: "reversible", by: "anyone", hold: "45s", expires: "10m" },
};
