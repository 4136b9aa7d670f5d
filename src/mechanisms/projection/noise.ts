/**
 * Events that runtimes cause by themselves and that say nothing about a call, as data: each row has an id, and no row
 * is a guess about a text. Noise is dropped before anything is judged, so a row must not fit an event that gives access
 * to keys or leaves the machine; a secret by the rules of `scope-rules.ts` is noise only where a row names that very
 * file.
 */
import { changesFiles, type EffectEvent } from "../../core/isolation/effect-trace.ts";
import { hasOwnNetwork, isBrokered, isEverywhere, isLoopback, looksForLoopback } from "./destinations.ts";
import {
  isObeyed,
  isOwn,
  isScratch,
  isShut,
  isSystemRead,
  isSystemWrite,
  leadsToScope,
  normalIn,
  secretAt,
} from "./file-scope.ts";
import { type Grounds, took } from "./grounds.ts";
import { targetOf } from "./scope-rules.ts";

type NoiseRule = {
  readonly id: string;
  /** Events that it can fit at all; most of a trace is files, which no other row needs to look at. */
  readonly about: "file" | "net" | "other";
  readonly why: string;
  readonly applies: (event: EffectEvent, grounds: Grounds) => boolean;
};

const changing: readonly EffectEvent["action"][] = ["file-write", "file-create", "file-delete", "file-rename"];

/** Calls that the filter refuses because a library asks for the newer of two ways and takes the older one then. */
const probedCalls: ReadonlySet<string> = new Set([
  "clone3",
  "io_uring_setup",
  "rseq",
  "set_mempolicy",
  "get_mempolicy",
  "mbind",
]);

/** Daemons of name services that libraries ask first, wherever they may be. */
const nameServices =
  /^\/(?:var\/)?run\/(?:nscd\/socket|systemd\/(?:resolve|userdb|journal)\/.*|avahi-daemon\/socket)$|^\/var\/lib\/sss\/pipes\/|^\/dev\/log$/;

/** Package and settings files that runtimes look for in each folder up to the root. */
const lookedForUpwards =
  /\/(?:package\.json|node_modules|tsconfig\.json|pyvenv\.cfg|pyproject\.toml|setup\.cfg|\.git|\.env|\.npmrc|\.python-version|\.node-version|\.nvmrc|\.yarnrc(?:\.yml)?|\.pnp\.[cm]?js|deno\.jsonc?|bunfig\.toml)(?:\/|$)/;

/** Settings that libraries look for in a home folder and do without. */
const lookedForAtHome =
  /\/\.(?:netrc|npmrc|pypirc|pgpass|my\.cnf|config\/(?:git|pip|npm|matplotlib|fontconfig|dconf|gtk-[0-9.]+|user-dirs\.dirs|node)(?:\/|$))|\/_netrc$/;

/** Caches of fonts that are made anew wherever one may write. */
const fontCaches = /^\/var\/cache(?:\/fontconfig(?:\/|$)|$)/;

