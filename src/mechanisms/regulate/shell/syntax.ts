/**
 * The syntax of a POSIX shell with the additions of bash, as far as it decides which programs run on what. The reader
 * accepts more than a shell does; whatever a shell would run stands in the tree.
 */

/** UTF-16 units of one command line; a longer one counts as one that cannot be read. */
export const commandUnitsMax = 16_384;

/** Commands inside commands: substitutions, groups, functions, quoted scripts. */
export const commandDepthMax = 32;

/** Words and expansions looked at, over all readings of a text that can be read in two ways. */
export const commandStepsMax = 50_000;

export type Word = {
  /** Quotes removed. Expansions stand as they are written, `$(...)` for a substitution. */
  readonly text: string;
  /** Nothing is expanded: the text is what the program gets, but for `glob`. */
  readonly exact: boolean;
  /** No part is quoted or escaped. */
  readonly plain: boolean;
  /** Holds an unquoted `*`, `?` or `[`. */
  readonly glob: boolean;
  /** Begins with an unquoted `NAME=`, which is an assignment before the program. */
  readonly assigns: boolean;
};

/** A word that nothing happens to. */
export function literal(text: string): Word {
  return { text, exact: true, plain: false, glob: false, assigns: false };
}

export type Redirection = {
  /** `<`, `>`, `>>`, `>|`, `<>`, `<&`, `>&`, `&>`, `&>>`, `<<`, `<<-`, `<<<`. */
  readonly operator: string;
  readonly target: Word;
  /** The input of the command from a here-document or here-string; filled in when its lines are reached. */
  body?: Word;
};

export type Command = {
  readonly assignments: readonly Word[];
  /** Program and arguments; empty for a compound command. */
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
  /** Bodies of a compound command: all of them, whichever would run. */
  readonly bodies: readonly Script[];
  /** Command and process substitutions in any of its words. */
  readonly inner: readonly Script[];
};

export type Pipeline = readonly Command[];
export type Script = readonly Pipeline[];

/** Where a reading is. Only the reader changes it. */
export type Cursor = {
  readonly text: string;
  at: number;
  depth: number;
  readonly work: { steps: number };
  /** Here-documents whose lines come after the end of this line. */
  waiting: Waiting[];
  /** Substitutions of the command that is being read. */
  inner: Script[];
};

export type Waiting = {
  readonly redirection: Redirection;
  readonly delimiter: string;
  readonly tabs: boolean;
  readonly expands: boolean;
  readonly inner: Script[];
};

/** Thrown and caught by the reader only: the text is not a readable command. */
export const unreadable = new Error("no shell command that can be read");

/** Counts one step, and one level around `read`. */
export function nested<T>(cursor: Cursor, read: () => T): T {
  cursor.work.steps += 1;
  cursor.depth += 1;
  if (cursor.depth > commandDepthMax || cursor.work.steps > commandStepsMax) throw unreadable;
  const result = read();
  cursor.depth -= 1;
  return result;
}

/** A sticky match at the cursor, without moving it. */
export function ahead(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  return pattern.exec(cursor.text)?.[0];
}

/** Skips blanks, joined lines and a comment; never the end of a line. */
export function skipBlanks(cursor: Cursor): void {
  const before = cursor.at;
  // A carriage return is a blank only before the end of its line; elsewhere shells take it for a letter.
  cursor.at += ahead(cursor, /(?:[ \t]|\r(?=\n|$)|\\\n)*/y)?.length ?? 0;
  const apart = cursor.at > before || before === 0 || /[\s;&|()]/.test(cursor.text[before - 1] ?? "");
  if (apart && cursor.text[cursor.at] === "#") cursor.at += ahead(cursor, /[^\n]*/y)?.length ?? 0;
}
