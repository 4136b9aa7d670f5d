/** Command lines of the chain from the gateway to a server, as pure functions. */
import type { LimitScope } from "../../../core/isolation/scope.ts";
import { launcherDescriptors, type LauncherCommand } from "../launcher/plan.ts";

export type ChainPrograms = {
  readonly unshare: string;
  readonly bwrap: string;
  readonly prlimit: string | undefined;
};

/** Command line for namespaces in which the launcher is root, without any rights outside of them. */
export function unshareCommand(unshare: string, ownNetwork: boolean): readonly string[] {
  return [unshare, "--user", "--map-root-user", "--mount", ...(ownNetwork ? ["--net"] : []), "--"];
}

/**
 * The command line that the launcher becomes. Options are read from a descriptor, so they do not appear in the list of
 * processes.
 */
export function bubblewrapCommand(
  programs: ChainPrograms,
  limits: readonly string[],
  server: readonly string[],
): LauncherCommand {
  const bubblewrap = [programs.bwrap, "--args", String(launcherDescriptors.options), "--", ...server];
  const words = programs.prlimit === undefined ? bubblewrap : [programs.prlimit, ...limits, "--", ...bubblewrap];
  return { file: words[0] ?? programs.bwrap, args: words, environment: {} };
}

/**
 * prlimit(1) options. Address space is not limited: runtimes reserve far more of it than they use. A hard limit cannot
 * be raised, so a lower existing limit stays.
 */
export function resourceLimits(
  limits: LimitScope,
  given: { readonly openFilesMax: number; readonly countProcesses: boolean },
): readonly string[] {
  return [
    "--core=0",
    `--nofile=${Math.min(limits.openFiles, given.openFilesMax)}`,
    `--fsize=${limits.fileMb * 1_048_576}`,
    // The soft limit sends SIGXCPU, the hard one a second later ends what ignored it.
    `--cpu=${limits.cpuSeconds}:${limits.cpuSeconds + 1}`,
    ...(given.countProcesses ? [`--nproc=${limits.processes}`] : []),
  ];
}
