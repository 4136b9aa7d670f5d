/** Programs that talk to other machines. */
import { addDestination, hostOf, isRemote } from "./destinations.ts";
import { add, addRead, addWrite } from "./findings.ts";
import type { Invocation, Program } from "./invocation.ts";
import { hasOption, joinedWords, named, optionValues, splitArguments } from "./invocation.ts";

const curlValued =
  "A b c C d D e E F h H K m o P Q r t T u U w x X y Y z url data data-raw data-binary data-ascii data-urlencode json form " +
  "form-string upload-file output request header user user-agent cookie cookie-jar config proxy referer max-time " +
  "connect-timeout retry cacert cert key resolve connect-to interface limit-rate write-out output-dir";
const curlSends = [
  "d",
  "data",
  "data-raw",
  "data-binary",
  "data-ascii",
  "data-urlencode",
  "json",
  "F",
  "form",
  "form-string",
  "T",
  "upload-file",
];

const curl: Program = ({ args, found }) => {
  const parts = splitArguments(args, { valued: curlValued });
  add(found, "read.external");
  const bodies = optionValues(parts, ...curlSends);
  const method = optionValues(parts, "X", "request").at(-1)?.text.toUpperCase() ?? "GET";
  if (bodies.length > 0 || !["GET", "HEAD"].includes(method)) add(found, "write.external.send");
  if (method === "DELETE") add(found, "write.external.delete");
  for (const word of bodies) {
    const file = /(?:^|=)[@<]([^;]+)/.exec(word.text)?.[1];
    if (file !== undefined) addRead(found, { ...word, text: file });
  }
  for (const word of optionValues(parts, "T", "upload-file", "K", "config", "key")) addRead(found, word);
  for (const word of optionValues(parts, "o", "output", "output-dir", "D", "c", "cookie-jar")) addWrite(found, word);
  if (hasOption(parts, "O", "remote-name", "remote-name-all")) add(found, "write.local");
  // Headers, cookies and passwords leave as well as bodies.
  const told = optionValues(parts, "H", "header", "u", "user", "A", "user-agent", "b", "cookie", "e", "referer");
  if (told.some((word) => !word.exact)) add(found, "write.external.send");
  for (const word of [...parts.rest, ...optionValues(parts, "url", "x", "proxy")]) addDestination(found, word);
};

const wget: Program = ({ args, found }) => {
  const valued =
    "O P o a e i T t U post-data post-file body-data body-file method header user password output-document";
  const parts = splitArguments(args, { valued });
  add(found, "read.external");
  const bodies = optionValues(parts, "post-data", "post-file", "body-data", "body-file", "method");
  if (bodies.length > 0) add(found, "write.external.send");
  for (const word of optionValues(parts, "post-file", "body-file", "i")) addRead(found, word);
  const files = optionValues(parts, "O", "output-document");
  for (const word of files.filter((one) => one.text !== "-")) addWrite(found, word);
  if (files.length === 0) add(found, "write.local");
  for (const word of parts.rest) addDestination(found, word);
};

const ssh: Program = ({ args, found, run }) => {
  const valued = "i l p o F L R D J W b c E e I m O Q S w B";
  const parts = splitArguments(args, { valued, stop: true });
  const [host, ...words] = parts.rest;
  add(found, "execute.external");
  if (hasOption(parts, "L", "R", "D", "w", "W")) add(found, "write.external.share");
  for (const word of optionValues(parts, "i", "F")) addRead(found, word);
  // Commands in options run on this machine.
  for (const word of optionValues(parts, "o")) {
    const own = /^(?:ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand)[= ]/i.test(word.text);
    if (own) add(found, "execute.local");
  }
  if (host !== undefined) addDestination(found, host);
  const exact = words.every((word) => word.exact);
  if (!exact) add(found, "write.external.send");
  // It runs elsewhere, but in the name of the same person: what it deletes there is gone as well.
  else if (words.length > 0) run([joinedWords(words)]);
};

const copyOver: Program = ({ args, found }) => {
  const valued = "i P o F l c S e rsh exclude include files-from password-file bwlimit";
  const parts = splitArguments(args, { valued });
  const to = parts.rest.at(-1);
  if (hasOption(parts, "e", "rsh", "S")) add(found, "execute.local");
  if (hasOption(parts, "delete", "remove-source-files")) add(found, "write.local.delete");
  for (const word of parts.rest.slice(0, -1)) {
    if (isRemote(word)) {
      add(found, "read.external");
      addDestination(found, word);
    } else addRead(found, word);
  }
  if (to === undefined) return;
  if (isRemote(to)) {
    add(found, "write.external.send");
    addDestination(found, to);
  } else addWrite(found, to);
};

/** A connection of any kind, both ways. */
const connect: Program = ({ args, found }) => {
  const parts = splitArguments(args, { valued: "p s w q i I O X x e c exec sh-exec connect" });
  add(found, "read.external", "write.external.send");
  if (hasOption(parts, "l", "listen", "k")) add(found, "write.external.share");
  if (hasOption(parts, "e", "c", "exec", "sh-exec") || /exec|system/i.test(args.map(({ text }) => text).join(" "))) {
    add(found, "execute.local", "execute.external");
  }
  const peers = [...parts.rest, ...optionValues(parts, "connect")];
  for (const word of peers.filter(({ text }) => !/^\d+$/.test(text))) {
    // socat writes `TCP:host:port`.
    addDestination(found, { ...word, text: word.text.replace(/^[A-Z0-9-]+:/, "") });
  }
};

/** A name that is looked up is told to whoever answers for it. */
const lookUp: Program = ({ args, found }) => {
  add(found, "read.external");
  for (const word of splitArguments(args, { valued: "c i s w W t p h" }).rest) addDestination(found, word);
};

