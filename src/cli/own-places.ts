/** Where the files of this installation lie that no agent may touch unasked (docs/decisions/0018). */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { runtimeFolder, stateHome } from "../adapters/daemon/paths.ts";
import type { OwnFiles } from "../policy/own-places.ts";
import { ownFiles } from "../policy/own-places.ts";
import type { PolicyFiles } from "./policies.ts";
import { packageFolder } from "./policy-source.ts";

/** Where the policies of the user lie that no command line names. */
export function configurationFolder(environment: NodeJS.ProcessEnv): string {
  return join(environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "sluicegate");
}

export type Installation = {
  /** State folder of the gateway. */
  readonly home: string;
  readonly policies: PolicyFiles;
  /** Further files that it obeys: its configuration. */
  readonly configuration: readonly string[];
};

/** Follows the policies: a file that becomes part of one is guarded from then on. */
export function guardedFiles({ home, policies, configuration }: Installation): OwnFiles {
  const { env } = process;
  const kept = bothWays([home, stateHome(env), runtimeFolder(env, process.getuid?.() ?? 0)]);
  // In a checkout the program is what is being worked on; where it is installed, nobody works on it.
  const program = packageFolder.split(sep).includes("node_modules") ? [packageFolder] : [];
  const fixed = [...configuration, configurationFolder(env), ...program];
  let known: readonly string[] | undefined;
  let own: OwnFiles | undefined;
  const now = (): OwnFiles => {
    const files = policies.files();
    if (own !== undefined && files === known) return own;
    known = files;
    own = ownFiles({ kept, obeyed: bothWays([...fixed, ...files]), home: homedir(), base: process.cwd() });
    return own;
  };
  return { touched: (call) => now().touched(call), holds: (path) => now().holds(path) };
}

/** Each path as it is named and as it is without links, so that neither way around leads past it. */
function bothWays(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => [path, withoutLinks(path)]))];
}

/** What is not there yet has at least a folder. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(withoutLinks(folder), basename(path));
  }
}
