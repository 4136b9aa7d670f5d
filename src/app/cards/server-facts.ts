/** What a card says of the server itself: how it starts, which package it is, which account it has. No secret is in it. */
import { looksSecret } from "./secret-words.ts";
import type { ServerTarget } from "../../gateway/ports/transport.ts";

export type ServerFacts = {
  readonly transport: "stdio" | "http";
  /** Command line, or address without user and query; what looks like a secret is left out. */
  readonly starts: string;
  readonly package: { readonly name: string; readonly version: string | undefined } | undefined;
  /** Who publishes it, as far as the name of the package or the address tells. */
  readonly publisher: string | undefined;
  /** Names of variables, headers or options with which it signs in somewhere. */
  readonly account: readonly string[];
  readonly hosts: readonly string[];
  readonly files: readonly string[];
};

/** Words of a command line that are shown, and characters of each. */
const wordsMax = 40;
const wordCharactersMax = 120;

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
  const parsed = URL.parse(url);
  const host = parsed?.host ?? "";
  return {
    transport: "http",
    starts: parsed === null ? "an address that is none" : `${parsed.origin}${parsed.pathname}`,
    package: undefined,
    publisher: host === "" ? undefined : host,
    account: Object.keys(headers).filter(
      (name) => /^(authorization|cookie|proxy-authorization)$/i.test(name) || looksSecret(name),
    ),
    hosts: host === "" ? [] : [host],
    files: [],
  };
}

function localFacts({ command, args, env }: Extract<ServerTarget, { kind: "stdio" }>): ServerFacts {
  const words = withoutSecrets(args);
  const fetched = packageOf(command, args);
  const scope = /^(@[^/]+)\//.exec(fetched?.name ?? "")?.[1];
  const urls = args.flatMap((word) => URL.parse(word) ?? []);
  return {
    transport: "stdio",
    starts: [command, ...words].join(" "),
    package: fetched,
    publisher: scope,
    account: [
      ...Object.keys(env).filter(looksSecret),
      ...args
        .filter((word) => /^--?[\w-]+/.test(word) && looksSecret(word.split("=")[0] ?? ""))
        .map((word) => word.split("=")[0] ?? ""),
    ],
    hosts: [...new Set(urls.filter(({ host }) => host !== "").map(({ host }) => host))],
    files: args.filter((word) => /^(?:\/|~\/|\.\.?\/)/.test(word)).map((word) => word.slice(0, wordCharactersMax)),
  };
}

/** Words behind an option for a secret are secrets, and so is what has the form of one. */
function withoutSecrets(args: readonly string[]): readonly string[] {
  const shown = args.slice(0, wordsMax).map((word, at) => {
    const [name = "", ...value] = word.split("=");
    const before = args[at - 1] ?? "";
    if (before.startsWith("-") && !before.includes("=") && looksSecret(before) && !word.startsWith("-")) return "…";
    if (value.length > 0 && looksSecret(name)) return `${name}=…`;
    const url = URL.parse(word);
    if (url !== null && url.host !== "") return `${url.origin}${url.pathname}`;
    return word.length > wordCharactersMax || maskable.test(word) ? "…" : word;
  });
  return args.length > wordsMax ? [...shown, `and ${args.length - wordsMax} words more`] : shown;
}

/** Random text of one piece: a key or token without a name. */
const maskable = /(?=[^/\\.\s]*\d)(?=[^/\\.\s]*[A-Za-z])[A-Za-z0-9_+-]{24,}/;

/** The package that a command fetches and runs: the first word that is no option of a command made for that. */
function packageOf(command: string, args: readonly string[]): ServerFacts["package"] {
  const name =
    command
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\.(cmd|exe)$/i, "") ?? "";
  const before = Object.hasOwn(fetchers, name) ? fetchers[name] : undefined;
  if (before === undefined || !before.every((word, at) => args[at] === word)) return undefined;
  const rest = args.slice(before.length);
  const named = rest.find((_word, at) => /^(-p|--package|--from)$/.test(rest[at - 1] ?? ""));
  const spec = named ?? rest.find((word) => !word.startsWith("-"));
  if (spec === undefined || !/^[\w@./:+=~^<>!,[\]-]{1,214}$/.test(spec)) return undefined;
  const found = /^(@?[^@=]+)(?:@|==)(.+)$/.exec(spec);
  const version = found?.[2];
  return { name: found?.[1] ?? spec, version: version === "latest" ? undefined : version };
}
