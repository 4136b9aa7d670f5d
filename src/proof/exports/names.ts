/**
 * Names in the languages of other tools. Ids of rules, stores, servers and tools come from files and servers that may
 * be hostile and may try to end a quotation or a comment; every such character is escaped.
 */

/** Characters of one comment line; longer texts are cut. */
export const commentCharactersMax = 200;

/** Characters of a readable name before it is made unique. */
const nameCharactersMax = 80;

/**
 * A quoted symbol of SMT-LIB 2: printable ASCII between bars. Characters that could end it, and the marks of names in
 * other states, are written as `%` and four hex digits, so that different texts stay different.
 */
export function symbol(text: string): string {
  return `|${text.replace(/[^ -~]|[|\\%'@]/g, coded)}|`;
}

/** The same symbol in another state: `'` for the next one, `@3` for the third. Only for symbols made by `symbol`. */
export function marked(quoted: string, mark: string): string {
  return `${quoted.slice(0, -1)}${mark}|`;
}

/** One line of printable ASCII. */
export function commentText(text: string): string {
  const line = text.replace(/[^ -~]/g, coded);
  return line.length <= commentCharactersMax ? line : `${line.slice(0, commentCharactersMax - 4)} ...`;
}

function coded(unit: string): string {
  // Without the flag for code points, a match is one unit of UTF-16 and so at most four digits.
  return `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Allocates identifiers of ASCII letters, digits and underscores, each only once. The prefix keeps them apart from the
 * words of a language; it starts with a letter.
 */
export function identifiers(): (prefix: string, text: string) => string {
  const taken = new Set<string>();
  return (prefix, text) => {
    const plain = text.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_|_$/g, "");
    const wanted = `${prefix}_${plain}`.slice(0, nameCharactersMax).replace(/_$/, "");
    let name = wanted;
    // Each round is another name, and the names taken are finitely many.
    for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
    taken.add(name);
    return name;
  };
}
