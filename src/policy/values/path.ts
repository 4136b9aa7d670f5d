/**
 * File paths, normalised as text: `.`, `..`, `//`, file URIs, drive letters. Links are not followed here; a caller that
 * needs the real path asks for it as an answer (policy layers do no I/O).
 */
import { canonicalTextUnitsMax } from "./limits.ts";

const drive = /^([A-Za-z]):(?=[\\/]|$)/;
const control = /\p{Cc}/u;

/**
 * Normal form of a path, or undefined if it is empty, has control characters, or means different files on different
 * systems (a backslash in a path that is not plainly a Windows one). A relative path is resolved against `base` where
 * that is given, else it stays relative. `~` is kept as it is written: only the server knows whose home it means.
 */
export function canonicalPath(text: string, base?: string): string | undefined {
  if (text === "" || text.length > canonicalTextUnitsMax || control.test(text)) return undefined;
  const composed = text.normalize("NFC");
  const plain = /^file:/i.test(composed) ? fromFileUri(composed) : composed;
  if (plain === undefined || control.test(plain)) return undefined;
  const split = rootOf(plain);
  if (split === undefined) return undefined;
  if (split.root !== "" || base === undefined) return joined(split);
  const start = canonicalPath(base);
  return start === undefined ? undefined : canonicalPath(`${start}/${plain}`);
}

/** True iff both are canonical and `path` is `folder` or lies below it. */
export function isInside(path: string, folder: string): boolean {
  if (path === folder) return true;
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  // A relative path that climbs is below nothing, whatever it starts with.
  return path.startsWith(prefix) && !path.slice(prefix.length).split("/").includes("..");
}

type Split = { readonly root: string; readonly segments: readonly string[] };

function rootOf(text: string): Split | undefined {
  const letter = drive.exec(text)?.[1];
  const windows = letter !== undefined || text.startsWith("\\\\");
  if (!windows && text.includes("\\")) return undefined;
  const slashed = windows ? text.replaceAll("\\", "/") : text;
  if (letter !== undefined) return { root: `${letter.toUpperCase()}:/`, segments: slashed.slice(2).split("/") };
  if (windows) return { root: "\\\\", segments: slashed.slice(2).split("/") };
  if (slashed === "~" || slashed.startsWith("~/")) return { root: "~/", segments: slashed.slice(1).split("/") };
  return { root: slashed.startsWith("/") ? "/" : "", segments: slashed.split("/") };
}

function joined({ root, segments }: Split): string {
  const climbs = root === "" || root === "~/";
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue;
    const last = kept.at(-1);
    if (segment !== "..") kept.push(segment);
    else if (last !== undefined && last !== "..") kept.pop();
    else if (climbs) kept.push("..");
  }
  if (kept.length === 0) return root === "" ? "." : root === "~/" ? "~" : root;
  // `./~` is a file of that name, not the home folder: it keeps the dot that says so.
  const escape = root === "" && /^(?:~$|[A-Za-z]:|file:)/i.test(kept[0] ?? "") ? "./" : "";
  return root + escape + kept.join("/");
}

function fromFileUri(text: string): string | undefined {
  try {
    const url = new URL(text);
    if (url.hostname !== "" && url.hostname !== "localhost") return undefined;
    // A reader that only cuts off `file://` takes `#` and `?` for a part of the name; a reader that parses does not.
    if (/[?#]/.test(text)) return undefined;
    // An encoded separator would be a name to one server and a folder to the next.
    if (/%(?:2f|5c)/i.test(url.pathname)) return undefined;
    const path = decodeURIComponent(url.pathname).normalize("NFC");
    return drive.test(path.slice(1)) ? path.slice(1) : path;
  } catch {
    return undefined;
  }
}
