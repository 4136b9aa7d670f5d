/** Findings about a command line: filled while it is walked through, and handed out as plain data. */
import { type Effect, everyEffect } from "../../../core/effect.ts";
import { mayHoldSecret, placeOf, readingEffects, writingEffects, writtenPlaceOf } from "./paths.ts";
import type { Word } from "./syntax.ts";

/** Facts that are worth a word on a card. */
export type CommandFlag =
  /** Could not be read: anything may happen. */
  | "unreadable"
  /** The program is only determined while the command runs: a variable as program, `eval` of one, decoded text. */
  | "hidden"
  /** With the rights of another user. */
  | "privilege"
  /** Rights of files or users are changed. */
  | "rights"
  /** Something will run later by itself. */
  | "persistence"
  /** A whole folder is removed. */
  | "deletes-folder"
  /** Code from the network is run. */
  | "runs-download"
  | "credential"
  /** Variables that decide which code runs are set. */
  | "environment";

export type CommandEffects = {
  readonly effects: readonly Effect[];
  /** Hosts as written; `?` where only the run will tell. */
  readonly destinations: readonly string[];
  /** Paths as written. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly flags: readonly CommandFlag[];
  /** False: nothing was understood, and the effects are all that there are. */
  readonly parsed: boolean;
};

/** Paths and hosts that are named; effects are found all the same. */
const namedMax = 64;

export type Findings = {
  readonly effects: Set<Effect>;
  readonly destinations: Set<string>;
  readonly reads: Set<string>;
  readonly writes: Set<string>;
  readonly flags: Set<CommandFlag>;
};

export function noFindings(): Findings {
  return { effects: new Set(), destinations: new Set(), reads: new Set(), writes: new Set(), flags: new Set() };
}

export function plainFindings(found: Findings, parsed: boolean): CommandEffects {
  return {
    effects: [...found.effects].toSorted(),
    destinations: [...found.destinations].toSorted().slice(0, namedMax),
    reads: [...found.reads].toSorted().slice(0, namedMax),
    writes: [...found.writes].toSorted().slice(0, namedMax),
    flags: [...found.flags].toSorted(),
    parsed,
  };
}

export function add(found: Findings, ...effects: readonly Effect[]): void {
  for (const effect of effects) found.effects.add(effect);
}

/** An unknown effect counts as every effect. */
export function addEverything(found: Findings, flag: CommandFlag): void {
  if (found.flags.has(flag)) return;
  add(found, ...everyEffect);
  found.flags.add(flag);
}

/** A usual name of a variable that holds a secret. */
const secretName = /\$\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY)/i;

/** `<(...)` stands for the output of a command, and is not a file. */
const processText = /^[<>]\(/;

/** The command reads this path. */
export function addRead(found: Findings, { text, glob }: Pick<Word, "text" | "glob">): void {
  const place = placeOf(text, glob);
  if (place === "nothing" || processText.test(text)) return;
  found.reads.add(text);
  add(found, "read.local");
  noteSecret(found, text, glob);
}

/** The word is, or holds, a path or variable with something secret in it. */
export function noteSecret(found: Findings, text: string, glob: boolean): void {
  if (mayHoldSecret(text, glob) || secretName.test(text)) addSecret(found);
}

/** Something secret is read. */
export function addSecret(found: Findings): void {
  add(found, ...readingEffects("credential"));
  found.flags.add("credential");
}

/** The command writes to this path. */
export function addWrite(found: Findings, { text, glob }: Pick<Word, "text" | "glob">): void {
  const place = writtenPlaceOf(text, glob);
  if (place === "nothing" || processText.test(text)) return;
  found.writes.add(text);
  add(found, "write.local", ...writingEffects(place));
  if (place === "startup" || place === "schedule") found.flags.add("persistence");
  if (place === "access") found.flags.add("rights");
}
