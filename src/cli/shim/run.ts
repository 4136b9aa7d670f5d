/**
 * `sluicegate run`: what an MCP client starts instead of its server. Imports nothing of the gateway: each server of a
 * client has one of these processes, and it must stay as small as a bare Node.
 */
import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { pingWaitMsMax } from "../../adapters/daemon/daemon-limits.ts";
import { daemonPaths } from "../../adapters/daemon/paths.ts";
import { clientChain } from "../../adapters/daemon/process-identity.ts";
import type { RunHello } from "../../adapters/daemon/protocol.ts";
import { ownVersion } from "../../adapters/daemon/version.ts";
import { type RunArguments, parseRunArguments } from "./arguments.ts";
import type { Host } from "./host.ts";
import { answersPing, openLink } from "./link.ts";
import { say, ShimSession } from "./session.ts";

/** Runs one session; resolves with the exit code: 0 done, 1 server or daemon failed, 2 wrong use or environment. */
export async function runShim(words: readonly string[], host: Host): Promise<number> {
  const parsed = parseRunArguments(words);
  if (!parsed.ok) return fail(parsed.error);
  const paths = daemonPaths(process.env);
  if (parsed.value.solo) {
    const { runSolo } = await import("./solo.ts");
    return runSolo(makeHello(parsed.value, ""), host);
  }
  if (!paths.ok) return fail(paths.error);
  leaveOutOptimisers();
  const hello = makeHello(parsed.value, paths.value.home);
  const link = await openLink(paths.value, host, hello);
  if (!link.ok) return fail(link.error);
  let current = hello;
  const session = new ShimSession({
    reopen: () => {
      current = { ...hello, session: sessionName(), resume: current.session };
      return openLink(paths.value, host, current);
    },
    ping: () => answersPing(paths.value, pingWaitMsMax),
  });
  return session.run(link.value);
}

/** No optimising compilers, and a young generation that does not grow with traffic. */
const shimFlags = [
  "--no-opt",
  "--no-maglev",
  "--max-semi-space-size=1",
  "--min-semi-space-size=1",
  "--semi-space-growth-factor=1",
] as const;

/**
 * The splice is a few hundred instructions around system calls: optimised code would gain it nothing, while V8's
 * optimising compilers cost a shim about 8 MB once they run. There is one shim for each server, so that is worth a flag.
 * Baseline code may stay: the little that is run often takes less than half a megabyte of it and saves every tenth
 * microsecond.
 */
function leaveOutOptimisers(): void {
  for (const flag of shimFlags) setFlagsFromString(flag);
}

/** The environment goes over the socket only: arguments of a process can be read by every user of the machine. */
function makeHello(run: RunArguments, home: string): RunHello {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    kind: "run",
    version: ownVersion(),
    home,
    session: sessionName(),
    argv: run.command,
    cwd: process.cwd(),
    env,
    umask: process.umask(),
    ...clientChain(),
    ...(run.policy === undefined ? {} : { policy: resolve(run.policy) }),
    ...(run.server === undefined ? {} : { server: run.server }),
    ...(run.tag === undefined ? {} : { tag: run.tag }),
  };
}

/** Unique on this machine, which suffices: the socket admits only its user. */
function sessionName(): string {
  return `${process.pid.toString(36)}-${Date.now().toString(36)}-${process.hrtime.bigint().toString(36)}`;
}

function fail(sentence: string): number {
  say(sentence);
  return 2;
}
