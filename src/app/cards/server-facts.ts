/** What a card says of the server itself: how it starts, which package it is, which account it has. No secret is in it. */
import type { ServerTarget } from "../../gateway/ports/transport.ts";
import { looksSecret } from "./secret-words.ts";
import { hidden, looksRandom, optionName, shownAddress, shownHost, shownPath, shownValue } from "./shown-words.ts";

export type ServerFacts = {
  readonly transport: "stdio" | "http";
  /** Command line, or scheme and host of an address: names of options, paths and known words; `…` for all else. */
  readonly starts: string;
  readonly package: { readonly name: string; readonly version: string | undefined } | undefined;
  /** Who publishes it, as far as the name of the package or the address tells. */
  readonly publisher: string | undefined;
  /** Names of variables, headers or options with which it signs in somewhere. */
  readonly account: readonly string[];
  /** Without user, path and query. */
  readonly hosts: readonly string[];
  /** Paths among the words of the command. */
  readonly files: readonly string[];
};

/** Words of a command line that are shown, of longer ones the beginning. */
const wordsMax = 40;
/** Values of which hosts and files are named. */
const valuesMax = 200;

const fetchers: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  uvx: [],
  pnpx: [],
  pnpm: ["dlx"],
  yarn: ["dlx"],
  bun: ["x"],
  pipx: ["run"],
  uv: ["tool", "run"],
};

export function serverFacts(target: ServerTarget): ServerFacts {
  return target.kind === "http" ? remoteFacts(target) : localFacts(target);
}

function remoteFacts({ url, headers }: Extract<ServerTarget, { kind: "http" }>): ServerFacts {
  const host = shownHost(url);
  return {
    transport: "http",
    starts: shownAddress(url) ?? "an address that is none",
    package: undefined,
    publisher: host,
    account: Object.keys(headers).filter(
      (name) => /^(authorization|cookie|proxy-authorization)$/i.test(name) || looksSecret(name),
    ),
    hosts: host === undefined ? [] : [host],
    files: [],
  };
}

/** A word of a command, its option where it has one, and what may be shown of its value. */
type Word = {
  readonly option: string | undefined;
  /** What stands behind `=`, or the whole word where it is no option. */
  readonly value: string | undefined;
  /** The name under which the value stands: that of its own word, of the option before, or of a variable. */
  readonly name: string | undefined;
};

function localFacts({ command, args, env }: Extract<ServerTarget, { kind: "stdio" }>): ServerFacts {
  const fetched = packageOf(command, args);
  const words = args.slice(0, valuesMax).flatMap((word, at) => wordsOf(word, args[at - 1]));
  const open = words.flatMap(({ value, name }) =>
    value === undefined || (name !== undefined && looksSecret(name)) ? [] : [value],
  );
  const named = words.flatMap(({ option, name }) => [option, name].filter((one) => one !== undefined));
  return {
    transport: "stdio",
    starts: [shownCommand(command), ...shownWords(args, fetched)].join(" "),
    package: fetched === undefined ? undefined : { name: fetched.name, version: fetched.version },
    publisher: /^(@[^/]+)\//.exec(fetched?.name ?? "")?.[1],
    account: [...new Set([...Object.keys(env), ...named].filter(looksSecret))],
    hosts: [...new Set(words.flatMap(({ value }) => (value === undefined ? [] : (shownHost(value) ?? []))))],
    files: [
      ...new Set(open.flatMap((value) => (/^(?:file:|[/\\~.]|[A-Za-z]:)/.test(value) ? (shownPath(value) ?? []) : []))),
    ],
  };
}

/** `--url=X`, `X` behind `--url`, `NAME=X`, and `Name: X` of a header. */
function wordsOf(word: string, before: string | undefined): readonly Word[] {
  const option = optionName(word);
  if (option !== undefined) {
    const value = word.slice(option.length + 1);
    return word.length === option.length
      ? [{ option, value: undefined, name: undefined }]
      : [{ option, value, name: option }, ...variableOf(value)];
  }
  const behind = before === undefined || before.includes("=") ? undefined : optionName(before);
  return [{ option: undefined, value: word, name: behind }, ...variableOf(word)];
}