export const noiseRules: readonly NoiseRule[] = [
  {
    id: "noise.own-files",
    about: "file",
    why: "its own code and folders that vanish with it are private to it",
    applies: (event, grounds) =>
      (event.action === "file-read" && isOwn(event.path, grounds)) ||
      (changing.includes(event.action) || event.action === "file-permissions"
        ? isScratch(event.path, grounds) && (event.target === undefined || isScratch(event.target, grounds))
        : false),
  },
  {
    id: "noise.system-files",
    about: "file",
    why: "libraries, time zones, names of hosts and facts about the machine are read by every program",
    applies: ({ action, path }, grounds) => action === "file-read" && isSystemRead(path, grounds),
  },
  {
    id: "noise.null-device",
    about: "file",
    why: "what is written there is gone, or belongs to the process alone",
    applies: ({ action, path, target }, grounds) =>
      action.startsWith("file-") && target === undefined && isSystemWrite(path, grounds),
  },
  {
    id: "noise.pipe",
    about: "file",
    why: "an end of a pipe that it holds already has no place in the file system",
    applies: ({ action, path = "", target }) =>
      action.startsWith("file-") &&
      target === undefined &&
      /^(?:pipe|anon_inode|socket|\/memfd):/.test(path) &&
      !path.includes("/.."),
  },
  {
    id: "noise.way-there",
    about: "file",
    why: "folders on the way to what is in scope are walked through, and made where they are already",
    applies: (event, grounds) =>
      (event.action === "file-read" || (event.action === "file-create" && event.outcome === "failed")) &&
      leadsToScope(event.path, grounds),
  },
  {
    id: "noise.missing",
    about: "file",
    why: "nothing was there, and nothing of value is expected there",
    applies: ({ action, outcome }) => action === "file-read" && outcome === "failed",
  },
  {
    id: "noise.looked-upwards",
    about: "file",
    why: "runtimes look for packages and settings in each folder up to the root",
    applies: ({ action, outcome, path }, grounds) =>
      action === "file-read" && outcome === "denied" && names(lookedForUpwards, path, grounds),
  },
  {
    id: "noise.own-link",
    about: "file",
    why: "a link in a folder that vanishes, to something else in it, leads nowhere new and is gone with it",
    applies: (event, grounds) =>
      event.action === "file-link" && isScratch(event.path, grounds) && isScratch(linkTarget(event), grounds),
  },
  {
    id: "noise.font-cache",
    about: "file",
    why: "the font library tries to keep its cache where the system does, and takes a private folder then",
    applies: (event, grounds) =>
      changing.includes(event.action) &&
      !took(event) &&
      event.target === undefined &&
      names(fontCaches, event.path, grounds),
  },
  {
    id: "noise.compiled-code",
    about: "file",
    why: "interpreters try to keep compiled code beside their packages",
    applies: (event, grounds) =>
      changing.includes(event.action) &&
      !took(event) &&
      isOwn(event.path, grounds) &&
      (event.target === undefined || isOwn(event.target, grounds)) &&
      names(/\/__pycache__(?:\/|$)|\.pyc(?:\.|$)|\/\.cache\//, event.path, grounds),
  },
  {
    id: "noise.name-service",
    about: "net",
    why: "libraries ask for a daemon of name services and go on without",
    applies: ({ action, transport, path, outcome }, grounds) =>
      action === "net-connect" && transport === "unix" && outcome !== "success" && names(nameServices, path, grounds),
  },
  {
    id: "noise.own-loopback",
    about: "net",
    why: "in a network of its own its loopback reaches only itself",
    applies: (event, grounds) =>
      (event.action === "net-connect" || event.action === "net-send") &&
      event.transport !== "unix" &&
      // The broker stands outside of that network: what it was asked for is the loopback of the machine.
      event.grade !== "broker" &&
      isLoopback(event) &&
      hasOwnNetwork(grounds) &&
      !looksForLoopback(event, grounds),
  },
  {
    id: "noise.brokered",
    about: "net",
    why: "the connection ends at the broker, whose own event says where it went",
    applies: (event, grounds) =>
      event.action.startsWith("net-") && event.action !== "net-listen" && isBrokered(event, grounds),
  },
  {
    id: "noise.local-name",
    about: "net",
    why: "names of the machine itself cause no query",
    applies: (event) => event.action === "dns-query" && isLoopback(event),
  },
  {
    id: "noise.self-test",
    about: "net",
    why: "a socket without a port is bound to see whether IPv6 works, or to send from",
    applies: (event) =>
      event.action === "net-listen" &&
      (event.port === 0 || event.port === undefined) &&
      (isLoopback(event) || (event.transport === "udp" && isEverywhere(event))),
  },
  {
    id: "noise.sending-port",
    about: "net",
    why: "who may send anywhere binds datagram sockets to ports of chance, so that answers cannot be forged (RFC 5452)",
    applies: (event, { order }) =>
      event.action === "net-listen" &&
      event.transport === "udp" &&
      isEverywhere(event) &&
      order.scope.net.mode === "open",
  },
  {
    id: "noise.probed-call",
    about: "other",
    why: "a library asked for the newer of two ways and takes the older one",
    applies: (event) => event.action === "system-call" && !took(event) && probedCalls.has(event.detail ?? ""),
  },
];

/** Where a path leads fits, and not only some folder on a way that turns back. */
function names(pattern: RegExp, path: string | undefined, grounds: Grounds): boolean {
  return pattern.test(normalIn(path, grounds) ?? "");
}

/** Where a link leads, as an absolute path: a relative one starts in the folder of the link. */
function linkTarget({ path = "", target = "" }: EffectEvent): string {
  return target.startsWith("/") ? target : `${path.slice(0, path.lastIndexOf("/"))}/${target}`;
}

function aboutOf({ action }: EffectEvent): NoiseRule["about"] {
  if (action.startsWith("file-")) return "file";
  return action.startsWith("net-") || action === "dns-query" ? "net" : "other";
}

const rowsAbout = {
  file: noiseRules.filter(({ about }) => about === "file"),
  net: noiseRules.filter(({ about }) => about === "net"),
  other: noiseRules.filter(({ about }) => about === "other"),
};

/** Id of the row that makes an event noise; undefined = it is judged. */
export function noiseOf(event: EffectEvent, grounds: Grounds): string | undefined {
  // Libraries that look for a password file and find none have got nothing; for all other secrets, looking is enough.
  if (event.action === "file-read" && event.outcome === "failed" && names(lookedForAtHome, event.path, grounds)) {
    return "noise.settings-at-home";
  }
  if (event.action.startsWith("file-")) {
    const secret = secretAt(event.path, grounds) ?? secretAt(targetOf(event), grounds);
    if (secret !== undefined || isShutTo(event, grounds)) return undefined;
  }
  if (changesFiles(event) && (isObeyed(event.path, grounds) || isObeyed(event.target, grounds))) return undefined;
  const rows = rowsAbout[aboutOf(event)];
  return rows.find((rule) => rule.applies(event, grounds))?.id;
}

/** An event at a place that the scope shuts is not noise, except where the place did not exist. */
function isShutTo(event: EffectEvent, grounds: Grounds): boolean {
  return event.outcome !== "failed" && (isShut(event.path, grounds) || isShut(event.target, grounds));
}
