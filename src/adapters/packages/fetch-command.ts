/**
 * Commands that fetch a package when they start (`npx`, `uvx`, ...), read as the package and program that they name.
 * Pure. An option that this reader does not know makes the command unresolvable: a word that is taken for a package
 * would install another program than the one that was meant.
 */
import { basename } from "node:path";
import { npmPackage, pypiPackage } from "./package-spec.ts";

export type Ecosystem = "npm" | "pypi";

export type FetchCommand = {
  readonly kind: "fetch";
  readonly ecosystem: Ecosystem;
  /** The command as the user knows it, such as `npx`. */
  readonly runner: string;
  /** Packages as their registry names them, with versions where the command has some; the first holds the program. */
  readonly packages: readonly string[];
  /** Name of the program, where the command names it apart from the package. */
  readonly program: string | undefined;
  readonly args: readonly string[];
  /** Registry that the command itself names. */
  readonly registry: string | undefined;
  /** Pre-releases may be chosen (`--prerelease allow`). */
  readonly preReleases: boolean;
};

/** `reason` is a part of a sentence, after the name of the command. */
export type Unresolvable = { readonly kind: "unresolvable"; readonly runner: string; readonly reason: string };

type Runner = {
  readonly ecosystem: Ecosystem;
  /** Words between the command and its options: `npm exec`. */
  readonly words: readonly string[];
  readonly packageOptions: readonly string[];
  /** Options without a value, which change nothing about what is run. */
  readonly flags: readonly string[];
  /** Options whose value changes nothing about what is run. */
  readonly idle?: readonly string[];
  /** Extra packages beside the one with the program. */
  readonly beside?: readonly string[];
  readonly registryOptions: readonly string[];
  readonly prerelease?: string;
  /** The runner reads options behind the package too, until `--`: what is no option of its own is refused. */
  readonly readsBehind?: boolean;
};

const npmFlags = ["-y", "--yes", "-q", "--quiet", "-s", "--silent", "--no-install", "--no", "--ignore-scripts"];
const npmCaches = ["--prefer-online", "--prefer-offline", "--offline", "--no-audit", "--no-fund", "--ignore-existing"];
const uvFlags = ["-q", "--quiet", "-v", "--verbose", "-n", "--no-cache", "--isolated", "--refresh", "--offline"];
const uvMore = ["--native-tls", "--system-certs", "--no-progress", "--no-config", "-U", "--upgrade", "--no-build"];

const npx: Runner = {
  ecosystem: "npm",
  words: [],
  packageOptions: ["-p", "--package"],
  flags: [...npmFlags, ...npmCaches],
  idle: ["--loglevel"],
  registryOptions: ["--registry"],
};
const dlx: Runner = { ...npx, flags: [...npx.flags, "--bun"] };
const uvx: Runner = {
  ecosystem: "pypi",
  words: [],
  packageOptions: ["--from"],
  flags: [...uvFlags, ...uvMore],
  idle: ["--python", "-p", "--link-mode", "--python-preference"],
  beside: ["--with"],
  registryOptions: ["--index-url", "-i", "--default-index"],
  prerelease: "--prerelease",
};

/** By name of the program; several where the program has several words for it. */
const runners: ReadonlyMap<string, readonly Runner[]> = new Map([
  ["npx", [npx]],
  ["bunx", [dlx]],
  ["pnpx", [dlx]],
  ["npm", ["exec", "x"].map((word) => ({ ...npx, words: [word], readsBehind: true }))],
  ["bun", [{ ...dlx, words: ["x"] }]],
  ["pnpm", [{ ...dlx, words: ["dlx"] }]],
  ["yarn", [{ ...dlx, words: ["dlx"] }]],
  ["uvx", [uvx]],
  ["uv", [{ ...uvx, words: ["tool", "run"] }]],
  [
    "pipx",
    [
      {
        ecosystem: "pypi" as const,
        words: ["run"],
        packageOptions: ["--spec"],
        flags: ["-q", "--quiet", "-v", "--verbose", "--no-cache"],
        idle: ["--python"],
        registryOptions: ["--index-url", "-i"],
      },
    ],
  ],
]);

