/** `sluicegate daemon run|start|stop|status`: the per-user process behind all shims, and the commands that manage it. */
import { join } from "node:path";
import { ask, connectOrStart, connectSocket } from "../adapters/daemon/connect.ts";
import {
  askWaitMsMax,
  daemonIdleMs,
  lockPollMs,
  lockWaitMsMax,
  startPollMs,
} from "../adapters/daemon/daemon-limits.ts";
import { daemonPaths, type DaemonPaths } from "../adapters/daemon/paths.ts";
import { isAlive } from "../adapters/daemon/process-identity.ts";
import { ownVersion } from "../adapters/daemon/version.ts";
import { type Json, member } from "../core/json.ts";
import { type Result, err } from "../core/result.ts";
import type { Host } from "./shim/host.ts";
import { giveBackMemory } from "../app/gateway/idle-memory.ts";

/** `run` is refused then, so it would be no help to call that daemon running. */
export const otherHome =
  "The running daemon uses another state folder: set SLUICEGATE_RUNTIME_DIR together with SLUICEGATE_HOME, or stop it with `sluicegate daemon stop`.";

const usage = "sluicegate daemon run|start|stop|status [--json]";

/** Resolves with the exit code: 0 done or running, 1 not running, 2 wrong use or environment. */
export async function daemonCommand(words: readonly string[], host: Host): Promise<number> {
  const json = words.includes("--json");
  const [command, ...more] = words.filter((word) => word !== "--json");
  const paths = daemonPaths(process.env);
  const fail = (code: string, sentence: string): number => failed(json, code, sentence);
  if (!paths.ok) return fail("SG-DAEMON-FOLDER", paths.error);
  if (more.length > 0) return fail("SG-USAGE", `\`daemon\` takes one word. Use: ${usage}`);
  switch (command) {
    case "run":
      return runDaemon(paths.value, host);
    case "start": {
      const started = await connectOrStart(paths.value, host);
      if (!started.ok) return fail("SG-DAEMON-START", started.error);
      started.value.destroy();
      return status(paths.value, json);
    }
    case "stop":
      return stop(paths.value, json);
    case "status":
      return status(paths.value, json);
    case undefined:
    default:
      return fail("SG-USAGE", `\`daemon\` needs one of run, start, stop, status. Use: ${usage}`);
  }
}

/** The daemon itself; started by shims with stdout and stderr on the log. */
async function runDaemon(paths: DaemonPaths, host: Host): Promise<number> {
  const { takeLock } = await import("../adapters/daemon/lock.ts");
  // A crash leaves one line of time and reason, then the stack; a shim quotes the last line only.
  process.on("uncaughtException", (error) => {
    log(`crashed: ${error.stack ?? error.message}`);
    log(`crashed: ${error.message}; this is a bug of Sluicegate`);
    process.exit(1);
  });
  const lock = await waitForLock(paths, takeLock);
  if (lock === "another runs") return 0;
  if (!lock.ok) {
    log(`cannot take ${paths.home}/daemon.lock: ${lock.error}`);
    return 2;
  }
  const openServices = await host.loadServices();
  const services = await openServices(paths.home);
  if (!services.ok) {
    log(services.error);
    return 2;
  }
  const { Daemon } = await import("../adapters/daemon/server.ts");
  const version = ownVersion();
  const started = await Daemon.start({
    socket: paths.socket,
    home: paths.home,
    version,
    idleMs: idleMs(process.env["SLUICEGATE_DAEMON_IDLE_MS"]),
    services: services.value,
    log,
  });
  if (!started.ok) {
    log(started.error);
    return 2;
  }
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => void started.value.stop(`got ${name}`));
  process.on("SIGHUP", () => undefined); // the terminal of the client that happened to start us is no concern of ours
  giveBackMemory();
  log(`version ${version} runs as ${process.pid}`);
  log(`ended: ${await started.value.stopped}`);
  lock.value.release();
  return 0;
}

type TakeLock = (path: string) => Result<{ readonly release: () => void }, string>;

/** A daemon that is ending has removed its socket but still holds the lock; one that runs answers on its socket. */
async function waitForLock(paths: DaemonPaths, takeLock: TakeLock): Promise<ReturnType<TakeLock> | "another runs"> {
  const deadline = performance.now() + lockWaitMsMax;
  for (;;) {
    const lock = takeLock(join(paths.home, "daemon.lock"));
    if (lock.ok || lock.error !== "held") return lock;
    const other = await connectSocket(paths.socket);
    if (other.ok) {
      other.value.destroy();
      return "another runs";
    }
    if (performance.now() > deadline) {
      return err("another daemon uses this state folder with another SLUICEGATE_RUNTIME_DIR; stop that one first");
    }
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
}

async function stop(paths: DaemonPaths, json: boolean): Promise<number> {
  const options = { version: ownVersion(), waitMsMax: askWaitMsMax };
  const answer = await ask(paths.socket, { kind: "daemon", command: "stop" }, options);
  const deadline = performance.now() + askWaitMsMax;
  const pid = answer.ok ? member(answer.value, "pid") : undefined;
  // Until the process is gone it owns the log: a user who moves or copies it next must not find it half written.
  while (typeof pid === "number" && isAlive(pid) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, startPollMs));
  }
  print(json, { stopped: answer.ok }, answer.ok ? "The daemon was stopped." : "No daemon was running.");
  return 0;
}

async function status(paths: DaemonPaths, json: boolean): Promise<number> {
  const options = { version: ownVersion(), waitMsMax: askWaitMsMax };
  const answer = await ask(paths.socket, { kind: "daemon", command: "status" }, options);
  if (!answer.ok) {
    const text = "No daemon is running; the next `sluicegate run` starts one.";
    print(json, { running: false, socket: paths.socket, log: paths.log }, text);
    return 1;
  }
  if (member(answer.value, "home") !== paths.home) {
    return failed(json, "SG-DAEMON-HOME", otherHome);
  }
  const shown = (name: string): string => JSON.stringify(member(answer.value, name) ?? "?").replaceAll('"', "");
  const sessions = shown("sessions") === "1" ? "session" : "sessions";
  const megabytes = Math.round(Number(member(answer.value, "residentBytes") ?? 0) / 1_048_576);
  const text = `The daemon runs as process ${shown("pid")}, version ${shown("version")}, ${shown("sessions")} ${sessions}, ${megabytes} MB, up ${shown("upSeconds")} s.`;
  print(json, { running: true, socket: paths.socket, log: paths.log, daemon: answer.value }, text);
  return 0;
}

function idleMs(text: string | undefined): number {
  const given = Number(text);
  return text !== undefined && Number.isInteger(given) && given > 0 ? given : daemonIdleMs;
}

function print(json: boolean, value: Json, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`);
}

function log(sentence: string): void {
  process.stderr.write(`${new Date().toISOString()} ${sentence}\n`);
}

function failed(json: boolean, code: string, sentence: string): number {
  if (json) process.stdout.write(`${JSON.stringify({ ok: false, error: { code, message: sentence } })}\n`);
  else process.stderr.write(`sluicegate: ${sentence}\n`);
  return 2;
}
