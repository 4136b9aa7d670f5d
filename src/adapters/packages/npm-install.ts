/** Installs packages of the npm registry with the user's own npm, without any script of a package. */
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPlainObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { printable } from "../net/printable.ts";
import { boundedText } from "./bounded-text.ts";
import type { RunStep } from "./install-step.ts";
import type { FileRules } from "./installed-files.ts";
import type { Installed, InstallOrder, Kind } from "./kind.ts";
import { npmSettings } from "./npm-settings.ts";
import { npmFiles } from "./settings-files.ts";
import { mainProgram, programsOf } from "./npm-programs.ts";
import { npmPackage, type PackageSpec } from "./package-spec.ts";
import { findProgram } from "./find-program.ts";
import { stepFault } from "./step-fault.ts";

const lockBytesMax = 32 * 1024 * 1024;
const packagesMax = 10_000;

const rules: FileRules = { mayLeave: () => false };

export const npmKind: Kind = {
  rules,
  // Names of the folder and of the installer are in these two.
  counts: (path) => path.startsWith("node_modules/") && path !== "node_modules/.package-lock.json",
  source: (order) => {
    const settings = settingsOf(order);
    const why = settings.proxy === undefined ? undefined : "a proxy stands before its registry";
    return { registry: settings.registry, unreachable: why };
  },
  install,
};

function specsOf({ command }: Pick<InstallOrder, "command">): readonly PackageSpec[] {
  return command.packages.flatMap((text) => npmPackage(text) ?? []);
}

function settingsOf(order: Pick<InstallOrder, "target" | "command" | "home">): ReturnType<typeof npmSettings> {
  const { target, home, command } = order;
  const files = npmFiles(target, home);
  return npmSettings(specsOf(order), { files, environment: target.env, registry: command.registry });
}

async function install(order: InstallOrder, run: RunStep): Promise<Result<Installed, string>> {
  const { folder, scratch, target, exact } = order;
  const found = findProgram("npm", target);
  if (found === undefined)
    return err("`npm` was not found, so its package cannot be installed. Install Node with npm.");
  const settings = settingsOf(order);
  const file = join(scratch, "npmrc");
  writeFileSync(file, `${settings.lines.join("\n")}\n`, { mode: 0o600 });
  const pinned = exact === undefined ? [] : [`--before=${exact.resolvedAt}`];
  const args = [
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--omit=dev",
    "--install-strategy=hoisted",
    "--save-exact",
    "--package-lock",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=500",
    "--fetch-timeout=60000",
    "--loglevel=error",
    ...pinned,
    "--prefix",
    folder,
    "--",
    ...namesOf(order),
  ];
  const extra = target.env["NODE_EXTRA_CA_CERTS"];
  const done = await run({
    command: attempt(() => realpathSync(found), found),
    args,
    path: target.env["PATH"] ?? "",
    variables: {
      npm_config_userconfig: file,
      npm_config_globalconfig: join(scratch, "none"),
      npm_config_cache: join(scratch, "cache"),
      npm_config_update_notifier: "false",
      ...(extra === undefined ? {} : { NODE_EXTRA_CA_CERTS: extra }),
    },
    write: [folder, scratch],
    read: [...settings.files, ...(extra === undefined ? [] : [extra])],
    addresses: settings.registries,
  });
  if (!done.ok) return done;
  if (done.value.code !== 0) return err(stepFault(order.command.packages[0] ?? "", done.value));
  return installed(order);
}

/** As asked for; an install that repeats a locked one takes exactly its version. */
function namesOf(order: InstallOrder): readonly string[] {
  const { exact } = order;
  if (exact === undefined) return order.command.packages;
  return specsOf(order).map(({ name, text }) => {
    const version = exact.packages[`node_modules/${name}`];
    return version === undefined ? text : `${name}@${version}`;
  });
}

function installed(order: InstallOrder): Result<Installed, string> {
  const { folder, command } = order;
  const read = lockedPackages(folder);
  if (read === undefined) return err("npm left no list of what it installed. Use npm 8 or newer.");
  const programs: Record<string, string> = {};
  const [first, ...others] = specsOf(order);
  const own = programsOf(folder, first?.name ?? "");
  if (!own.ok) return own;
  for (const { name } of others) {
    const more = programsOf(folder, name);
    if (!more.ok) return more;
    Object.assign(programs, more.value);
  }
  Object.assign(programs, own.value);
  const top = first === undefined ? undefined : read.get(`node_modules/${first.name}`);
  if (first === undefined || top?.version === undefined || top.integrity === undefined) {
    return err(
      `The registry names no digest for \`${printable(command.packages[0] ?? "", 60)}\`, so it is not installed. Install it yourself and name its file.`,
    );
  }
  const scripts = [...read].flatMap(([path, one]) =>
    one.scripts ? [`${path.slice(path.lastIndexOf("node_modules/") + 13)}@${one.version ?? ""}`] : [],
  );
  const versions = [...read].flatMap(([path, { version }]) =>
    version === undefined ? [] : [[path, version] as const],
  );
  return ok({
    name: first.name,
    version: top.version,
    integrity: top.integrity,
    programs,
    main: mainProgram(first.name, own.value),
    scripts: [...new Set(scripts)].toSorted(),
    packages: Object.fromEntries(versions),
  });
}

type Locked = { readonly version?: string; readonly integrity?: string; readonly scripts: boolean };

function lockedPackages(folder: string): ReadonlyMap<string, Locked> | undefined {
  const text = boundedText(join(folder, "package-lock.json"), lockBytesMax);
  const value: unknown = text === undefined ? undefined : attempt(() => JSON.parse(text) as unknown, undefined);
  const packages = isPlainObject(value) ? value["packages"] : undefined;
  if (!isPlainObject(packages)) return undefined;
  const entries = Object.entries(packages).filter(([path]) => path !== "");
  if (entries.length > packagesMax) return undefined;
  return new Map(
    entries.map(([path, one]) => {
      const fact = (key: string): string | undefined => {
        const found = isPlainObject(one) ? one[key] : undefined;
        return typeof found === "string" && found.length < 1_024 ? found : undefined;
      };
      const [version, integrity] = [fact("version"), fact("integrity")];
      const scripts = isPlainObject(one) && one["hasInstallScript"] === true;
      return [
        path,
        { ...(version === undefined ? {} : { version }), ...(integrity === undefined ? {} : { integrity }), scripts },
      ];
    }),
  );
}
