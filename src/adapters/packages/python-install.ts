/**
 * Installs Python packages into a virtual environment of their own, from built packages only: a source package runs its
 * own code when it is built. With the user's Python and pip, or with uv where Python cannot do it.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { printable } from "../net/printable.ts";
import { boundedText } from "./bounded-text.ts";
import { findProgram } from "./find-program.ts";
import { isProgram } from "./fetch-command.ts";
import type { RunStep, StepOutcome } from "./install-step.ts";
import type { FileRules } from "./installed-files.ts";
import type { Installed, InstallOrder, Kind } from "./kind.ts";
import { pypiPackage } from "./package-spec.ts";
import { pythonSettings, type PythonSettings } from "./python-settings.ts";
import { pipFiles } from "./settings-files.ts";
import { stepFault } from "./step-fault.ts";

const factsBytesMax = 4 * 1024 * 1024;
const distributionsMax = 2_000;

/** The environment's interpreter is a link to the one that made it. */
const rules: FileRules = { mayLeave: (path) => /^venv\/bin\/python[\d.]*$/.test(path) };

export const pythonKind: Kind = {
  rules,
  // Scripts hold the folder's own path, records the order of the install, and pip is the machine's.
  counts: (path) =>
    /^venv\/lib\/[^/]+\/site-packages\//.test(path) &&
    !/\/(?:__pycache__\/|[^/]+\.dist-info\/(?:RECORD|INSTALLER|REQUESTED|direct_url\.json|uv_cache\.json)$)/.test(
      path,
    ) &&
    !/\/site-packages\/(?:pip|setuptools|pkg_resources|_distutils_hack)(?:[-/]|$)|distutils-precedence|_virtualenv/.test(
      path,
    ),
  source: (order) => {
    const { index, proxy } = settingsOf(order);
    return {
      registry: index,
      unreachable: proxy === undefined ? undefined : "a proxy stands before its index",
    };
  },
  install,
};

function settingsOf({ target, home, command }: Pick<InstallOrder, "target" | "home" | "command">): PythonSettings {
  return pythonSettings({ files: pipFiles(target, home), environment: target.env, index: command.registry });
}

async function install(order: InstallOrder, run: RunStep): Promise<Result<Installed, string>> {
  const name = order.command.packages[0] ?? "";
  const tools = (["python3", "uv"] as const).flatMap((tool) => {
    const path = findProgram(tool, order.target);
    return path === undefined ? [] : [{ tool, path }];
  });
  if (tools.length === 0) {
    return err(
      `Neither Python nor uv was found, so \`${printable(name, 60)}\` cannot be installed. Install one of them.`,
    );
  }
  let failed = "";
  for (const { tool, path } of tools) {
    const done = tool === "uv" ? await byUv(order, run, path) : await byPip(order, run, path);
    if (!done.ok) return done;
    if (done.value.code === 0) return installed(order);
    failed = stepFault(name, done.value);
    // Only what another installer could do better is tried again: another Python, or an environment at all.
    const other = /ensurepip|No module named|Requires-Python|No matching distribution/i.test(
      done.value.lines.join("\n"),
    );
    if (!other) break;
  }
  return err(failed);
}

type Step = Parameters<RunStep>[0];

function stepFor({ target, folder, scratch }: InstallOrder, settings: PythonSettings): Omit<Step, "command" | "args"> {
  return {
    path: target.env["PATH"] ?? "",
    variables: {
      ...settings.variables,
      PIP_CONFIG_FILE: "/dev/null",
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
      PIP_NO_INPUT: "1",
      PIP_CACHE_DIR: join(scratch, "cache"),
      UV_CACHE_DIR: join(scratch, "cache"),
      UV_NO_CONFIG: "1",
      UV_PYTHON_DOWNLOADS: "never",
      UV_NO_PROGRESS: "1",
    },
    write: [folder, scratch],
    read: [...settings.files, ...settings.folders],
    addresses: settings.addresses,
  };
}

/**
 * The environment's own Python, started by the one that made it: as the command of the step its folder would be mounted
 * as code, which cannot be written.
 */
const become = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])";

