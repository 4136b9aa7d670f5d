/** `sluicegate daemon run|start|stop|status`: the per-user process behind all shims, and the commands that manage it. */
import { join } from "node:path";
import { type AskFailure, ask, connectOrStart, connectSocket } from "../adapters/daemon/connect.ts";
import {
  askWaitMsMax,
  daemonIdleMs,
  lockPollMs,
  lockWaitMsMax,
  startPollMs,
  statusWaitMsMax,
  stopGraceMsMax,
} from "../adapters/daemon/daemon-limits.ts";
import { daemonPaths, type DaemonPaths } from "../adapters/daemon/paths.ts";
import { removePid, runningDaemon, writePid } from "../adapters/daemon/pid-file.ts";
import { isAlive } from "../adapters/daemon/process-identity.ts";
import { ownVersion } from "../adapters/daemon/version.ts";
import { type Json, member } from "../core/json.ts";
import { type Result, err } from "../core/result.ts";
import type { Host } from "./shim/host.ts";
import { readReply } from "../app/gateway/control-contract.ts";
import { giveBackMemory } from "../app/gateway/idle-memory.ts";
import { shown as plain } from "../app/state/sentences.ts";

/** `run` is refused then, so it would be no help to call that daemon running. */
export const otherHome =
  "The running daemon uses another state folder: set SLUICEGATE_RUNTIME_DIR together with SLUICEGATE_HOME, or run `sluicegate daemon stop` with the SLUICEGATE_HOME that it was started with.";

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
  writePid(paths.home);
  process.on("SIGHUP", () => undefined); // the terminal of the client that happened to start us is no concern of ours
  giveBackMemory();
  log(`version ${version} runs as ${process.pid}`);
  log(`ended: ${await started.value.stopped}`);
  removePid(paths.home);
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
  const options = { version: ownVersion(), waitMsMax: statusWaitMsMax };
  const found = await ask(paths.socket, { kind: "daemon", command: "status" }, options);
  // The socket may be that of another state folder, and its daemon has clients of its own.
  if (found.ok && member(found.value, "home") !== paths.home) return failed(json, "SG-DAEMON-HOME", otherHome);
  const answer = await ask(paths.socket, { kind: "daemon", command: "stop" }, options);
  if (!answer.ok) return stopMute(paths, json, answer.error);
  const pid = member(answer.value, "pid");
  // Until the process is gone it owns the log: a user who moves or copies it next must not find it half written.
  if (typeof pid === "number") await untilEnded(pid, askWaitMsMax);
  print(json, { stopped: true }, "The daemon was stopped.");
  return 0;
}

/** A daemon that gives no answer cannot end itself: frozen, or without its socket. */
async function stopMute(paths: DaemonPaths, json: boolean, failure: AskFailure): Promise<number> {
  const daemon = runningDaemon(paths.home);
  if (daemon === undefined) {
    if (isAbsent(failure)) print(json, { stopped: false }, "No daemon was running.");
    else return failed(json, "SG-DAEMON-UNREACHABLE", mute(paths));
    return 0;
  }
  // A process that was stopped takes no other signal before it goes on.
  for (const signal of ["SIGTERM", "SIGCONT"] as const) process.kill(daemon.pid, signal);
  await untilEnded(daemon.pid, stopGraceMsMax);
  if (runningDaemon(paths.home) !== undefined) process.kill(daemon.pid, "SIGKILL");
  await untilEnded(daemon.pid, stopGraceMsMax);
  removePid(paths.home);
  print(json, { stopped: true, killed: true }, `The daemon (process ${daemon.pid}) did not answer and was ended.`);
  return 0;
}

async function untilEnded(pid: number, waitMsMax: number): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  while (isAlive(pid) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, startPollMs));
  }
}

function isAbsent(failure: AskFailure): boolean {
  return failure.kind === "unreachable" && (failure.code === "ENOENT" || failure.code === "ECONNREFUSED");
}

function mute({ socket }: DaemonPaths): string {
  return `A process holds the socket ${socket.slice(-100)} and does not answer, and no daemon of this state folder runs: end that process, or set SLUICEGATE_RUNTIME_DIR.`;
}

async function status(paths: DaemonPaths, json: boolean): Promise<number> {
  const options = { version: ownVersion(), waitMsMax: statusWaitMsMax };
  const answer = await ask(paths.socket, { kind: "daemon", command: "status" }, options);
  const silent = answer.ok ? undefined : runningDaemon(paths.home);
  if (!answer.ok && silent !== undefined) {
    const how = isAbsent(answer.error) ? "has no socket now, and makes it again within seconds" : "does not answer";
    const sentence = `The daemon runs as process ${silent.pid} and ${how}: repeat, or run \`sluicegate daemon stop\`, which ends it.`;
    return failed(json, "SG-DAEMON-UNREACHABLE", sentence);
  }
  if (!answer.ok && !isAbsent(answer.error)) return failed(json, "SG-DAEMON-UNREACHABLE", mute(paths));
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
  const gateway = await ask(paths.socket, { kind: "status" }, options);
  const reply = gateway.ok ? readReply("status", gateway.value) : gateway;
  const sources = reply.ok ? (reply.value.sources ?? []) : [];
  const unstarted = reply.ok ? (reply.value.unstarted ?? []) : [];
  const owed = reply.ok ? (reply.value.owed ?? []) : [];
  const lines = [
    ...sources.map(
      ({ run, from, holds }) => `\n${plain(run)} holds ${plain(holds.join(", "))} because of ${plain(from)}.`,
    ),
    ...unstarted.map(({ server, why }) => `\nServer ${plain(server)} did not start: ${plain(why)}`),
    ...owed.map(({ run, sentence }) => `\n${plain(run)} ended owing: ${plain(sentence)}`),
  ];
  const known = { running: true, socket: paths.socket, log: paths.log, daemon: answer.value };
  print(
    json,
    { ...known, sources: [...sources], owed: [...owed], unstarted: [...unstarted] },
    `${text}${lines.join("")}`,
  );
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
