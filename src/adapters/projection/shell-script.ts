/** The shell script that stands in for the launcher, as a pure function. It holds paths and no secret. */
import { overlayOptions } from "./launcher-mounts.ts";
import { launcherDescriptors } from "./launcher-plan.ts";
import type { MountStep } from "./parts.ts";

export type ShellPlan = {
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly mounts: readonly MountStep[];
  /** What the shell becomes. */
  readonly command: readonly string[];
};

/**
 * Mounts, says so on the channel, waits for the answer, and becomes the command. A gateway that is gone answers with the
 * end of the stream, and `read` then fails: nothing is started for nobody.
 */
export function shellScript({ folder, files, mounts, command }: ShellPlan): string {
  const { channel, filter, options } = launcherDescriptors;
  return [
    "set -e",
    `mount -t tmpfs -o nosuid,nodev,mode=0755,size=4m tmpfs ${quote(folder)}`,
    ...files.map(({ path, text }) => `printf %s ${quote(text)} >${quote(path)}`),
    ...mounts.map(mountCommand),
    `if [ -n "$BASH_VERSION" ]; then for d in /proc/$$/fd/*; do d=\${d##*/}`,
    `  [ "$d" -le 2 ] || [ "$d" = ${channel} ] || [ "$d" = ${filter} ] || [ "$d" = ${options} ] || eval "exec $d>&-"`,
    "done; fi",
    `echo ready >&${channel}`,
    `read -r _ <&${channel}`,
    `exec ${command.map(quote).join(" ")} ${channel}>&-`,
  ].join("\n");
}

/**
 * How the script is run: by bash where there is one, for only that closes descriptors above 9, which a careless parent
 * may have left open. Bash takes a socket as input for a remote login and would run the start-up files of root, who we
 * are in the namespace, before anything is confined.
 */
export function shellCommand(bash: string | undefined, script: string): readonly string[] {
  return bash === undefined ? ["/bin/sh", "-c", script] : [bash, "--norc", "--noprofile", "-c", script];
}

function mountCommand(step: MountStep): string {
  switch (step.kind) {
    case "folder":
      return `mkdir -p ${quote(step.target)}`;
    case "tmpfs":
      return `mount -t tmpfs -o nosuid,nodev,mode=0700,size=${step.sizeMb}m tmpfs ${quote(step.target)}`;
    case "overlay":
      return `mount -t overlay -o ${quote(`nosuid,nodev,${overlayOptions(step)}`)} overlay ${quote(step.target)}`;
  }
}

/** One word for a shell, whatever it holds. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
