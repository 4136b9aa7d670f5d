/**
 * Starts a server so that it cannot outlive the gateway, without native code.
 *
 * Node gives the child its own session, so its process group bears its pid. The child is at first a shell, which starts
 * a guardian and then becomes the server by `exec`. The guardian sits in the same group and reads from a socket whose
 * other end only we hold: when we end, even by `kill -9`, the kernel closes our end, the guardian wakes and kills the
 * group, itself included. Properties that follow:
 * - no race: the guardian exists before the server runs; if we die earlier still, its first read ends at once;
 * - no stray kill: a group id cannot be given to others while a member lives, and the guardian is a member;
 * - it costs one sleeping shell (about 0.7 MB, mostly shared) per server and nothing per message.
 * Limits: a process that leaves the group (`setsid`, a daemon) escapes, and a server of the same user may kill its
 * guardian, which we notice (`ServerProcess`) while we live. Only a projection with its own pid namespace closes both.
 * Windows has neither sessions nor /bin/sh: local servers need a POSIX system.
 */
import { attempt } from "../attempt.ts";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { ServerTarget } from "../../gateway/ports/transport.ts";
import { printable } from "../net/printable.ts";

export type ProcessTarget = Extract<ServerTarget, { kind: "stdio" }>;

/** Arguments of `spawn` for one server. */
export type Launch = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** File descriptor on which the guardian listens; closed again before the server runs. */
export const lifelineDescriptor = 3;

/**
 * Descriptors that a launcher in front of the server may have been given (`startProcess`); a shell names none above 9.
 * If the guardian held one of them, the reader at the other end would not see it close.
 */
export const channelDescriptors = [4, 5, 6] as const;

const closeChannels = channelDescriptors.map((descriptor) => `${descriptor}<&-`).join(" ");

/**
 * The double parenthesis hands the guardian to init, so that the server has no child it does not know of. The guardian
 * ignores the signals that may be sent to the group, lets go of the server's streams so that their end is seen, and of
 * the working directory so that it can be unmounted.
 */
const script = `[ -z "$1" ] || umask "$1"
shift
( ( trap '' HUP INT QUIT TERM PIPE
cd /
exec </dev/null >/dev/null 2>&1 ${closeChannels}
while read -r _ <&${lifelineDescriptor}; do :; done
kill -s KILL -- "-$$" ) & )
exec "$@" ${lifelineDescriptor}<&-`;

/** Shells drop variables whose names they could not assign to, such as `spring.profiles.active`. */
const shellName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Carries such variables past the shell; removed again before the server runs. */
const carrierName = "SLUICEGATE_UNUSUAL_ENVIRONMENT";

/**
 * Node script that replaces itself by the server, with the whole environment. Used only where a shell would drop a
 * variable.
 */
const restore = `const { ${carrierName}: more, ...env } = process.env;
process.execve(process.argv[1], process.argv.slice(1), { ...env, ...JSON.parse(more) });`;

const pathDefault = "/usr/local/bin:/usr/bin:/bin";

/** Checks the target and builds its command line. The error is one sentence on why it cannot be started. */
export function prepareLaunch(target: ProcessTarget): Result<Launch, string> {
  if (process.platform === "win32") {
    return err("Local servers need Linux or macOS. Run the gateway there, or reach the server over HTTP.");
  }
  const directory = target.workingDirectory;
  if (!isDirectory(directory)) {
    return err(`The folder ${shown(directory)} does not exist. Create it or set another working directory.`);
  }
  const nul = [target.command, ...target.args, ...Object.values(target.env)].some((text) => text.includes("\0"));
  if (nul) return err("The server's command, arguments or environment hold a NUL character. Remove it.");
  const command = resolveCommand(target);
  if (!command.ok) return command;
  const umask = target.umask === undefined ? "" : target.umask.toString(8);
  const unusual = Object.entries(target.env).filter(([name]) => !shellName.test(name));
  const head = ["-c", script, "sh", umask];
  if (unusual.length === 0) {
    return ok({ file: "/bin/sh", args: [...head, command.value, ...target.args], env: target.env });
  }
  const usual = Object.fromEntries(Object.entries(target.env).filter(([name]) => shellName.test(name)));
  const through = [process.execPath, "--disable-warning=ExperimentalWarning", "-e", restore, "--"];
  const env = { ...usual, [carrierName]: JSON.stringify(Object.fromEntries(unusual)) };
  return ok({ file: "/bin/sh", args: [...head, ...through, command.value, ...target.args], env });
}

/** Finds the command as `execvp` would, so that a wrong name is a clear sentence instead of a shell's exit code. */
function resolveCommand(target: ProcessTarget): Result<string, string> {
  const { command, workingDirectory } = target;
  const candidates = command.includes("/")
    ? [resolve(workingDirectory, command)]
    : (target.env["PATH"] ?? pathDefault).split(delimiter).map((folder) => resolve(workingDirectory, folder, command));
  let refused = false;
  for (const candidate of candidates) {
    const found = executable(candidate);
    if (found === "yes") return ok(candidate);
    refused ||= found === "not executable";
  }
  if (refused) {
    return err(
      `${shown(command)} is not an executable file. Make it executable or name its interpreter as the command.`,
    );
  }
  return err(
    `The command ${shown(command)} was not found. Install it, or give its absolute path in the configuration.`,
  );
}

function executable(path: string): "yes" | "no" | "not executable" {
  try {
    if (!statSync(path).isFile()) return "not executable";
    accessSync(path, constants.X_OK);
    return "yes";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "EACCES" ? "not executable" : "no";
  }
}

function isDirectory(path: string): boolean {
  return attempt(() => statSync(path).isDirectory(), false);
}

function shown(text: string): string {
  return `\`${printable(text, 80)}\``;
}
