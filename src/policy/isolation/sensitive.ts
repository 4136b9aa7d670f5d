/**
 * Places that give access to keys, or to the machine itself. A scope may name one, but only by naming it twice: a
 * pasted path must not hand over an account unnoticed.
 */
import { parseAddress, sharesPrefix } from "../../core/isolation/internet-address.ts";
import { parseDestination } from "../../core/isolation/scope-patterns.ts";
import { homeOf } from "./path-faults.ts";

/** Sensitive places in a home folder, and the access that each gives. */
const inHome: readonly (readonly [path: string, gives: string])[] = [
  [".ssh", "keys to other machines"],
  [".gnupg", "keys that sign and decrypt"],
  [".aws", "keys to a cloud account"],
  [".azure", "keys to a cloud account"],
  [".config/gcloud", "keys to a cloud account"],
  [".oci", "keys to a cloud account"],
  [".config/doctl", "keys to a cloud account"],
  [".kube", "keys to clusters"],
  [".docker", "keys to registries"],
  [".config/gh", "keys to repositories"],
  [".config/hub", "keys to repositories"],
  [".git-credentials", "keys to repositories"],
  [".config/git/credentials", "keys to repositories"],
  [".netrc", "passwords"],
  [".pgpass", "passwords"],
  [".my.cnf", "passwords"],
  [".npmrc", "keys to package registries"],
  [".pypirc", "keys to package registries"],
  [".cargo/credentials", "keys to package registries"],
  [".cargo/credentials.toml", "keys to package registries"],
  [".gem/credentials", "keys to package registries"],
  [".terraform.d", "keys to a cloud account"],
  [".vault-token", "keys to a store of secrets"],
  [".password-store", "passwords"],
  [".local/share/keyrings", "passwords"],
  ["Library/Keychains", "passwords"],
  [".mozilla", "sessions and passwords of a browser"],
  [".thunderbird", "mail and passwords"],
  [".config/google-chrome", "sessions and passwords of a browser"],
  [".config/chromium", "sessions and passwords of a browser"],
  [".config/BraveSoftware", "sessions and passwords of a browser"],
  [".config/microsoft-edge", "sessions and passwords of a browser"],
  [".config/vivaldi", "sessions and passwords of a browser"],
  ["Library/Application Support", "sessions and passwords of a browser"],
  ["snap/firefox", "sessions and passwords of a browser"],
  ["snap/chromium", "sessions and passwords of a browser"],
  [".bash_history", "what was typed, passwords included"],
  [".zsh_history", "what was typed, passwords included"],
  [".claude", "an account of an agent"],
  [".claude.json", "an account of an agent"],
  [".codex", "an account of an agent"],
  [".cursor", "an account of an agent"],
  [".sluicegate", "what this gateway keeps"],
  [".local/state/sluicegate", "what this gateway keeps"],
  [".config/sluicegate", "what this gateway keeps"],
];

const onMachine: readonly (readonly [path: string, gives: string])[] = [
  ["/etc/shadow", "passwords of this machine"],
  ["/etc/gshadow", "passwords of this machine"],
  ["/etc/sudoers", "who may do what on this machine"],
  ["/etc/sudoers.d", "who may do what on this machine"],
  ["/etc/ssh", "keys of this machine"],
  ["/etc/ssl/private", "keys of this machine"],
  ["/etc/kubernetes", "keys to clusters"],
  ["/run/secrets", "secrets of this container"],
  ["/var/run/secrets", "secrets of this container"],
  ["/var/lib/docker", "every container of this machine"],
  ["/run/user", "sockets of a whole session"],
];

/** Every place of this list, as patterns of a scope. */
export const sensitivePlaces: readonly string[] = [
  ...inHome.map(([path]) => `~/${path}`),
  ...onMachine.map(([path]) => path),
];