function variableOf(word: string): readonly Word[] {
  const [, name, value] = /^([A-Za-z][\w-]{0,63})(?:=|:\s)(.*)$/s.exec(word) ?? [];
  if (name === undefined || looksRandom(name)) return [];
  return [{ option: undefined, value, name }];
}

function shownCommand(command: string): string {
  if (/^[A-Za-z][\w.-]{0,63}$/.test(command) && !looksRandom(command)) return command;
  return shownPath(command) ?? hidden;
}

function shownWords(args: readonly string[], fetched: Fetched | undefined): readonly string[] {
  const shown = args.slice(0, wordsMax).map((word, at) => {
    if (at === fetched?.at) return fetched.shown;
    const option = optionName(word);
    if (option !== undefined) {
      if (word.length === option.length) return option;
      return `${option}=${looksSecret(option) ? hidden : shownValue(word.slice(option.length + 1))}`;
    }
    if (word.startsWith("-")) return hidden;
    const before = optionName(args[at - 1] ?? "");
    return before !== undefined && looksSecret(before) ? hidden : shownValue(word);
  });
  return args.length > wordsMax ? [...shown, `and ${args.length - wordsMax} words more`] : shown;
}

/** A package, the place of its word, and the word as it is shown. */
type Fetched = {
  readonly name: string;
  readonly version: string | undefined;
  readonly at: number;
  readonly shown: string;
};

/** Options of the commands above that take no value; behind any other one it is not certain which word is the package. */
const switches =
  /^(?:-y|-q|-v|--(?:yes|quiet|silent|verbose|no-install|offline|prefer-offline|isolated|refresh|no-cache|bun|no))$/;
const values =
  /^(?:-w|--(?:python|with|index|index-url|extra-index-url|default-index|registry|prefix|userconfig|directory|env-file))$/;
const naming = /^(?:-p|--package|--from|--spec)$/;

/** The package that a command fetches and runs: the first word that is no option of a command made for that. */
function packageOf(command: string, args: readonly string[]): Fetched | undefined {
  const name =
    command
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\.(cmd|exe)$/i, "") ?? "";
  const before = Object.hasOwn(fetchers, name) ? fetchers[name] : undefined;
  if (before === undefined || !before.every((word, at) => args[at] === word)) return undefined;
  for (let at = before.length; at < args.length; at += 1) {
    const word = args[at] ?? "";
    const inWord = /^(--package|--from|--spec)=(.*)$/s.exec(word);
    if (inWord?.[2] !== undefined) return fetchedAs(inWord[2], at, `${inWord[1]}=`);
    if (values.test(word) || (word === "-p" && name.startsWith("uv"))) {
      at += 1;
      continue;
    }
    if (naming.test(word)) return fetchedAs(args[at + 1] ?? "", at + 1, "");
    if (!word.startsWith("-")) return fetchedAs(word, at, "");
    if (!switches.test(word) && !word.includes("=")) return undefined;
  }
  return undefined;
}

const packageSpec =
  /^(@[a-z0-9][\w.-]{0,63}\/)?[A-Za-z0-9][\w.-]{0,127}(\[[\w,-]{1,64}\])?((@|==|>=|~=|<=|<|>)[\w.*^~<>=,+-]{1,64})?$/;
/** Sources of packages whose paths name an owner and a repository, and hold no key. */
const repository =
  /^git\+(?:https|ssh):\/\/(?:[^/@]*@)?(github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)\/([\w.-]{1,39})\/([\w.-]{1,100}?)(?:\.git)?(?:[@#?].*)?$/s;

function fetchedAs(spec: string, at: number, option: string): Fetched | undefined {
  const [, host, owner, project] = repository.exec(spec) ?? [];
  if (host !== undefined && owner !== undefined && project !== undefined && !looksRandom(`${owner}/${project}`)) {
    const name = `git+https://${host}/${owner}/${project}`;
    return { name, version: undefined, at, shown: `${option}${name}` };
  }
  if (!packageSpec.test(spec) || looksRandom(spec)) return undefined;
  const found = /^(@?[^@=<>~]+)(?:@|==)(.+)$/.exec(spec);
  const version = found?.[2];
  const name = found?.[1] ?? spec;
  return { name, version: version === "latest" ? undefined : version, at, shown: `${option}${spec}` };
}
