/** What a server may do to a tree of files, as data; and trees as data, to compare them. */
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";

export type Edit =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "touch"; readonly path: string }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "mode"; readonly path: string; readonly mode: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | { readonly kind: "pipe"; readonly path: string }
  /** Bytes that were never written, and take no room. */
  | { readonly kind: "holes"; readonly path: string; readonly bytes: number };

/** An edit that the system refuses is refused in the projection and outside alike, so it is passed over. */
export function applyEdits(root: string, edits: readonly Edit[]): void {
  for (const edit of edits) {
    try {
      applyEdit(root, edit);
    } catch {
      // Such as a file in the place of a folder on the way.
    }
  }
}

function applyEdit(root: string, edit: Edit): void {
  const at = join(root, edit.path);
  switch (edit.kind) {
    case "write":
      // Never through a link: that is another path, and the tests name the paths they change.
      if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(at);
      return writeFileSync(at, edit.text);
    case "touch":
      return truncateSync(at, lstatSync(at).size);
    case "folder":
      mkdirSync(at);
      return;
    case "remove":
      return rmSync(at, { recursive: true });
    case "rename":
      return move(at, join(root, edit.to));
    case "mode":
      if (lstatSync(at).isSymbolicLink()) return;
      return chmodSync(at, lstatSync(at).isDirectory() ? edit.mode | 0o700 : edit.mode);
    case "link":
      return symlinkSync(edit.target, at);
    case "holes":
      writeFileSync(at, "");
      return truncateSync(at, edit.bytes);
    case "pipe":
      execFileSync("mkfifo", [at]);
  }
}

/** As `mv`: an overlay refuses to rename folders of its lower layer, and programs copy them instead. */
function move(from: string, to: string): void {
  // Over an empty folder a rename works on most file systems and a copy does not.
  if (lstatSync(to, { throwIfNoEntry: false })?.isDirectory() === true || `${to}/`.startsWith(`${from}/`)) return;
  if (lstatSync(from).isDirectory()) {
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    rmSync(from, { recursive: true });
  } else renameSync(from, to);
}

const path = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const text = fc.constantFrom("", "one", "two", "three\nlines\nhere\n");
const mode = fc.constantFrom(0o600, 0o644, 0o755);

export const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("write" as const), path, text }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("folder" as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rename" as const), path, to: path }) },
  fc.record({ kind: fc.constant("mode" as const), path, mode }),
  fc.record({ kind: fc.constant("touch" as const), path }),
  fc.record({ kind: fc.constant("link" as const), path, target: fc.constantFrom("a", "b/c", "nowhere") }),
);

/** One line per entry: path, type, permissions, content. */
export function treeOf(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  // A walk that follows links would show what they lead to a second time.
  return names.flatMap((name) => {
    const at = join(root, name);
    if (throughLink(root, name)) return [];
    const stats = lstatSync(at);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) return [`${name} -> ${readlinkSync(at)}`];
    if (stats.isDirectory()) return [`${name}/ ${mode}`];
    return [stats.isFile() ? `${name} ${mode} ${JSON.stringify(readFileSync(at, "utf8"))}` : `${name} special`];
  });
}

function throughLink(root: string, name: string): boolean {
  const parts = name.split("/");
  return parts.some((_, index) => index > 0 && lstatSync(join(root, ...parts.slice(0, index))).isSymbolicLink());
}