/** Part of a path by which a socket is known wherever it lies. */
const sockets: readonly (readonly [pattern: RegExp, gives: string])[] = [
  [
    /\/(?:docker|podman|containerd|crio|buildkitd|lxd?)[^/]*\.(?:sock|socket)$/,
    "this whole machine, through containers",
  ],
  [/\/(?:ssh-[^/]+\/agent[^/]*|[^/]*ssh-agent[^/]*|keyring\/ssh|S\.gpg-agent\.ssh)$/, "keys to other machines"],
  [/\/(?:S\.gpg-agent[^/]*|[^/]*gpg-agent[^/]*)$/, "keys that sign and decrypt"],
  [/\/keyring(?:\/|$)/, "passwords"],
  [/\/(?:dbus(?:\/.*|-[^/]*)?|bus|system_bus_socket|session_bus_socket)$/, "every service of this session or machine"],
  [/\/\.?X11-unix(?:\/|$)|\/wayland-[^/]*$/, "the screen and the keyboard"],
  [/\/systemd\/(?:private|notify)$/, "the services of this machine"],
];

/** Addresses and names at which clouds hand keys to any caller from inside. */
const metadataAddresses = ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"].flatMap(
  (text) => parseAddress(text) ?? [],
);
const metadataNames = ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

/** The access that a plain path gives beside itself; undefined = none that is known here. */
export function givesAway(path: string): string | undefined {
  const socket = sockets.find(([pattern]) => pattern.test(path));
  if (socket !== undefined) return socket[1];
  const home = homeOf(path)?.join("/");
  if (home !== undefined && home !== "") return touches(home, inHome);
  return touches(path, onMachine);
}

/** The first entry that the path names, is inside of, or contains. */
function touches(path: string, entries: typeof inHome): string | undefined {
  return entries.find(([place]) => path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`))?.[1];
}

/** The access that a destination gives; undefined = none that is known here. */
export function destinationGivesAway(destination: string): string | undefined {
  const found = parseDestination(destination);
  const gives =
    found?.kind === "block"
      ? metadataAddresses.some((address) => sharesPrefix(found.address, address, found.prefix))
      : metadataNames.some(
          (name) => found?.name === name || (found?.kind === "below" && name.endsWith(`.${found.name}`)),
        );
  return gives ? "keys of this machine's cloud account" : undefined;
}

/** Every name of a socket above holds one of these. */
const likeSocket = /sock|agent|keyring|bus|X11|wayland|systemd/;

/** The secret that a reader of this very path gets; unlike for a scope entry, the folders around it do not count. */
export function holdsSecret(path: string): string | undefined {
  const socket = likeSocket.test(path) ? sockets.find(([pattern]) => pattern.test(path)) : undefined;
  if (socket !== undefined) return socket[1];
  // Most paths are in the home of the user and written so; nothing is taken apart for them.
  const home = path.startsWith("~/") ? path.slice(2) : homeOf(path)?.join("/");
  return home === undefined || home === "" ? secretBelow(path, machineSecrets) : secretBelow(home, homeSecrets);
}

const homeSecrets = new Map(inHome);
const machineSecrets = new Map(onMachine);

/** The entry for this path or for a folder around it; looked up folder by folder, since the lists are long. */
function secretBelow(path: string, entries: ReadonlyMap<string, string>): string | undefined {
  for (let end = path.indexOf("/", 1); end !== -1; end = path.indexOf("/", end + 1)) {
    const gives = entries.get(path.slice(0, end));
    if (gives !== undefined) return gives;
  }
  return entries.get(path);
}

/** Files that programs of the user obey by themselves, wherever a projection puts them. */
const obeyed =
  /^~\/(?:\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|xprofile|xsessionrc|gitconfig|pam_environment|mcp\.json)$|\.(?:cursor|claude|codex|gemini|vscode)\/|\.claude\.json$|\.config\/(?:fish|autostart|systemd|environment\.d|git)\/)/;

/** True for a plain path (`~/...` in the home of the user) that programs of the user obey. */
export function isObeyedPlace(path: string): boolean {
  return obeyed.test(path);
}