const mail: Program = ({ args, found }) => {
  add(found, "write.external.send");
  for (const word of args) {
    if (word.text.includes("@")) addDestination(found, word);
  }
  for (const word of optionValues(splitArguments(args, { valued: "a A s c b r" }), "a", "A")) addRead(found, word);
};

const gitReads =
  /^(?:status|log|diff|show|blame|rev-parse|rev-list|ls-files|ls-tree|cat-file|describe|shortlog|reflog|grep|version|help|for-each-ref|merge-base|name-rev|count-objects|whatchanged)$/;
const gitWrites =
  /^(?:add|commit|merge|checkout|switch|restore|mv|init|stash|tag|branch|cherry-pick|revert|apply|am|worktree|notes|archive|format-patch|bundle|gc|fsck|reset|clean|rm|rebase)$/;

const git: Program = ({ args, found }) => {
  const outer = splitArguments(args, { valued: "C c git-dir work-tree namespace exec-path config-env", stop: true });
  const [sub, ...own] = outer.rest;
  const name = sub?.text ?? "";
  // A setting on the command line may name a program: an editor, a pager, an alias with `!`.
  if (hasOption(outer, "c", "exec-path", "config-env")) add(found, "execute.local");
  const words = own.map(({ text }) => text);
  const parts = splitArguments(own, { valued: "b o m u t F C" });
  if (/^(?:push|send-pack)$/.test(name)) {
    add(found, "write.external.publish");
    if (words.some((text) => /^(?:--delete|-d|--mirror|--prune|--force|-f|\+|:)/.test(text)))
      add(found, "write.external.delete");
    for (const word of parts.rest.slice(0, 1)) if (isRemote(word)) addDestination(found, word);
  } else if (/^(?:clone|fetch|pull|ls-remote|submodule|remote-update|lfs|fetch-pack)$/.test(name)) {
    add(found, "read.external", "write.local");
    if (words.some((text) => /^(?:-u|--upload-pack)/.test(text) || text.includes("ext::"))) add(found, "execute.local");
    for (const word of parts.rest) if (isRemote(word)) addDestination(found, word);
  } else if (name === "config" || name === "remote") {
    const asks =
      words.length === 0 || words.some((text) => /^(?:--get.*|--list|-l|-v|show|get|get-url|list)$/.test(text));
    add(found, asks ? "read.local" : "write.local.config");
    if (!asks) for (const word of parts.rest) if (isRemote(word)) addDestination(found, word);
    if (!asks && name === "config") add(found, "execute.local");
  } else if (gitReads.test(name) || name === "") add(found, "read.local");
  else if (gitWrites.test(name)) {
    const lossy = /^(?:rm|clean)$/.test(name) || (name === "reset" && words.includes("--hard")) || words.includes("-D");
    add(found, lossy ? "write.local.delete" : "write.local");
    if (words.some((text) => /^(?:--exec|-x$)/.test(text)) && name === "rebase") add(found, "execute.local");
  } else if (name === "send-email") add(found, "write.external.send");
  else if (name === "credential") add(found, "read.local.credential");
  else add(found, "execute.local");
};

export const networkPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["curl", curl],
  ...named("wget wget2", wget),
  ...named("http https xh httpie", (call) => web(call)),
  ...named("aria2c axel lynx links w3m yt-dlp", ({ args, found }) => {
    add(found, "read.external", "write.local");
    for (const word of splitArguments(args, {}).rest) addDestination(found, word);
  }),
  ...named("ssh mosh autossh slogin", ssh),
  ...named("scp rsync sftp rcp", copyOver),
  ...named("nc ncat netcat socat telnet ftp lftp tftp websocat gsutil rclone s3cmd", connect),
  ["openssl", (call) => secured(call)],
  ...named("dig nslookup host drill resolvectl ping ping6 traceroute tracepath mtr whois nmap finger", lookUp),
  ...named("mail mailx sendmail mutt msmtp swaks ssmtp s-nail", mail),
  ["git", git],
]);

/** httpie: `http POST host key=value`; any word after the address is sent. */
function web({ args, found }: Invocation): void {
  const { rest } = splitArguments(args, { valued: "a o h" });
  const words = /^[A-Z]+$/.test(rest[0]?.text ?? "") ? rest.slice(1) : rest;
  add(found, "read.external");
  if (words.length > 1 || (rest[0] !== undefined && !["GET", "HEAD"].includes(rest[0].text) && words !== rest)) {
    add(found, "write.external.send");
  }
  for (const word of words.slice(0, 1)) addDestination(found, word);
}

/** `openssl` is a connection only as client or server; else it works on files. */
function secured({ args, found }: Invocation): void {
  add(found, "read.local", "write.local");
  const [sub] = args;
  if (sub === undefined || !/^s_(?:client|server|time)$/.test(sub.text)) return;
  add(found, "read.external", "write.external.send", ...(sub.text === "s_server" ? ["write.external.share"] : []));
  const host = args[args.findIndex(({ text }) => text === "-connect") + 1];
  if (host !== undefined && host !== sub) addDestination(found, host);
}

/** Programs from which text comes that somebody else wrote. */
export function isDownload(program: string): boolean {
  return /^(?:curl|wget2?|https?|xh|httpie|aria2c|lynx|links|w3m|nc|ncat|netcat|socat|telnet|ftp|ssh|scp|dig|websocat)$/.test(
    program,
  );
}

/** `/dev/tcp/host/port` of bash: a connection that looks like a file. */
export function socketHost(path: string): string | undefined {
  const host = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(path)?.[1];
  return host === undefined ? undefined : (hostOf({ text: host, exact: true }) ?? "?");
}
