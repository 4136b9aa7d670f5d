/**
 * How much an event says, for what is kept of a trace that is too long, and for what is noise. Nothing is judged by it:
 * the mechanism `projection` looks at paths against a scope, this only at what they look like.
 */
import { changesFiles } from "../../core/effect-trace.ts";
import type { Sighting } from "./parts.ts";

/** Names under which people keep secrets, and files that others execute or obey. */
const sensitiveName =
  /\/(?:\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|env|vault-token|pgpass|my\.cnf|bash_history|zsh_history|bashrc|bash_profile|profile|zshrc|zprofile|mcp\.json|mozilla|password-store)(?:[./]|$)|\.config\/(?:gh|gcloud|hub|autostart|systemd)(?:\/|$)|\.git\/(?:hooks|config)(?:\/|$)|id_(?:rsa|dsa|ecdsa|ed25519)|(?:shadow|sudoers|crontab|authorized_keys|environ|core_pattern|docker\.sock)$|keyrings?\/|login data|cookies)/i;

/** Where packages of the system keep public things under such names. */
const systemFolder = /^\/(?:usr|lib|lib64|bin|sbin|etc\/ssl)\//;

/** True if the name alone says that reading or changing it matters. */
export function looksSensitive(path: string | undefined): boolean {
  return path !== undefined && sensitiveName.test(path) && !systemFolder.test(path);
}

/** The part of a path that looks like a key, in lower case; undefined where `looksSensitive` says no. */
export function sensitiveNameIn(path: string): string | undefined {
  return systemFolder.test(path) ? undefined : sensitiveName.exec(path)?.[0].toLowerCase();
}

/** True if something of the file system may have changed. A name can be forged, so it excuses nothing. */
export function mayWrite(sighting: Pick<Sighting, "action" | "outcome">): boolean {
  return sighting.outcome !== "denied" && changesFiles(sighting);
}

/** True for a read that everybody does: it neither was denied nor looks sensitive. */
export function isPlainRead(sighting: Pick<Sighting, "action" | "outcome" | "path">): boolean {
  return sighting.action === "file-read" && sighting.outcome !== "denied" && !looksSensitive(sighting.path);
}

/** 0 weighs most: what looks sensitive, then what changes, leaves or was denied, then plain reads. */
export function weightClass(sighting: Pick<Sighting, "action" | "outcome" | "path" | "target">): 0 | 1 | 2 {
  if (looksSensitive(sighting.path) || looksSensitive(sighting.target)) return 0;
  return isPlainRead(sighting) ? 2 : 1;
}
