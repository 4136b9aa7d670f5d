/**
 * Files that programs of the user (version control, shell, editor, agent, package manager) execute or obey by themselves:
 * writing one runs code later, whatever folder it is in. No isolated server may write one, and a call to any other server
 * needs consent to do so (docs/decisions/0019, 0030). The names are data with a source each (`obeyed/`); where a name does
 * not tell, the content does (`obeyed-content.ts`).
 *
 * `package.json`, build files and tests are not here although they can run code: changing them is what coding agents
 * are for, and they run at the request of the user.
 */
import { agents } from "./obeyed/agents.ts";
import { editors } from "./obeyed/editors.ts";
import { packages } from "./obeyed/packages.ts";
import { pipelines } from "./obeyed/pipelines.ts";
import type { ObeyedFile, ObeyedKind } from "./obeyed/row.ts";
import { shells } from "./obeyed/shells.ts";
import { versionControl } from "./obeyed/version-control.ts";

/** Every kind of such files, with the pages that say so. */
export const obeyedKinds: readonly ObeyedKind[] = [
  ...versionControl,
  ...agents,
  ...editors,
  ...shells,
  ...packages,
  ...pipelines,
];

/** One part of a pattern: its text, or the texts between its stars. */
type Part = string | readonly string[];
type Entry = { readonly file: ObeyedFile; readonly parts: readonly Part[]; readonly below: boolean };

/** By first part, so that a path of n parts costs n look-ups; entries whose first part has a star come apart. */
const byFirstPart = new Map<string, Entry[]>();
const starred: Entry[] = [];
for (const { id, why, rows } of obeyedKinds) {
  for (const pattern of rows.flatMap(([, patterns]) => patterns.split(" "))) {
    const parts = pattern
      .split("/")
      .filter((part) => part !== "")
      .map((part) => (part.includes("*") ? part.split("*") : part));
    const entry = { file: { id, why }, parts, below: pattern.endsWith("/") };
    const [first = ""] = parts;
    if (typeof first === "string") byFirstPart.set(first, [...(byFirstPart.get(first) ?? []), entry]);
    else starred.push(entry);
  }
}

/**
 * One part of a path as file systems that fold names see it: without case (APFS, NTFS, casefold ext4), compatibility
 * forms and invisible characters (CVE-2014-9390: `.g\u200cit`), trailing dots and spaces or a stream name (NTFS).
 */
export function foldedName(part: string): string {
  const plain = part.normalize("NFKC").replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "");
  const whole = (plain.split(":")[0] ?? "").replace(/[. ]+$/u, "");
  const folded = (whole === "" ? plain : whole).toLowerCase().replaceAll("ſ", "s").replaceAll("ı", "i");
  // The short name that old Windows file systems give to `.git` (CVE-2014-9390 again).
  return /^git~\d$/.test(folded) ? ".git" : folded;
}

/** The kind of the file at this path, or undefined. `isFolder`: it is known to be a folder. */
export function obeyedFile(path: string, isFolder: boolean): ObeyedFile | undefined {
  const parts = path.split("/").map(foldedName);
  for (const [index, part] of parts.entries()) {
    // A file or link `.git` leads git to a folder elsewhere, with hooks of the server's choice.
    if (part === ".git" && index === parts.length - 1 && !isFolder) return gitItself;
    const found = byFirstPart.get(part)?.find((entry) => fits(entry, parts, index));
    if (found !== undefined) return found.file;
    const matched = starred.find((entry) => fits(entry, parts, index));
    if (matched !== undefined) return matched.file;
  }
  return undefined;
}

function fits({ parts: wanted, below }: Entry, parts: readonly string[], index: number): boolean {
  const end = index + wanted.length;
  if (end > parts.length || (!below && end !== parts.length)) return false;
  return wanted.every((one, at) => fitsPart(one, parts[index + at] ?? ""));
}

/** The texts between the stars occur in this order, the first at the begin and the last at the end. */
function fitsPart(wanted: Part, part: string): boolean {
  if (typeof wanted === "string") return wanted === part;
  const last = wanted.at(-1) ?? "";
  let from = wanted[0]?.length ?? 0;
  if (!part.startsWith(wanted[0] ?? "") || !part.endsWith(last) || part.length < from + last.length) return false;
  for (const text of wanted.slice(1, -1)) {
    const found = part.indexOf(text, from);
    if (found === -1) return false;
    from = found + text.length;
  }
  return from + last.length <= part.length;
}

const gitItself: ObeyedFile = { id: "git-folder", why: "it would put a repository of the server's making here" };
