/** A shim's connection to the daemon: handshake on two sockets, upgrade of an older daemon, and the side lines. */
import { connect, type Socket } from "node:net";
import {
  ask,
  connected,
  connectOrStart,
  connectSocket,
  shakeHands,
  type Launch,
} from "../../adapters/daemon/connect.ts";
import {
  drainMsMax,
  replyBytesMax,
  startPollMs,
  startWaitMsMax,
  statusWaitMsMax,
} from "../../adapters/daemon/daemon-limits.ts";
import { readLines } from "../../adapters/daemon/lines.ts";
import type { DaemonPaths } from "../../adapters/daemon/paths.ts";
import {
  type RunHello,
  toLine,
  type ForwardedSignal,
  type ProcessIdentity,
  type SessionEnd,
} from "../../adapters/daemon/protocol.ts";
import { parseRunReply, parseSideLine } from "../../adapters/daemon/replies.ts";
import { isNewer, ownVersion } from "../../adapters/daemon/version.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { boundedWriter } from "../../adapters/net/bounded-writer.ts";
import { Intake } from "./intake.ts";

export type Link = {
  /** Takes protocol bytes to the daemon. */
  readonly wire: Socket;
  /** The same socket's bytes from the daemon, paused until they are diverted. */
  readonly answers: Intake;
  readonly run: string;
  /** Process groups that the server has had; killed when the daemon is lost. */
  readonly groups: readonly ProcessIdentity[];
  /** Resolves with the daemon's last word, or undefined when the daemon is gone without one. */
  readonly ended: Promise<SessionEnd | undefined>;
  readonly signal: (name: ForwardedSignal) => void;
  readonly close: () => void;
};

/** Tries to open a session before it gives up: a daemon that ends between connect and hello is met by a second try. */
const openTriesMax = 5;

/** Opens a session, starting or replacing the daemon where needed. Errors are sentences for the user. */
export async function openLink(paths: DaemonPaths, launch: Launch, hello: RunHello): Promise<Result<Link, string>> {
  let last = "The Sluicegate daemon ended again and again while starting: run `sluicegate doctor`.";
  for (let tries = 0; tries < openTriesMax; tries += 1) {
    // A killed daemon's socket may take connections until the kernel has buried it: all tries must not fall into that.
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, tries * 5 * startPollMs));
    const side = await connectOrStart(paths, launch);
    if (!side.ok) return side;
    const answers = new Intake((onread) => connect({ path: paths.socket, allowHalfOpen: true, onread }));
    const wire = await connected(answers.socket);
    if (!wire.ok) {
      side.value.destroy();
      continue;
    }
    side.value.write(toLine({ kind: "side", version: hello.version, session: hello.session }));
    const line = await shakeHands(wire.value, hello, startWaitMsMax);
    if (!line.ok) {
      last = line.error;
      drop(wire.value, side.value);
      // A daemon that is busy may take a session with the next try; one that is frozen takes none.
      if (await answersPing(paths, statusWaitMsMax)) continue;
      return err(frozen);
    }
    const reply = parseRunReply(line.value);
    if (reply.kind === "accepted") return ok(makeLink(answers, side.value, reply.run));
    drop(wire.value, side.value);
    if (reply.reason === "refused") return err(reply.refused);
    if (reply.reason === "version") {
      if (!isNewer(hello.version, reply.version)) return err(reply.refused);
      await ask(paths.socket, { kind: "daemon", command: "drain" }, { version: hello.version, waitMsMax: drainMsMax });
    }
    await untilGone(paths);
  }
  return err(last);
}

const frozen =
  "The Sluicegate daemon holds its socket and does not answer: run `sluicegate daemon stop`, which ends it, then reconnect this server.";

/** Whether the daemon gives its word on itself in time. One that is not there counts: the next try starts it. */
export async function answersPing({ socket }: DaemonPaths, waitMsMax: number): Promise<boolean> {
  const options = { version: ownVersion(), waitMsMax };
  const answer = await ask(socket, { kind: "daemon", command: "status" }, options);
  return answer.ok || answer.error.kind !== "unreachable" || answer.error.code !== "ETIMEDOUT";
}

/** Waits until the socket of a draining daemon is gone. */
async function untilGone(paths: DaemonPaths): Promise<void> {
  const deadline = process.uptime() * 1000 + 2 * drainMsMax;
  while (process.uptime() * 1000 < deadline) {
    const tried = await connectSocket(paths.socket);
    if (!tried.ok) return;
    tried.value.destroy();
    await new Promise((resolve) => setTimeout(resolve, 5 * startPollMs));
  }
}

function makeLink(answers: Intake, side: Socket, run: string): Link {
  const wire = answers.socket;
  const groups: ProcessIdentity[] = [];
  const writeLine = boundedWriter(process.stderr);
  const ended = new Promise<SessionEnd | undefined>((resolve) => {
    readLines(side, replyBytesMax, (text) => {
      const line = parseSideLine(text);
      if (line === undefined) return;
      switch (line.kind) {
        case "stderr":
          writeLine(Buffer.from(line.bytes, "latin1"));
          return;
        case "group":
          groups.push(line.leader);
          return;
        case "ended":
          resolve(line.end);
      }
    });
    side.on("end", () => resolve(undefined)).on("close", () => resolve(undefined));
  });
  return {
    wire,
    answers,
    run,
    groups,
    ended,
    signal: (name) => void (side.writable && side.write(toLine({ kind: "signal", name }))),
    close: () => drop(wire, side),
  };
}

function drop(wire: Socket, side: Socket): void {
  wire.destroy();
  side.destroy();
}
