/**
 * The composed gateway as the daemon's services: a shim's socket becomes a stdio client connection, the shim's command
 * becomes the target of a connector that reports stderr and process group to the shim.
 */
import { homedir } from "node:os";
import { basename, isAbsolute } from "node:path";
import type { Duplex } from "node:stream";
import { identify, killGroup } from "../../adapters/daemon/process-identity.ts";
import type { RunHello, ProcessIdentity, SessionEnd } from "../../adapters/daemon/protocol.ts";
import type { ControlContext, DaemonServices, OpenSession, SideChannel } from "../../adapters/daemon/services.ts";
import { missedFile } from "../needs/missed-file.ts";
import { isolationOf } from "../../adapters/projection/isolation-of.ts";
import { stdioClient } from "../../adapters/stdio/stdio-client.ts";
import { connectProcess } from "../../adapters/stdio/stdio-upstream.ts";
import type { Json } from "../../core/json.ts";
import { type Result, ok } from "../../core/result.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { serverLine } from "./server-lines.ts";
import { namedVariables } from "./named-variables.ts";
import { workFolder } from "./work-folder.ts";
import { forwardingClient, forwardingHandler } from "../../gateway/ports/forwarding.ts";
import type {
  Accept,
  ClientConnection,
  ConnectionFacts,
  Connector,
  ServerTarget,
  UpstreamConnection,
  UpstreamHandler,
} from "../../gateway/ports/transport.ts";

/** The gateway's inputs for one shim's session. */
export type SessionSetup = {
  readonly server: string;
  readonly target: ServerTarget;
  /** Must be used for this session's server: it is what ties the server to the shim. */
  readonly connector: Connector;
  readonly facts: ConnectionFacts;
  /** Name of the session, and of the one it continues: the handshake of that one is to be replayed to the server. */
  readonly session: string;
  readonly resume: string | undefined;
  /** Absolute path of a policy file that the command line named. */
  readonly policy: string | undefined;
  /** The command line's tag for the connection, for `match: {tag}`. */
  readonly tag: string | undefined;
};

/** The interface of the composition. Errors are sentences for the user. */
export interface SessionGateway {
  open(setup: SessionSetup): Promise<Result<{ readonly accept: Accept; readonly run: string }, string>>;
  /** A sentence for the user of every session that begins now; undefined where nothing is wrong. */
  notice?(): string | undefined;
  control(request: Json, context: ControlContext): Promise<Result<Json, string>>;
  /** A session is over; called once for each that was opened. */
  left(setup: SessionSetup): void;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Time for the answers that the gateway still owes when a server has ended, before the session ends as well. */
const lastAnswersMsMax = 500;

/** Time a server's group gets to end by itself after its session ended; then it is killed. */
const groupGraceMsMax = 5_000;

/** `home`: the state folder, without which no server can be isolated. `connect` starts a server. */
export function gatewayServices(gateway: SessionGateway, home?: string, connect = connectProcess): DaemonServices {
  return {
    open: async (hello, side) => {
      const session = new GatewaySession(hello, side, { home, connect });
      const setup = session.setup(hello);
      const opened = await gateway.open(setup);
      const notice = gateway.notice?.();
      if (notice !== undefined) side.stderr(Buffer.from(`sluicegate: ${notice}\n`));
      if (!opened.ok) return opened;
      const started = session.start(opened.value);
      void started.ended.then(() => gateway.left(setup));
      return ok(started);
    },
    control: (request, context) => gateway.control(request, context),
    drain: () => gateway.drain(),
    close: () => gateway.close(),
  };
}

/**
 * Name of a server for policy and log: what the configuration says, else the command's own name. In `SERVER.TOOL` the
 * server ends at the first dot, so a rule for the tools of `mcp.sh` would never speak.
 */
export function serverName(hello: Pick<RunHello, "server" | "argv">): string {
  return hello.server ?? basename(hello.argv[0] ?? "server").replaceAll(".", "-");
}

type Surroundings = { readonly home: string | undefined; readonly connect: typeof connectProcess };

class GatewaySession {
  readonly #side: SideChannel;
  /** One object for the whole session: the composition knows a connection again by it. */
  readonly #facts: ConnectionFacts;
  #group: ProcessIdentity | undefined;
  #client: ClientConnection | undefined;
  #resolveEnded: (end: SessionEnd) => void = () => undefined;
  readonly #ended: Promise<SessionEnd>;
  /** Why the server ended, when it was the first to go. */
  #serverEnd: string | undefined;
  #over = false;
  readonly #home: string | undefined;
  readonly #connectProcess: typeof connectProcess;

