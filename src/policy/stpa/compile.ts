/** The formal half of an STPA document as the text of a policy, to be laid over labels. */
import { stringify } from "yaml";
import type { PolicyDocument } from "../document.ts";
import type { StpaDocument } from "./document.ts";
import { formalParts, formalSections } from "./formal.ts";

export type CompileOptions = {
  /** Name of the STPA document, as the policy will refer to it. */
  readonly file: string;
  /** Policies that bring the labels; the built-in default without them. */
  readonly over?: readonly string[];
};

/**
 * Policy text with the hazards and the rule skeletons of a checked document. Stores and labels are not written: they
 * belong to the policy that this is laid over, and a second declaration would replace the first.
 */
export function compileStpa(document: StpaDocument, { file, over = ["default"] }: CompileOptions): string {
  const policy: PolicyDocument = {
    version: 1,
    extends: over,
    stpa: file,
    ...(document.lattice === undefined ? {} : { lattice: document.lattice }),
    ...formalSections(formalParts(document)),
  };
  // Aliases would make the text depend on how the document was written; flow maps are left to whoever edits it.
  return stringify(policy, { aliasDuplicateObjects: false, lineWidth: 116 });
}
