/**
 * Requirements of tests on a machine beyond Node, by name, and whether this machine meets them. `.ci/skips` names the
 * needs of each file that may skip tests; a skip is refused where all of them are required. None of this asks the code
 * under test: a fault in its own detection skips its tests, and must not excuse them.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.getuid?.() === 0;

function runs(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore", timeout: 20_000 }).status === 0;
}

/** False also where the file cannot be read. */
function holds(file: string, word: string): boolean {
  try {
    return readFileSync(file, "latin1").includes(word);
  } catch {
    return false;
  }
}

/** As the user without rights that root lends servers to. */
const unprivileged = root ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] : [];

function makesNamespaces(): boolean {
  const sandbox = ["--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--", "true"];
  const [program = "", ...rest] = [...unprivileged, "bwrap", ...sandbox];
  return runs("unshare", "--version") && runs(program, ...rest);
}

const browsers = ["chromium/chromium", "chromium", "chromium-browser", "google-chrome"];

const detections = {
  userns: makesNamespaces,
  "seccomp-notify": () => holds("/proc/sys/kernel/seccomp/actions_avail", "user_notif"),
  root: () => root,
  mount: () => root && runs("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"),
  z3: () => runs("z3", "--version"),
  strace: () => runs("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true"),
  python: () => runs("python3", "--version") && existsSync("/usr/bin/python3"),
  curl: () => runs("curl", "--version"),
  chromium: () => browsers.some((name) => existsSync(join("/usr/bin", name)) || existsSync(join("/usr/lib", name))),
  data: (data: string) => ["manifests", "agentdojo"].every((name) => existsSync(join(data, name))),
} satisfies Readonly<Record<string, (data: string) => boolean>>;

export type Requirement = keyof typeof detections;
export const requirements = Object.keys(detections) as readonly Requirement[]; // the keys of the object above

/** `data` = the folder of public data; undefined = there is none. */
export function detected(data: string | undefined): readonly Requirement[] {
  return requirements.filter((name) => detections[name](data ?? "/nonexistent"));
}

const isRequirement = (word: string): word is Requirement => Object.hasOwn(detections, word);

/** A list such as `userns,z3`; undefined = a word that names no requirement. */
export function requirementsIn(text: string): readonly Requirement[] | undefined {
  const words = text.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
  return words.every(isRequirement) ? words : undefined;
}

/** What a file may lack; no requirement = its tests may be skipped anywhere. */
export type Skips = ReadonlyMap<string, readonly Requirement[]>;

/** Reads `.ci/skips`: `FILE NEEDS REASON` a line, with `-` for no requirement. Throws with the error of a line. */
export function readSkips(text: string): Skips {
  const skips = new Map<string, readonly Requirement[]>();
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [file = "", words = "", ...reason] = line.split(" ");
    const needs = words === "-" ? [] : requirementsIn(words);
    if (needs === undefined || words === "") throw new Error(`.ci/skips: ${file}: ${words} is no list of requirements`);
    if (reason.length === 0) throw new Error(`.ci/skips: ${file}: a reason is missing`);
    skips.set(file, needs);
  }
  return skips;
}

/** Why a skipped test of `file` is a failure; undefined = it may be skipped. `unlisted` = so may those of any other file. */
export function refusal(
  skips: Skips,
  required: readonly Requirement[],
  { file, unlisted }: { readonly file: string; readonly unlisted: boolean },
): string | undefined {
  const needs = skips.get(file);
  if (needs === undefined) return unlisted ? undefined : "name it in .ci/skips with what it needs and a reason";
  if (needs.length === 0 || needs.some((name) => !required.includes(name))) return undefined;
  return `this machine must have ${needs.join(", ")}`;
}