  constructor(hello: RunHello, side: SideChannel, { home, connect }: Surroundings) {
    this.#side = side;
    this.#home = home;
    this.#connectProcess = connect;
    this.#facts = factsOf(hello);
    this.#ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  setup(hello: RunHello): SessionSetup {
    const [command = "", ...args] = hello.argv;
    const { env, umask, cwd: workingDirectory } = hello;
    const server = serverName(hello);
    const named = namedVariables(env, hello.client.pid);
    const target: ServerTarget = { kind: "stdio", command, args, env, workingDirectory, umask, named };
    const connector: Connector = { connect: (aim, handler, order) => this.#connect(aim, handler, order) };
    const { session, resume, policy, tag } = hello;
    return { server, target, connector, facts: this.#facts, session, resume, policy, tag };
  }

  start(opened: { readonly accept: Accept; readonly run: string }): OpenSession {
    const accept: Accept = (connection) => {
      const handler = opened.accept(connection);
      return forwardingClient(handler, {
        closed: (reason) => {
          handler.closed(reason);
          this.#end();
        },
      });
    };
    return {
      run: opened.run,
      attach: (wire: Duplex) => {
        this.#client = stdioClient({ input: wire, output: wire }, this.#facts, accept);
      },
      signal: (name) => {
        if (this.#group !== undefined) killGroup(this.#group, name);
      },
      close: (reason) => {
        this.#client?.close(reason);
        this.#end();
        // The shim is gone or the daemon ends: no client is left that could use a graceful end of the server.
        if (this.#group !== undefined) killGroup(this.#group, "SIGKILL");
        return Promise.resolve();
      },
      ended: this.#ended,
    };
  }

  #connect(target: ServerTarget, handler: UpstreamHandler, order: IsolationOrder | undefined): UpstreamConnection {
    if (target.kind !== "stdio") throw new Error("a shim's server is always a command");
    const name = this.#facts.server ?? "server";
    const diagnostic = (line: string): void => this.#side.stderr(Buffer.from(`${serverLine(name, line)}\n`));
    const notice = (text: string): void => this.#side.stderr(Buffer.from(`sluicegate: ${text}\n`));
    const own = forwardingHandler(handler, {
      closed: (reason) => {
        this.#group = undefined; // the transport has seen the whole group end; its number may go to others now
        // First: the gateway ends the conversation, and with it this session, which has to say why.
        this.#onServerEnd(reason);
        handler.closed(reason);
      },
    });
    return this.#connectProcess(target, own, {
      diagnostic,
      ...isolationOf(target, order, { home: this.#home, diagnostic, notice, missedFile }),
      started: (processGroup) => {
        this.#group = identify(processGroup);
        this.#side.processGroup(this.#group);
      },
    });
  }

  /** A client that runs a server itself sees its streams end with it; behind the shim it must see the same. */
  #onServerEnd(reason: string): void {
    if (this.#over) return;
    this.#serverEnd = reason;
    setTimeout(() => this.#client?.close(reason), lastAnswersMsMax);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    const group = this.#group;
    if (group !== undefined) {
      setTimeout(() => {
        if (this.#group === group) killGroup(group, "SIGKILL");
      }, groupGraceMsMax).unref();
    }
    const failed = this.#serverEnd !== undefined;
    this.#resolveEnded({ exitCode: failed ? 1 : 0, sentence: this.#serverEnd ?? "" });
  }
}

function factsOf(hello: RunHello): ConnectionFacts {
  return {
    transport: "stdio",
    server: serverName(hello),
    principal: `os:${process.getuid?.() ?? 0}`,
    process: hello.client,
    above: hello.above,
    ...workFolder(hello.cwd, [hello.env["HOME"] ?? "", homedir()].filter(isAbsolute)),
  };
}
