/**
 * Follows `extends` and `servers.X.pack` to every document that a policy is made of, and fetches the programs of rules. Reading is the caller's: the
 * loader maps a name to a text or a document, and this decides only the order, and refuses cycles.
 */
import { type Problem, type Diagnostic, problem, quoted } from "../document/diagnostic.ts";
import { type PolicyDocument, type PolicySource, checkDocument, parsePolicy } from "./policy-document.ts";
import type { RuleText } from "../document/shapes-rules.ts";
import { policyDocumentsMax } from "../values/limits.ts";
import { diagnose } from "../document/parse.ts";
import { defaultPolicy, defaultPolicyName } from "./default-policy.ts";

export type PolicyInput =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly document: PolicyDocument };

/** Finds what a name in `extends`, `pack` or `predicate` means: `default`, a pack, or a file beside `from`. */
export type PolicyLoader = (name: string, from: string) => PolicyInput | undefined;

export type Gathered = {
  /** Base first; the document that was asked for is last. */
  readonly documents: readonly PolicySource[];
  readonly packs: readonly PolicySource[];
  readonly diagnostics: readonly Diagnostic[];
};

/** A name that one document writes, and where. */
type Link = {
  readonly name: string;
  readonly path: Problem["path"];
  readonly complain: (found: Problem) => void;
};

function readInput(input: PolicyInput) {
  return "text" in input ? parsePolicy(input.text, input.file) : checkDocument(input.document, input.file);
}

export function gather(input: PolicyInput, loader: PolicyLoader): Gathered {
  const documents: PolicySource[] = [];
  const packs: PolicySource[] = [];
  const diagnostics: Diagnostic[] = [];
  const done = new Set<string>();

  const take = (source: PolicySource, open: readonly string[]): void => {
    const complain = (found: Problem): void => void diagnostics.push(diagnose(found, source));
    (source.document.extends ?? []).forEach((name, index) =>
      follow({ name, path: ["extends", index], complain }, source, open),
    );
    if (source.document.pack === undefined) documents.push(withPrograms(source, loader, complain));
    else {
      for (const found of foreignTo(source.document)) complain(found);
      packs.push(source);
    }
    for (const [server, facts] of Object.entries(source.document.servers ?? {})) {
      if (facts.pack !== undefined)
        follow({ name: facts.pack, path: ["servers", server, "pack"], complain }, source, open);
    }
  };

  const follow = ({ name, path, complain }: Link, from: PolicySource, open: readonly string[]): void => {
    const found = loader(name, from.file);
    if (found === undefined) {
      complain(problem("EXTENDS", path, `there is no policy, pack or file ${quoted(name)}`, "check the name"));
    } else if (open.includes(found.file)) {
      const remedy = "remove one link of the cycle";
      complain(
        problem(
          "CYCLE",
          path,
          `${quoted(name)} extends itself through ${open.length} ${open.length === 1 ? "file" : "files"}`,
          remedy,
        ),
      );
    } else if (!done.has(found.file)) {
      done.add(found.file);
      if (done.size > policyDocumentsMax) {
        complain(problem("EXTENDS", path, `more than ${policyDocumentsMax} documents are joined`, "extend fewer"));
        return;
      }
      const read = readInput(found);
      if (!read.ok) diagnostics.push(...read.error);
      else {
        if (path[0] === "servers" && read.value.document.pack === undefined) {
          complain(problem("PACK", path, `${quoted(name)} is not a label pack`, "name a pack, or use `extends`"));
        }
        take(read.value, [...open, found.file]);
      }
    }
  };

  const first = readInput(input);
  if (!first.ok) return { documents, packs, diagnostics: first.error };
  done.add(input.file);
  take(first.value, [input.file]);
  return { documents, packs, diagnostics };
}

/** Sections that a label pack may have; any other would be checked and then have no effect. */
const packSections: ReadonlySet<string> = new Set(["version", "extends", "pack", "labels", "stores", "expect"]);

function foreignTo(document: PolicyDocument): readonly Problem[] {
  const foreign = Object.keys(document).filter((section) => !packSections.has(section));
  return foreign.map((section) => {
    const remedy = "move it to a policy that extends the pack";
    return { ...problem("PACK", [section], `a label pack has no ${quoted(section)}`, remedy), atKey: true };
  });
}

/** The document with each `FILE#NAME` of a rule replaced by what the file holds, so that a digest covers the program. */
function withPrograms(source: PolicySource, loader: PolicyLoader, complain: (found: Problem) => void): PolicySource {
  const { rules } = source.document;
  if (rules?.some(({ predicate }) => typeof predicate === "string") !== true) return source;
  const read = rules.map((rule, index): RuleText => {
    if (typeof rule.predicate !== "string") return rule;
    const [file = "", name = ""] = rule.predicate.split("#");
    const found = loader(file, source.file);
    if (found !== undefined && "text" in found) return { ...rule, predicate: { name, source: found.text } };
    const path = ["rules", index, "predicate"] as const;
    complain(problem("PREDICATE", path, `there is no program ${quoted(file)}`, "check the path, from this file"));
    return { ...rule, predicate: { name, source: "" } };
  });
  return { ...source, document: { ...source.document, rules: read } };
}

/** The policy input that holds without a file. */
export const defaultInput: PolicyInput = { file: defaultPolicyName, document: defaultPolicy };

/**
 * A loader over the shipped packs (text by pack name) and, for everything else, over files beside the policy.
 * `readBeside` gets a name and the file that mentions it; it bounds what it reads and answers undefined for a file that
 * is not there.
 */
export function packLoader(
  packs: ReadonlyMap<string, string>,
  readBeside: PolicyLoader = () => undefined,
): PolicyLoader {
  return (name, from) => {
    if (name === defaultPolicyName) return defaultInput;
    const text = packs.get(name);
    return text === undefined ? readBeside(name, from) : { file: `packs/${name}.yaml`, text };
  };
}
