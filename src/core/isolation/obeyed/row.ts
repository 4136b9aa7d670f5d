/**
 * How the list of files that programs obey is written. Each row is one page of the documentation of one program, a page
 * of this project for its own; from it comes what the program executes or obeys without being asked to.
 */

/** Kind of such a file; `why` is a clause that follows its name. */
export type ObeyedFile = { readonly id: string; readonly why: string };

/**
 * `patterns`: separated by white space, lower case. The parts of a pattern match parts of a path from any folder on; `*`
 * stands for any characters of one part; a pattern that ends in `/` covers everything below.
 */
export type ObeyedRow = readonly [source: string, patterns: string];

export type ObeyedKind = ObeyedFile & { readonly rows: readonly ObeyedRow[] };
