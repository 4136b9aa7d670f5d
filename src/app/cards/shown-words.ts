/**
 * The part of a word of a command that a card may show. Any word may hold a secret, and a card is seen on terminals, in
 * answers of the control API and in logs; so nothing is shown that is not of a form that is known to hold none: names of
 * options, paths, hosts, and a closed list of words.
 */

/** Stands for what is not shown. */
export const hidden = "…";

const pathCharactersMax = 120;

/** Words of commands that start servers. */
const plainWords: ReadonlySet<string> = new Set(
  "run exec start serve server stdio http sse mcp dlx tool x npx node python python3 bun deno docker podman uvx uv true false".split(
    " ",
  ),
);

/** Short options that take no value in the same word. */
const shortOptions: ReadonlySet<string> = new Set("-it -ti -jar -cp -rm -mcp -stdio".split(" "));

const pathStart = /^(?:file:\/\/(?=\/)|~?[/\\](?![/\\])|\\\\[\w.-]+\\|\.{1,2}(?=$|[/\\])|~$|[A-Za-z]:[/\\])/;
const sourceFile = /^(?:@?[\w.-]+[/\\])*[\w.-]+\.(?:[cm]?[jt]sx?|py|jar|sh|rb|php|exe|json|toml|ya?ml|sqlite3?|db)$/i;

/** Prefixes that services give to their keys. */
const keyPrefix =
  /^(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|xox[a-z]|npm|pypi|hf|AKIA|ASIA|AIza|eyJ|shpat|lin_api|ntn)[-_]?/;

/** Random text of one piece: a key or token without a name. */
export function looksRandom(text: string): boolean {
  return text.split(/[^A-Za-z0-9_-]+/).some((piece) => {
    const mixed = /\d/.test(piece) && /[A-Za-z]/.test(piece);
    const threefold = mixed && /[a-z]/.test(piece) && /[A-Z]/.test(piece);
    // Words joined by hyphens or underscores are the parts of a name; of a key they are pieces without a meaning.
    const longest = Math.max(...piece.split(/[_-]/).map((part) => part.length));
    if (keyPrefix.test(piece) && (piece.length >= 16 || threefold) && mixed) return true;
    return (mixed && longest >= 20) || (threefold && longest >= 10) || longest >= 40;
  });
}

/** A path without the segments that look like keys; undefined for a word that is not a path. */
export function shownPath(word: string): string | undefined {
  if (!pathStart.test(word) && !sourceFile.test(word)) return undefined;
  // What is behind such a character is a query, a list or a value, and no part of a plain path.
  const end = word.replace(/^file:\/\//, "       ").search(/[?#&=;,+"'`$(){}<>|*\s\p{C}]|(?<=^.{2,}):|(?<![/\\]|^)@/u);
  const plain = end === -1 ? word : word.slice(0, end);
  const shown = plain
    .split(/([/\\])/)
    .map((segment) => (looksRandom(segment) || segment.length > 64 ? hidden : segment))
    .join("")
    .slice(0, pathCharactersMax);
  return end === -1 && plain.length <= pathCharactersMax ? shown : `${shown}${hidden}`;
}

/** Host and port of an address, without labels that look like keys; undefined where it is not certain which part is the host. */
export function shownHost(text: string): string | undefined {
  const rest = /^(?:[a-z]+:)?[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(text)?.[1];
  if (rest === undefined) return undefined;
  const url = URL.parse(text.replace(/^jdbc:/i, ""));
  // With an `@` behind its host, an address is one whose password holds a `/`, and the host before it the user's name.
  const authority = rest.split(/[/?#\\]/, 1)[0] ?? "";
  const isCertain = rest.lastIndexOf("@") === authority.lastIndexOf("@");
  if (url === null || !isCertain) return undefined;
  if (!/^(?:\[[0-9a-f:.]+\]|localhost|[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)(?::\d{1,5})?$/i.test(url.host)) return undefined;
  return url.host
    .split(".")
    .map((label) => (looksRandom(label) || label.length > 32 ? hidden : label))
    .join(".");
}

/** Scheme and host of an address; undefined for a word that is not one. */
export function shownAddress(text: string): string | undefined {
  const scheme = /^((?:[a-z]+:)?[a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  if (scheme === undefined || scheme.toLowerCase() === "file") return undefined;
  const ends = /^[^/?#]*\/?$/.test(text.slice(scheme.length + 3));
  return `${scheme.length > 20 ? hidden : scheme}://${shownHost(text) ?? hidden}${ends ? "" : `/${hidden}`}`;
}

/** The name of an option, without its value; undefined for a word that is not one. */
export function optionName(word: string): string | undefined {
  const found = /^(?:--[A-Za-z][\w.-]{0,39}|-[A-Za-z]|-)(?=$|[=:])/.exec(word)?.[0];
  if (found !== undefined) return looksRandom(found) ? undefined : found;
  return shortOptions.has(word) ? word : undefined;
}

/** A word that is no option, as a card shows it. */
export function shownValue(word: string): string {
  const path = shownPath(word) ?? shownAddress(word);
  return path ?? (plainWords.has(word) ? word : hidden);
}