async function byPip(order: InstallOrder, run: RunStep, python: string): Promise<Result<StepOutcome, string>> {
  const { folder, command, exact } = order;
  const step = stepFor(order, settingsOf(order));
  const made = await run({ ...step, addresses: [], command: python, args: ["-I", "-m", "venv", join(folder, "venv")] });
  if (!made.ok || made.value.code !== 0) return made;
  const args = [
    "-I",
    "-c",
    become,
    join(folder, "venv", "bin", "python"),
    "-I",
    "-m",
    "pip",
    "install",
    "--only-binary",
    ":all:",
    "--no-warn-script-location",
    "--progress-bar",
    "off",
    "--retries",
    "1",
    "--timeout",
    "30",
    ...(command.preReleases ? ["--pre"] : []),
    ...(exact === undefined ? command.packages : ["--no-deps", ...pins(exact.packages)]),
  ];
  return run({ ...step, command: python, args });
}

async function byUv(order: InstallOrder, run: RunStep, uv: string): Promise<Result<StepOutcome, string>> {
  const { folder, command, exact } = order;
  const step = stepFor(order, settingsOf(order));
  const environment = join(folder, "venv");
  const made = await run({ ...step, addresses: [], command: uv, args: ["venv", "--allow-existing", environment] });
  if (!made.ok || made.value.code !== 0) return made;
  const args = [
    "pip",
    "install",
    "--python",
    join(environment, "bin", "python"),
    "--only-binary",
    ":all:",
    ...(command.preReleases ? ["--prerelease", "allow"] : []),
    ...(exact === undefined ? command.packages : ["--no-deps", ...pins(exact.packages)]),
  ];
  return run({ ...step, command: uv, args });
}

function pins(packages: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(packages).map(([name, version]) => `${name}==${version}`);
}

function installed({ folder, command }: InstallOrder): Result<Installed, string> {
  const libraries = join(folder, "venv", "lib");
  const python = names(libraries).find((one) => /^python\d/.test(one));
  const packages = join(libraries, python ?? "", "site-packages");
  const found = names(packages).filter((one) => one.endsWith(".dist-info"));
  if (python === undefined || found.length > distributionsMax) return err("Python left no packages. Try uv instead.");
  const all = new Map(
    found.flatMap((one) => {
      const read = distribution(packages, one);
      return read === undefined ? [] : [read];
    }),
  );
  const wanted = command.packages.flatMap((text) => pypiPackage(text)?.name ?? []);
  const [first = ""] = wanted;
  const top = all.get(first);
  if (top === undefined)
    return err(`\`${printable(first, 60)}\` left no record of itself. Install it yourself and name its file.`);
  const versions = [...all].filter(([name]) => !["pip", "setuptools"].includes(name));
  // A package may leave its program to one that it needs (`fastmcp` to `fastmcp-slim`); uv runs that one, too.
  const programs = versions.flatMap(([, one]) => one.programs);
  const main = programs.includes(first) ? first : top.programs.length === 1 ? top.programs[0] : undefined;
  return ok({
    name: first,
    version: top.version,
    integrity: undefined,
    programs: Object.fromEntries(programs.map((name) => [name, `venv/bin/${name}`])),
    main,
    scripts: [],
    packages: Object.fromEntries(versions.map(([name, { version }]) => [name, version])),
  });
}

type Distribution = { readonly version: string; readonly programs: readonly string[] };

/** Name, version and programs of one installed package, from its own records (PEP 376, PEP 566). */
function distribution(packages: string, folder: string): readonly [string, Distribution] | undefined {
  const metadata = boundedText(join(packages, folder, "METADATA"), factsBytesMax) ?? "";
  const record = boundedText(join(packages, folder, "RECORD"), factsBytesMax) ?? "";
  const [head = ""] = metadata.split(/\r?\n\r?\n/, 1);
  const name = /^Name:\s*(\S+)/m.exec(head)?.[1];
  const version = /^Version:\s*(\S+)/m.exec(head)?.[1];
  if (name === undefined || version === undefined) return undefined;
  const programs = record.split(/\r?\n/).flatMap((line) => {
    const path = /^"?(?:\.\.\/){3}bin\/([^",/]+)/.exec(line)?.[1];
    return path !== undefined && isProgram(basename(path)) && existsSync(join(packages, "../../../bin", path))
      ? [path]
      : [];
  });
  return [name.toLowerCase().replaceAll(/[-_.]+/g, "-"), { version, programs }];
}

function names(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}
