/**
 * Places of a file system that mean more than a file: keys, login rights, programs that start alone. Judged by the
 * text of a path alone; a glob that may stand for such a place counts as it.
 */
import type { Effect } from "../../../core/effect.ts";
import { obeyedFile } from "../../../core/isolation/execution-hooks.ts";
import { isHeadPath } from "../../../core/isolation/obeyed-content.ts";
import { nameMatches } from "../../../policy/semantics/patterns.ts";
import { canonicalPath } from "../../../policy/values/path.ts";

export type Place =
  /** Holds keys or passwords. */
  | "credential"
  /** States the login rights of users, or their rights to act as others. */
  | "access"
  /** Runs when a user logs in, or a program starts. */
  | "startup"
  /** Runs at a time. */
  | "schedule"
  /** Belongs to the system. */
  | "system"
  /** A disk as a whole. */
  | "disk"
  /** Not a file: nothing is kept. */
  | "nothing";

const words = (text: string): readonly string[] => text.split(" ");

/** Names of files and folders, lower case. A folder stands for all that is in it. */
const names: { readonly [place in "access" | "credential" | "startup" | "schedule"]: readonly string[] } = {
  access: words("authorized_keys authorized_keys2 sudoers sudoers.d .rhosts .shosts hosts.equiv pam.d"),
  credential: words(
    "id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk .netrc _netrc .pgpass .my.cnf .npmrc .pypirc .env " +
      ".git-credentials .aws .azure .gnupg .password-store .vault-token .kube .docker keychains shadow gshadow " +
      "master.passwd secring.gpg wallet.dat .htpasswd .bash_history .zsh_history .python_history .psql_history " +
      "login.keychain-db kubeconfig credentials credentials.json .s3cfg .boto .ssh",
  ),
  startup: words(
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout " +
      ".kshrc .cshrc .tcshrc .login .xinitrc .xprofile .xsession .envrc .gitconfig .vimrc config.fish bash.bashrc " +
      "profile.d autostart launchagents launchdaemons rc.local init.d ld.so.preload .pam_environment .inputrc",
  ),
  schedule: words("crontab cron.d cron.daily cron.hourly cron.weekly cron.monthly crontabs cron anacrontab systemd"),
};

const endings = /\.(?:pem|key|p12|pfx|kdbx|keystore|jks|ovpn)$|^\.env\./;
const homes = /(?:^|\/)(?:proc\/[^/]+\/environ|\.config\/(?:gcloud|gh|hub)(?:\/|$))/;
const harmless = /^\/dev\/(?:null|zero|full|u?random|tty\d*|std(?:in|out|err)|fd\/\d+|(?:tcp|udp)\/.*)$/;
const disk = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|loop|r?disk|mem$|kmem$)/;
const systemFolders = words("etc usr bin sbin lib lib64 boot sys opt library system");

/** Letters that a glob must have before it is taken for a name that it may stand for. */
const globLettersMin = 2;

/** `[abc]`, in which a first `]` and `[:classes:]` end nothing. */
const bracketed = /\[[!^]?\]?(?:\[([:.=])[^\]]*?\1\]|[^\]])*\]/g;

/** Every name with its place; login rights come before places that are merely secret. */
const places: ReadonlyMap<string, Place> = new Map(
  (["startup", "schedule", "credential", "access"] as const).flatMap((place) =>
    names[place].map((name) => [name, place] as const),
  ),
);
const order: readonly Place[] = ["access", "credential", "schedule", "startup"];

/** The kind of place that the path names, or undefined for any other file. */
export function placeOf(path: string, glob = false): Place | undefined {
  // `//`, `.` and `..` must not hide where a path leads.
  const plain = /\/[./]/.test(path) ? (canonicalPath(path) ?? path) : path;
  const text = plain.toLowerCase();
  if (text.startsWith("/dev/")) return harmless.test(text) ? "nothing" : disk.test(text) ? "disk" : "system";
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  const last = parts.at(-1) ?? "";
  const found = new Set(parts.map((part) => placeOfName(part, glob)));
  if (found.has("access") || /^\/etc\/(?:passwd|group)-?$/.test(text)) return "access";
  // Public by intention, although they lie beside what is not.
  if (last.endsWith(".pub") || last === "known_hosts" || last.endsWith(".env.example")) return undefined;
  if (/\.ssh\/(?:config|rc)$|\.git\/(?:hooks\/|config$)/.test(text)) return "startup";
  if (endings.test(last) || homes.test(text)) return "credential";
  const place = order.find((one) => found.has(one));
  if (place !== undefined || text === "/etc/profile") return place ?? "startup";
  return text.startsWith("/") && systemFolders.includes(parts[0] ?? "") ? "system" : undefined;
}

/** The kind of place for a write: files that programs and agents obey count as places that run by themselves. */
export function writtenPlaceOf(path: string, glob: boolean): Place | undefined {
  const plain = inWorktree(path);
  // What the file will hold is not known here, and git takes the folder of a `HEAD` for a repository.
  const obeyed = obeyedFile(plain, false) !== undefined || isHeadPath(plain);
  return placeOf(path, glob) ?? (obeyed ? "startup" : undefined);
}

/** Coding agents keep worktrees below folders that they obey otherwise; in one its own root counts. */
function inWorktree(path: string): string {
  const plain = canonicalPath(path) ?? path;
  return plain.replace(/^.*\/\.(?:claude|cursor)\/worktrees\/[^/]+\//i, "");
}

function placeOfName(part: string, glob: boolean): Place | undefined {
  if (!glob || !/[*?[]/.test(part)) return places.get(part);
  const fitting = placesOfGlob(part);
  return order.find((one) => fitting.has(one));
}

function placesOfGlob(part: string): ReadonlySet<Place> {
  const pattern = part.replace(bracketed, "*").replaceAll("?", "*");
  // A dot alone says enough: `*` does not stand for what begins with one.
  if (!pattern.startsWith(".") && pattern.replaceAll("*", "").length < globLettersMin) return new Set();
  return new Set([...places].flatMap(([name, place]) => (nameMatches(pattern, name) ? [place] : [])));
}

/** Keys or passwords lie there. A glob stands for all that fits, whatever else is among it. */
export function mayHoldSecret(path: string, glob: boolean): boolean {
  if (placeOf(path, glob) === "credential") return true;
  const parts = path.toLowerCase().split("/");
  return glob && parts.some((part) => /[*?[]/.test(part) && placesOfGlob(part).has("credential"));
}

/** The effects of reading a place beside the read. */
export function readingEffects(place: Place | undefined): readonly Effect[] {
  return place === "credential" ? ["read.local.credential"] : [];
}

const writing: { readonly [place in Place]: readonly Effect[] } = {
  credential: ["write.local.credential"],
  access: ["write.local.grant"],
  startup: ["write.local.config"],
  schedule: ["write.local.schedule"],
  system: ["write.local.config"],
  disk: ["write.local.delete"],
  nothing: [],
};

/** The effects of writing to a place beside the write. */
export function writingEffects(place: Place | undefined): readonly Effect[] {
  return place === undefined ? [] : writing[place];
}
