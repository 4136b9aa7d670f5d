/**
 * Permission profiles of ToolHive (`{read, write, network: {outbound: {allow_host, allow_port}}}`) as the scope of a
 * server, where the scope says the same or less. A setting without a faithful equivalent is listed with its reason
 * and left out, so that the result always loads.
 */
import { plainDestination, plainPath } from "../canonical/scopes.ts";
import { type Json, isArray, isRawNumber, member, stringMember } from "../../core/json.ts";
import type { PolicyDocument } from "../canonical/policy-document.ts";
import type { ScopeText } from "../document/shapes-isolation.ts";
import { scopeEntriesMax } from "../values/limits.ts";
import { destinationFault } from "./destination-faults.ts";
import { breadthFault, spellingFault } from "./path-faults.ts";
import { destinationGivesAway, givesAway } from "./sensitive.ts";

export type LeftOut = { readonly list: string; readonly entry: string; readonly reason: string };
export type ImportedProfile = {
  readonly document: PolicyDocument;
  readonly imported: number;
  readonly left: readonly LeftOut[];
};

/** Characters of an entry that are repeated in a reason. */
const entryShownMax = 200;

/** `profile` is the parsed profile; its name, where it has a usable one, becomes that of the server. */
export function importToolhiveProfile(profile: Json): ImportedProfile {
  const left: LeftOut[] = [];
  const leave = (list: string, entry: Json, reason: string): void => {
    const said = typeof entry === "string" ? entry : (JSON.stringify(entry) ?? "");
    left.push({ list, entry: said.slice(0, entryShownMax), reason });
  };
  const read = pathsOf(profile, "read", leave);
  const write = pathsOf(profile, "write", leave);
  const net = netOf(member(profile, "network"), leave);
  if (member(profile, "privileged") === true) leave("privileged", true, "no projection gives a server more rights");
  const scope: ScopeText = { files: { read, write, workspace: { mode: "none" } }, net };
  const named = stringMember(profile, "name") ?? "";
  const server = /^[^\s\p{C}]{1,128}$/u.test(named) ? named : "server";
  const imported = read.length + write.length + (net.allow?.length ?? 0) + (net.mode === "open" ? 1 : 0);
  const isolation = { servers: Object.fromEntries([[server, scope]]) };
  return { document: { version: 1, extends: ["default"], isolation }, imported, left };
}

type Leave = (list: string, entry: Json, reason: string) => void;

function listAt(value: Json | undefined, name: string, list: string, leave: Leave): readonly Json[] {
  const found = member(value, name);
  if (found !== undefined && found !== null && !isArray(found)) leave(list, found, "it is not a list");
  if (!isArray(found)) return [];
  if (found.length > scopeEntriesMax) leave(list, found.length, `only the first ${scopeEntriesMax} entries are read`);
  return found.slice(0, scopeEntriesMax);
}

function pathsOf(profile: Json, list: "read" | "write", leave: Leave): readonly string[] {
  return listAt(profile, list, list, leave).flatMap((entry) => {
    const fault = typeof entry === "string" ? pathFault(entry) : "it is not a text";
    if (typeof entry === "string" && fault === undefined) return [plainPath(entry)];
    leave(list, entry, fault ?? "it is not a text");
    return [];
  });
}

function pathFault(entry: string): string | undefined {
  // `HOST:CONTAINER` and `volume://NAME:PATH`: in a projection everything lies where it lies on the machine.
  if (entry.includes(":")) return "it is mounted at another place, and a projection keeps places as they are";
  const spelling = spellingFault(entry);
  if (spelling !== undefined) return `it ${spelling.why}`;
  const wide = breadthFault(plainPath(entry));
  if (wide !== undefined) return `it would open ${wide}`;
  const gives = givesAway(plainPath(entry));
  return gives === undefined ? undefined : `it gives the server ${gives}: add it by hand, and under \`sensitive\``;
}

function netOf(network: Json | undefined, leave: Leave): NonNullable<ScopeText["net"]> {
  const outbound = member(network, "outbound");
  if (member(network, "inbound") !== undefined) {
    leave("network.inbound", member(network, "inbound") ?? null, "a projection takes no connection from outside");
  }
  const mode = stringMember(network, "mode");
  if (mode === "none") return { mode: "none" };
  if (mode === "host") leave("network.mode", mode, "the network of the host is the opposite of a projection");
  if (member(outbound, "insecure_allow_all") === true) return { mode: "open" };
  const ports = portsOf(outbound, leave);
  const hosts = listAt(outbound, "allow_host", "network.outbound.allow_host", leave);
  if (hosts.length === 0 && ports.length > 0) {
    leave("network.outbound.allow_port", [...ports], "ports without hosts would open every host");
  }
  const allow = hosts.flatMap((host) => destinationsOf(host, ports, leave));
  return allow.length === 0 ? { mode: "none" } : { mode: "list", allow: allow.slice(0, scopeEntriesMax) };
}

function portsOf(outbound: Json | undefined, leave: Leave): readonly number[] {
  return listAt(outbound, "allow_port", "network.outbound.allow_port", leave).flatMap((entry) => {
    const port = typeof entry === "number" ? entry : isRawNumber(entry) ? Number(entry.rawJSON) : Number.NaN;
    if (Number.isInteger(port) && port >= 1 && port <= 65_535) return [port];
    leave("network.outbound.allow_port", entry, "it is not a port from 1 to 65535");
    return [];
  });
}

/** Without ports only 443: the profile means any, and a scope names them. */
function destinationsOf(host: Json, ports: readonly number[], leave: Leave): readonly string[] {
  const list = "network.outbound.allow_host";
  if (typeof host !== "string") {
    leave(list, host, "it is not a text");
    return [];
  }
  if (ports.length === 0) leave(list, host, "it names no port: 443 is taken, add others by hand");
  // A leading dot means the name and everything below it.
  const names = host.startsWith(".") ? [host.slice(1), `*${host}`] : [host];
  return names.flatMap((name) =>
    (ports.length === 0 ? [443] : ports).flatMap((port) => {
      const destination = `${name.includes(":") ? `[${name}]` : name}:${port}`;
      const gives = destinationGivesAway(destination);
      const why = destinationFault(destination)?.why ?? (gives === undefined ? undefined : `gives the server ${gives}`);
      if (why === undefined) return [plainDestination(destination)];
      leave(list, `${name}:${port}`, `it ${why}`);
      return [];
    }),
  );
}
