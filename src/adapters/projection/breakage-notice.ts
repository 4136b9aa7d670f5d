/**
 * What a server that is isolated by default misses, told to the operator while it misses it: one sentence a host, file or
 * folder, with the line of policy that opens it. A server may fail over that before its first call, where no verdict would say it.
 */
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { hasSecret } from "../../core/secret.ts";
import { printable } from "../net/printable.ts";
import type { Broker, IsolationSetup, Launched, MissedFile, Sighting, Tracer } from "./parts.ts";

/** Hosts of one server that are told of, and files; one that asks for more needs to be looked at, not told of. */
const hostsMax = 6;

/** Names of hosts that its card may offer. */
const wantedMax = 12;
const filesMax = 4;

/** Paths of one server that are looked at: programs look for many files. */
const pathsMax = 1_024;

type Tell = Pick<IsolationSetup, "notice" | "missedFile">;

/** The same parts, which tell what they refuse; unchanged where the policy's own words close the server in. */
export function withBreakage(launched: Launched, order: IsolationOrder, { notice, missedFile }: Tell): Launched {
  if (order.mode !== "where-possible" || notice === undefined) return launched;
  const { broker, tracer, places } = launched;
  const line = new OpeningLine(order);
  const hosts = new Set<string>();
  const wanted = new Set<string>();
  const hostSeen = (sighting: Sighting): void => {
    const host = refusedHost(sighting);
    const name = host !== undefined && sighting.domain === host && wanted.size < wantedMax;
    if (name) wanted.add(host);
    if (host === undefined || hosts.has(host) || hosts.size >= hostsMax) return;
    hosts.add(host);
    const what = `Server \`${line.name}\` wanted \`${host}\`, which is closed to it.`;
    notice(`${what} If it needs that, add to your policy: ${line.with("allow", host)}`);
  };
  const paths = new Set<string>();
  const files = new Set<string>();
  const fileSeen = (seen: Sighting): void => {
    if (!isMissed(seen) || files.size >= filesMax || paths.size >= pathsMax) return;
    const key = `${seen.action === "file-read"} ${seen.target ?? seen.path}`;
    if (paths.has(key)) return;
    paths.add(key);
    const missed = missedFile?.({ order, seen, places });
    const about =
      missed === undefined ? "" : missed.kind === "own-code" ? missed.kind : `${missed.kind} ${missed.entry}`;
    if (missed === undefined || files.has(about)) return;
    files.add(about);
    notice(fileNotice(missed, line));
  };
  const told = missedFile === undefined ? tracer : tracer && overheardTracer(tracer, fileSeen);
  return { ...launched, tracer: told, wanted, broker: broker && overheard(broker, hostSeen) };
}

function refusedHost({ action, outcome, domain, address }: Sighting): string | undefined {
  if (outcome !== "denied" || (action !== "dns-query" && action !== "net-connect")) return undefined;
  const host = domain ?? address;
  // What may be a key is not repeated.
  return host === undefined || hasSecret(host) ? undefined : printable(host, 100);
}

function isMissed({ action, outcome }: Sighting): boolean {
  return action.startsWith("file-") && (outcome === "denied" || outcome === "failed");
}

function fileNotice(missed: MissedFile, line: OpeningLine): string {
  const verb = missed.kind === "read" ? "read" : "write";
  const what = `Server \`${line.name}\` could not ${verb} \`${printable(missed.path, 160)}\``;
  if (missed.kind === "own-code") {
    return `${what}, since its own code is read-only: have it keep its files in the workspace or in a folder of its own, by an argument or variable of its entry, and name that folder in \`files: {write: [...]}\` under isolation.servers.${line.name}.`;
  }
  return `${what}, which its projection does not have. If it needs that, add to your policy: ${line.with(missed.kind, missed.entry)}`;
}

type Opened = { readonly allow: string[]; readonly read: string[]; readonly write: string[] };

/**
 * The line that opens what was missed so far. It is a whole section and keeps what holds for every other server; a list
 * replaces a list, so it holds what the scope of the server names already.
 */
class OpeningLine {
  readonly name: string;
  readonly #opened: Opened = { allow: [], read: [], write: [] };
  readonly #scope: IsolationOrder["scope"];

  constructor({ server, scope }: IsolationOrder) {
    this.name = printable(server, 40);
    this.#scope = scope;
  }

  with(key: keyof Opened, entry: string): string {
    this.#opened[key].push(entry);
    const { allow, read, write } = this.#opened;
    const { files, net } = this.#scope;
    const listed = (name: string, known: readonly string[], more: readonly string[]): readonly string[] =>
      more.length === 0 ? [] : [`${name}: [${[...known, ...more].map((one) => JSON.stringify(one)).join(", ")}]`];
    const hosts = listed("allow", net.allow, allow);
    const paths = [...listed("read", files.read, read), ...listed("write", files.write, write)];
    const parts = [
      ...(hosts.length === 0 ? [] : [`net: {${hosts.join(", ")}}`]),
      ...(paths.length === 0 ? [] : [`files: {${paths.join(", ")}}`]),
    ];
    return `isolation: {backend: where-possible, servers: {${this.name}: {${parts.join(", ")}}}}`;
  }
}

/** The broker with a listener; its own methods are kept as they are, for they know their state. */
function overheard(broker: Broker, tell: (sighting: Sighting) => void): Broker {
  return {
    grant: (call, destinations) => broker.grant(call, destinations),
    revoke: (call) => broker.revoke(call),
    nameUnheard: (address, port) => broker.nameUnheard?.(address, port),
    drain: () => {
      const drained = broker.drain();
      for (const sighting of drained) tell(sighting);
      return drained;
    },
    get failure() {
      return broker.failure;
    },
    close: () => broker.close(),
  };
}

function overheardTracer(tracer: Tracer, tell: (sighting: Sighting) => void): Tracer {
  return {
    drain: (vouch) => {
      const drained = tracer.drain(vouch);
      for (const sighting of drained) tell(sighting);
      return drained;
    },
    get lost() {
      return tracer.lost;
    },
    get failure() {
      return tracer.failure;
    },
    close: () => tracer.close(),
  };
}
