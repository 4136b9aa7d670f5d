/**
 * The services that the daemon needs of the gateway behind it. `app` implements them; tests implement them with a plain
 * relay. The daemon knows processes, sockets and sessions, and nothing of messages or decisions.
 */
import type { Duplex } from "node:stream";
import type { Json } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { ForwardedSignal, ProcessIdentity, RunHello, SessionEnd } from "./protocol.ts";

/** The way from a session to the shim, beside the protocol bytes. */
export interface SideChannel {
  /** Hands on what the server wrote to its stderr; dropped when the shim is too slow. */
  stderr(chunk: Uint8Array): void;
  /**
   * Tells the shim the server's process group, as soon as it is known and again whenever the server was restarted, so
   * that the shim can kill the group when the daemon dies.
   */
  processGroup(leader: ProcessIdentity): void;
}

/** One shim's session, from hello to end. */
export interface OpenSession {
  /** Key of the run that the session belongs to, for messages to the user. */
  readonly run: string;
  /** Called once, after the shim got its reply: from now on `wire` carries protocol bytes both ways. */
  attach(wire: Duplex): void;
  signal(name: ForwardedSignal): void;
  /** Ends the session and the server's process group at once: the shim is gone, or the daemon stops. */
  close(reason: string): Promise<void>;
  /** Resolves when the session is over, however it ended; never rejects. */
  readonly ended: Promise<SessionEnd>;
}

/** Means of a control request while it is being answered. */
export type ControlContext = {
  /** Sends an intermediate value (for example one event of `audit tail`) before the final one. */
  readonly part: (value: Json) => void;
  /** Aborted when the asking side hung up. */
  readonly signal: AbortSignal;
};

export interface DaemonServices {
  /** Prepares a session; the error is a sentence for the user. Must not wait for the server to be ready. */
  open(hello: RunHello, side: SideChannel): Promise<Result<OpenSession, string>>;
  /** Answers a control request (`{kind: "runs" | "approve" | "hook" | "status" | "audit" ...}`) or refuses it. */
  control(request: Json, context: ControlContext): Promise<Result<Json, string>>;
  /** Takes no new calls and resolves when those in flight are answered. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the services for a state folder; the error is a sentence for the user. */
export type OpenServices = (home: string) => Promise<Result<DaemonServices, string>>;
