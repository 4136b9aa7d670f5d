/**
 * Where Python packages come from: the command, the variables of uv and pip, and the settings files of pip (pip(1)
 * configuration, uv's environment variables). Pure.
 */
import { proxyOf } from "./npm-settings.ts";

export const pythonIndexDefault = "https://pypi.org/simple";

/** Hosts of the files of an index that gives links elsewhere. */
const fileHosts: ReadonlyMap<string, readonly string[]> = new Map([
  ["pypi.org", ["https://files.pythonhosted.org/"]],
  ["test.pypi.org", ["https://test-files.pythonhosted.org/"]],
]);

type Environment = Readonly<Record<string, string>>;

export type PythonSettings = {
  /** The index, without credentials: what the lock names. */
  readonly index: string;
  /** Every address that an install may have to reach. */
  readonly addresses: readonly string[];
  /** Folders of this machine that serve as an index or hold packages. */
  readonly folders: readonly string[];
  /** Variables for the installer. May hold credentials: never in an argument or a log. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files that the settings name. */
  readonly files: readonly string[];
  readonly proxy: string | undefined;
};

export function pythonSettings(given: {
  /** Text of pip's files, the least specific first. */
  readonly files: readonly string[];
  readonly environment: Environment;
  readonly index?: string | undefined;
}): PythonSettings {
  const { environment } = given;
  const filed = new Map(given.files.flatMap(pipLines));
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => environment[name]).find((value) => (value ?? "") !== "");
  const index =
    given.index ??
    first("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL") ??
    filed.get("index-url") ??
    pythonIndexDefault;
  const extra = words(first("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL") ?? filed.get("extra-index-url"));
  const links = words(first("UV_FIND_LINKS", "PIP_FIND_LINKS") ?? filed.get("find-links"));
  const cert = first("SSL_CERT_FILE", "PIP_CERT") ?? filed.get("cert");
  const named = [index, ...extra.map(unnamed)];
  const all = [...named, ...links];
  const web = all.filter((one) => /^https?:\/\//i.test(one) && URL.canParse(one));
  const proxied = web.map((one) => proxyOf(environment, one)).find((one) => one !== undefined);
  const proxy = proxied ?? first("PIP_PROXY") ?? filed.get("proxy");
  return {
    index: withoutUser(index),
    addresses: [...new Set([...web, ...web.flatMap((one) => fileHosts.get(new URL(one).hostname) ?? [])])],
    folders: all
      .flatMap((one) => (one.startsWith("file:///") ? [decoded(one)] : one.startsWith("/") ? [one] : []))
      .flatMap((path) => [path, ...besideOf(path)]),
    variables: {
      PIP_INDEX_URL: index,
      UV_DEFAULT_INDEX: index,
      ...(extra.length === 0
        ? {}
        : { PIP_EXTRA_INDEX_URL: named.slice(1).join(" "), UV_INDEX: named.slice(1).join(" ") }),
      ...(links.length === 0 ? {} : { PIP_FIND_LINKS: links.join(" "), UV_FIND_LINKS: links.join(",") }),
      ...(cert === undefined ? {} : { PIP_CERT: cert, SSL_CERT_FILE: cert }),
    },
    files: cert === undefined ? [] : [cert],
    proxy,
  };
}

/** An index in a folder (`x/simple`) may link to files beside it; a top folder of the machine is never meant. */
function besideOf(path: string): readonly string[] {
  const above = path.replace(/\/+[^/]+\/*$/, "");
  return above.split("/").length > 2 ? [above] : [];
}

/** uv lets an index have a name: `internal=https://...`. */
function unnamed(text: string): string {
  return text.replace(/^[A-Za-z0-9_-]+=(?=https?:|file:)/, "");
}

/** The sections `global` and `install`, whose settings hold for an install. */
function pipLines(text: string): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  let section = "";
  for (const line of text.split(/\r?\n/).slice(0, 2_000)) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
    if (!["global", "install"].includes(section)) continue;
    const [, key, value] = /^([a-z][a-z_-]*)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    const last = found.at(-1);
    if (key !== undefined && value !== undefined) found.push([key.replaceAll("_", "-"), value]);
    // A value goes on in the lines that are moved to the right.
    else if (last !== undefined && /^\s+[^\s#;]/.test(line)) found.push([last[0], `${last[1]} ${line.trim()}`]);
  }
  return found;
}

function words(text: string | undefined): readonly string[] {
  return (text ?? "").split(/[\s,]+/).filter((one) => one !== "");
}

function withoutUser(text: string): string {
  if (!URL.canParse(text)) return text.slice(0, 200);
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(new URL(url).pathname);
  } catch {
    return new URL(url).pathname;
  }
}
