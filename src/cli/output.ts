/** Prints the outcome of a command, and registers its options and its action with the command line. */
import type { Command } from "commander";
import type { Outcome } from "../app/state/outcome.ts";

/** Prints an outcome and leaves its exit code for the process. */
export function print(outcome: Outcome, asJson: boolean): void {
  process.exitCode = outcome.exitCode;
  if (asJson && outcome.json === undefined) return;
  if (asJson) process.stdout.write(`${JSON.stringify(outcome.json, undefined, 2)}\n`);
  else if (outcome.text !== "") (outcome.exitCode === 2 ? process.stderr : process.stdout).write(`${outcome.text}\n`);
}

/** The options of a command by their flags, each with its help; a pair has a default, and `required` has to be given. */
export type OptionTable = {
  readonly [flags: string]:
    | string
    | readonly [help: string, standard: string | undefined]
    | { readonly required: string };
};

type Camel<W extends string> = W extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : W;
type Name<F extends string> = F extends `${string}--${infer L} ${string}`
  ? Camel<L>
  : F extends `${string}--${infer L}`
    ? Camel<L>
    : never;
type Value<F extends string> = F extends `${string}...>`
  ? readonly string[]
  : F extends `${string}>`
    ? string
    : F extends `${string}]`
      ? string | true
      : true;
type Present = readonly [string, string] | { readonly required: string };

/** Options of a table: `--cert-dir <folder>` is `certDir?: string`, `--to <form...>` a list, a flag alone `true`. */
export type OptionsOf<T extends OptionTable> = {
  readonly [F in keyof T & string as T[F] extends Present ? Name<F> : never]: Value<F>;
} & {
  readonly [F in keyof T & string as T[F] extends Present ? never : Name<F>]?: Value<F>;
};

/** The option that names lists of tools. */
export const manifestOption = {
  "--manifest <file...>": "tools of a server as `tools/list` gave them; NAME=FILE names it",
} as const;

/** Registers options; the function gives those of the command line, once it is parsed. */
export function takes<const T extends OptionTable>(command: Command, table: T): () => OptionsOf<T> {
  for (const [flags, about] of Object.entries<OptionTable[string]>(table)) {
    if (typeof about === "string") command.option(flags, about);
    else if ("required" in about) command.requiredOption(flags, about.required);
    else command.option(flags, ...about);
  }
  return () => command.opts<OptionsOf<T>>();
}

/** Adds the action of a command whose outcome is printed as its `--json` says. */
export function acts<const T extends OptionTable, A extends unknown[]>(
  command: Command,
  table: T,
  run: (options: OptionsOf<T> & { readonly json?: true }, ...words: A) => Promise<Outcome> | Outcome,
): Command {
  const options = takes(command, table);
  const asJson = takes(command, { "--json": "print JSON for machines" });
  return command.action(async (...all: unknown[]) => {
    // The framework passes the words of the command line, then options, then the command itself.
    const words = all.slice(0, -2) as A;
    print(await run({ ...options(), ...asJson() }, ...words), asJson().json === true);
  });
}
