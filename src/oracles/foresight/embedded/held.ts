/** Names of restrictions as three bits: whatever a policy calls its levels, these three matter to every hazard. */
import { hashText, wordHashes } from "./words.ts";

export const held = { private: 1, secret: 2, untrusted: 4 } as const;

const named = (words: string): ReadonlySet<number> => new Set(words.split(" ").map((word) => hashText(word)));

const secretWords = named("secret secrets credential credentials password passwords key keys token tokens");
/** Words that name no restriction, should one ever be listed. */
const openWords = named("public trusted open none");

/** Restrictions that are looked at. */
const labelsMax = 32;

/** Bits of a list of restrictions, named as `restrictionNames` does. */
export function heldBits(labels: readonly string[]): number {
  let bits = 0;
  for (const label of labels.slice(0, labelsMax)) bits |= heldBit(label);
  return bits;
}

/** Bit of one restriction. A name that says nothing counts as private: an unknown restriction still restricts. */
export function heldBit(label: string): number {
  if (label === "untrusted") return held.untrusted;
  // `not GROUP` keeps readers away, whatever the group is called.
  if (label.startsWith("not ")) return held.private;
  const words = wordHashes(label);
  if (words.some((word) => secretWords.has(word))) return held.secret;
  return words.length === 0 || words.some((word) => openWords.has(word)) ? 0 : held.private;
}
