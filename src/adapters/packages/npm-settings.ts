/**
 * The settings of npm that say where packages come from and with which credentials, from the places that npm reads them
 * (config(7) of npm): command, environment, project, user, global. Only these settings reach the step that installs;
 * others (programs to run, folders to write) do not. Pure.
 *
 * A project's file comes with a repository and may be hostile: it may name a registry, which the lock then keeps apart
 * from every other, and neither credentials nor variables of the environment.
 */
import type { PackageSpec } from "./package-spec.ts";

export const npmRegistryDefault = "https://registry.npmjs.org/";

/** Text of each file that exists. */
export type NpmFiles = {
  readonly project?: string | undefined;
  readonly user?: string | undefined;
  readonly global?: string | undefined;
};

type Environment = Readonly<Record<string, string>>;

export type NpmSettings = {
  /** Registry of the first package: what the lock names. */
  readonly registry: string;
  /** Every address that an install may have to reach. */
  readonly registries: readonly string[];
  /** Settings for a file of npm. Holds credentials: written to a private file, never into an argument or a log. */
  readonly lines: readonly string[];
  /** Files that the settings name (`cafile`, `certfile`, `keyfile`). */
  readonly files: readonly string[];
  /** A proxy that stands between this machine and the registry. */
  readonly proxy: string | undefined;
};

const linesMax = 2_000;
const plainKeys = new Set(["registry", "cafile", "ca", "ca[]", "strict-ssl", "maxsockets"]);
const proxyKeys = ["https-proxy", "proxy", "http-proxy"];
const fileKeys = /^(?:cafile|\/\/.+:(?:certfile|keyfile))$/;
const scoped = /^@[a-z0-9~-][a-z0-9._~-]*:registry$/;
const ofHost = /^\/\/[^\s=]+:(?:_authToken|_auth|username|_password|email|certfile|keyfile)$/;

export function npmSettings(
  packages: readonly PackageSpec[],
  given: { readonly files: NpmFiles; readonly environment: Environment; readonly registry?: string | undefined },
): NpmSettings {
  const { files, environment } = given;
  const own = [
    ...linesOf(files.global, environment),
    ...linesOf(files.user, environment),
    ...linesOf(files.project, undefined),
    ...fromEnvironment(environment),
    ...(given.registry === undefined ? [] : [["registry", given.registry] as const]),
  ];
  const all = new Map(own.filter(([key]) => key !== "ca[]"));
  const main = address(all.get("registry")) ?? npmRegistryDefault;
  const scopes = [...all].flatMap(([key, value]) => (scoped.test(key) ? [[key, address(value) ?? main] as const] : []));
  const scopeOf = (name: string): string =>
    name.startsWith("@") ? `${name.slice(0, name.indexOf("/"))}:registry` : "";
  const registry = scopes.find(([key]) => key === scopeOf(packages[0]?.name ?? ""))?.[1] ?? main;
  const proxy = proxyKeys.map((key) => all.get(key)).find((value) => value !== undefined && !isOff(value));
  const kept = own.filter(([key]) => plainKeys.has(key) || scoped.test(key) || ofHost.test(key));
  return {
    registry,
    registries: [...new Set([registry, main, ...scopes.map(([, value]) => value)])],
    lines: [...kept.map(([key, value]) => `${key}=${value}`), `registry=${main}`],
    files: kept.flatMap(([key, value]) => (fileKeys.test(key) ? [value] : [])),
    proxy: proxy ?? proxyOf(environment, registry),
  };
}

/** `environment` undefined: a file of a project, of which only registries without variables count. */
function linesOf(text: string | undefined, environment: Environment | undefined): (readonly [string, string])[] {
  const lines = (text ?? "").split(/\r?\n/).slice(0, linesMax);
  return lines.flatMap((line) => {
    const found = /^\s*([^\s#;=][^=]*?)\s*=\s*(.*?)\s*$/.exec(line);
    if (found === null) return [];
    const [key = "", raw = ""] = found.slice(1);
    const value = /^(["'])(.*)\1$/.exec(raw)?.[2] ?? raw;
    if (environment !== undefined) return [[key, expanded(value, environment)]];
    const mayName = key === "registry" || scoped.test(key);
    return mayName && !value.includes("${") ? [[key, value]] : [];
  });
}

/** `${NAME}` and `${NAME?}` as npm reads them; a name that is not set stays as it is written, so that it fails visibly. */
function expanded(value: string, environment: Environment): string {
  return value.replaceAll(/(?<!\\)\$\{([^${}?]+)(\??)\}/g, (whole, name: string, optional: string) => {
    const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
    return found ?? (optional === "?" ? "" : whole);
  });
}

/** `npm_config_registry`, in capitals too; the names of settings have `-` where those of variables have `_`. */
function fromEnvironment(environment: Environment): (readonly [string, string])[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    const found = /^npm_config_(.+)$/i.exec(name)?.[1];
    if (found === undefined || value === "" || /[\r\n]/.test(value)) return [];
    // Keys of hosts and scopes keep their case and their underscores.
    const key = /^(?:\/\/|@)/.test(found) ? found : found.toLowerCase().replaceAll(/(?!^)_/g, "-");
    return [[key, value] as const];
  });
}

/** With a closing slash, as npm compares them; undefined for what is no address of the web. */
function address(text: string | undefined): string | undefined {
  if (text === undefined || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href } = new URL(text);
  return href.endsWith("/") ? href : `${href}/`;
}

function isOff(value: string): boolean {
  return ["", "null", "false", "undefined"].includes(value);
}

/** The proxy of the environment that programs use for an address (curl(1)); undefined where it is excluded. */
export function proxyOf(environment: Environment, url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  const names = protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const named = [...names, "all_proxy", "ALL_PROXY"].map((name) => environment[name]).find((one) => (one ?? "") !== "");
  if (named === undefined || hostname === "localhost" || hostname === "127.0.0.1") return undefined;
  const excluded = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").split(",").map((one) => one.trim());
  const isExcluded = excluded.some((one) => {
    const host = one.replace(/^\*?\./, "");
    return one === "*" || (host !== "" && (hostname === host || hostname.endsWith(`.${host}`)));
  });
  return isExcluded ? undefined : named;
}
