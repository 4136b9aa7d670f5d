/** Where a network program goes, and what its words give away on the way. */
import { type Findings, add } from "./findings.ts";
import type { Word } from "./syntax.ts";

/** Addresses at which clouds hand their keys to any caller from inside. */
const metadataHosts = ["169.254.169.254", "metadata.google.internal", "100.100.100.200", "fd00:ec2::254"];

/**
 * Host of `https://user@host:80/path`, `user@host:path`, `host:80/path` or `host`; `?` where it is only known when the
 * command runs; undefined where the text is none.
 */
export function hostOf({ text, exact }: Pick<Word, "text" | "exact">): string | undefined {
  const rest = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "");
  const authority = /^[^/?#\\]*/.exec(rest)?.[0] ?? "";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const name = /^\[[0-9a-f:.]+\]/i.exec(host)?.[0].slice(1, -1) ?? host.replace(/:.*$/, "");
  if (name.includes("$") || (!exact && name === "")) return "?";
  return /^[\p{L}\p{N}._:-]+$/u.test(name) ? name.toLowerCase() : undefined;
}

/** The command talks to the host in this word. A word that the command computes also sends its value to that host. */
export function addDestination(found: Findings, word: Pick<Word, "text" | "exact">): void {
  const host = hostOf(word);
  if (host !== undefined) found.destinations.add(host);
  if (!word.exact) add(found, "write.external.send");
  if (host === undefined || !metadataHosts.includes(host)) return;
  add(found, "read.external.credential");
  found.flags.add("credential");
}

/** `host:path` of scp and rsync, or an address with a scheme. One letter before a backslash is a Windows drive. */
export function isRemote({ text }: Word): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || (/^[^/]+:/.test(text) && !/^[a-z]:\\/i.test(text));
}