/** Undefined for a command that fetches nothing that is known. */
export function fetchCommand(command: string, args: readonly string[]): FetchCommand | Unresolvable | undefined {
  const name = basename(command).replace(/(-cli)?\.(c?js|cmd|exe)$/, "");
  const found = runners.get(name)?.find(({ words }) => words.every((word, index) => args[index] === word));
  if (found === undefined) return undefined;
  const runner = [name, ...found.words].join(" ");
  const read = readOptions(found, args.slice(found.words.length));
  if (typeof read === "string") return { kind: "unresolvable", runner, reason: read };
  const named = namedPackages(found, read);
  if (typeof named === "string") return { kind: "unresolvable", runner, reason: named };
  const { registry, preReleases } = read;
  return { kind: "fetch", ecosystem: found.ecosystem, runner, ...named, registry, preReleases };
}

type Options = {
  readonly packages: string[];
  readonly beside: string[];
  registry: string | undefined;
  preReleases: boolean;
  readonly rest: readonly string[];
};

/** A text is the reason why the command cannot be read. */
function readOptions(runner: Runner, words: readonly string[]): Options | string {
  const found = { packages: [] as string[], beside: [] as string[], registry: undefined as string | undefined };
  let preReleases = false;
  let index = 0;
  for (; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (!word.startsWith("-")) break;
    if (word === "--") {
      index += 1;
      break;
    }
    const { option, inline } = parted(word);
    if (inline === undefined && runner.flags.includes(option)) continue;
    const value = inline ?? words[(index += 1)];
    if (value === undefined) return `has an option \`${option}\` without a value`;
    if (runner.packageOptions.includes(option)) found.packages.push(value);
    else if (runner.beside?.includes(option) === true) found.beside.push(value);
    else if (runner.registryOptions.includes(option)) found.registry = value;
    else if (runner.prerelease === option) preReleases = value === "allow";
    else if (runner.idle?.includes(option) !== true && !isTrue(runner, option, inline)) return unknown(option);
  }
  const rest = runner.readsBehind === true ? withoutOptions(words.slice(index)) : words.slice(index);
  return typeof rest === "string" ? rest : { ...found, preReleases, rest };
}

function parted(word: string): { readonly option: string; readonly inline: string | undefined } {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  return equals < 0
    ? { option: word, inline: undefined }
    : { option: word.slice(0, equals), inline: word.slice(equals + 1) };
}

/** A flag that is written out, `--yes=true`. */
function isTrue(runner: Runner, option: string, inline: string | undefined): boolean {
  return runner.flags.includes(option) && (inline === "true" || inline === "false");
}

function unknown(option: string): string {
  return `has an option \`${option.slice(0, 40)}\` that is not known here`;
}

/** `npm exec` takes options behind the package for its own, up to `--`. */
function withoutOptions(words: readonly string[]): readonly string[] | string {
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const option = own.find((word) => word.startsWith("-") && !npx.flags.includes(word));
  if (option !== undefined) return unknown(option);
  return [...own.filter((word) => !word.startsWith("-")), ...(end < 0 ? [] : words.slice(end + 1))];
}

type Named = Pick<FetchCommand, "packages" | "program" | "args">;

/** Without an option for the package the first word is the package, and the program is the package's own. */
function namedPackages({ ecosystem }: Runner, { packages, beside, rest }: Options): Named | string {
  const parse = ecosystem === "npm" ? npmPackage : pypiPackage;
  const [first, ...args] = rest;
  if (first === undefined) return "names no package";
  const apart = packages.length > 0;
  const texts = apart ? [...packages, ...beside] : [first, ...beside];
  const specs = texts.map(parse);
  const odd = texts.find((_, index) => specs[index] === undefined);
  if (odd !== undefined) return `names \`${odd.slice(0, 60)}\`, which is not a package of a registry`;
  if (apart && !isProgram(first)) return `names \`${first.slice(0, 60)}\`, which is not a program of a package`;
  return { packages: specs.flatMap((spec) => spec?.text ?? []), program: apart ? first : undefined, args };
}

/** The name of a program of a package: no path, no option, no hidden file. */
export function isProgram(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$/.test(name);
}
