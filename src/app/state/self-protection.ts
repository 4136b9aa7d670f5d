/** Self-protection: the files of this installation that no agent may touch unasked (docs/decisions/0018). */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { runtimeFolder, stateHome } from "../../adapters/daemon/paths.ts";
import { type SelfProtection, selfProtection } from "../../policy/values/self-protection.ts";
import { commandWords } from "../../mechanisms/regulate/shell/command-words.ts";
import type { PolicyFiles } from "../policy/policy-files.ts";
import { configurationFolder, packageFolder } from "../policy/policy-source.ts";

export type Installation = {
  /** State folder of the gateway. */
  readonly home: string;
  readonly policies: PolicyFiles;
  /** Further files that it obeys: its configuration. */
  readonly configuration: readonly string[];
};

/** Follows the policies: a file that becomes part of one is guarded from then on. */
export function protectedInstallation({ home, policies, configuration }: Installation): SelfProtection {
  const { env } = process;
  const kept = bothWays([home, stateHome(env), runtimeFolder(env, process.getuid?.() ?? 0)]);
  // In a checkout the program is what is being worked on; where it is installed, no user works on it.
  const program = packageFolder.split(sep).includes("node_modules") ? [packageFolder] : [];
  const fixed = [...configuration, configurationFolder(env), ...program];
  let known: readonly string[] | undefined;
  let own: SelfProtection | undefined;
  const now = (): SelfProtection => {
    const files = policies.files();
    if (own !== undefined && files === known) return own;
    known = files;
    own = selfProtection({
      kept,
      obeyed: bothWays([...fixed, ...files]),
      home: homedir(),
      base: process.cwd(),
      resolve: withoutLinks,
      commandWords,
    });
    return own;
  };
  return { touched: (call) => now().touched(call), holds: (path) => now().holds(path) };
}

/** Each path as it is named and as it is without links, so that neither way around leads past it. */
function bothWays(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => [path, withoutLinks(path)]))];
}

/** A missing file has at least a folder. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(withoutLinks(folder), basename(path));
  }
}
