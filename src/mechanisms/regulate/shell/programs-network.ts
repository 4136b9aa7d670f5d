/** Programs that talk to other machines. */
import { addDestination, hostOf, isRemote } from "./destinations.ts";
import { add, addRead, addWrite } from "./findings.ts";
import {
  type Arguments,
  type Invocation,
  type Program,
  hasOption,
  joinedWords,
  named,
  optionValues,
  splitArguments,
} from "./invocation.ts";
import { git } from "./programs-git.ts";
import { literal } from "./syntax.ts";

const curlValued =
  "A b c C d D e E F h H K m o P Q r t T u U w x X y Y z url data data-raw data-binary data-ascii data-urlencode json form " +
  "form-string upload-file output request header user user-agent cookie cookie-jar config proxy referer max-time " +
  "connect-timeout retry cacert cert key resolve connect-to interface limit-rate write-out output-dir dump-header trace " +
  "trace-ascii stderr libcurl etag-save etag-compare hsts alt-svc netrc-file unix-socket abstract-unix-socket preproxy " +
  "socks4 socks4a socks5 socks5-hostname doh-url proxy-header quote engine";
const curlSends = "d data data-raw data-binary data-ascii data-urlencode json F form form-string T upload-file".split(
  " ",
);
const curlWrites =
  "o output output-dir D dump-header c cookie-jar trace trace-ascii stderr libcurl etag-save hsts alt-svc".split(" ");
const curlReads = "T upload-file K config key E cert cacert netrc-file etag-compare".split(" ");
const curlTells = "H header u user A user-agent b cookie e referer proxy-header Q quote".split(" ");
const curlHosts = "url x proxy preproxy socks4 socks4a socks5 socks5-hostname doh-url".split(" ");

const curl: Program = ({ args, found }) => {
  const parts = splitArguments(args, { valued: curlValued });
  add(found, "read.external");
  const bodies = optionValues(parts, ...curlSends);
  const method = optionValues(parts, "X", "request").at(-1) ?? literal("GET");
  const named = method.text.toUpperCase();
  if (bodies.length > 0 || !["GET", "HEAD"].includes(named)) add(found, "write.external.send");
  if (named === "DELETE" || !method.exact) add(found, "write.external.delete");
  for (const word of bodies) {
    // `name@file` and `name=@one,two` name files as well as `@file`.
    const files = /(?:^|=|^[^=@]*)[@<]([^;]+)/.exec(word.text)?.[1]?.split(",") ?? [];
    for (const file of files) addRead(found, { ...word, text: file });
  }
  for (const word of optionValues(parts, ...curlReads)) {
    // `{a,b}` are several files for curl itself.
    for (const text of word.text.split(/[{},]/)) if (text !== "") addRead(found, { ...word, text });
  }
  for (const word of optionValues(parts, ...curlWrites)) addWrite(found, word);
  if (hasOption(parts, "O", "remote-name", "remote-name-all")) add(found, "write.local");
  if (hasOption(parts, "n", "netrc", "netrc-optional")) add(found, "read.local.credential");
  // A file of options may hold each of them, and a socket of this machine may lead to any program.
  if (hasOption(parts, "K", "config")) add(found, "write.external.send", "write.local", "execute.local");
  if (hasOption(parts, "unix-socket", "abstract-unix-socket", "engine")) add(found, "execute.local");
  // Headers, cookies and passwords leave as well as bodies.
  if (optionValues(parts, ...curlTells).some((word) => !word.exact)) add(found, "write.external.send");
  for (const word of [...parts.rest, ...optionValues(parts, ...curlHosts)]) {
    if (/^file:/i.test(word.text)) add(found, "read.local");
    else addDestination(found, word);
  }
  // `host:port:host:port`, of which the second one is asked instead of the first.
  for (const word of optionValues(parts, "resolve", "connect-to")) {
    const host = word.text.split(":").slice(2).join(":");
    if (host !== "") addDestination(found, { ...word, text: host });
  }
};

const wget: Program = ({ args, found }) => {
  const valued =
    "O P o a e i T t U post-data post-file body-data body-file method header user password output-document output-file " +
    "append-output execute input-file directory-prefix save-cookies warc-file rejected-log user-agent referer config " +
    "use-askpass hsts-file";
  const parts = splitArguments(args, { valued });
  add(found, "read.external");
  const bodies = optionValues(parts, "post-data", "post-file", "body-data", "body-file", "method");
  const told = optionValues(parts, "header", "user", "password", "U", "user-agent", "referer");
  if (bodies.length > 0 || told.some((word) => !word.exact)) add(found, "write.external.send");
  for (const word of optionValues(parts, "post-file", "body-file", "i", "input-file", "config")) addRead(found, word);
  // A setting may name a proxy, or a program that asks for passwords.
  if (hasOption(parts, "e", "execute", "use-askpass", "config")) add(found, "execute.local", "write.external.send");
  const files = optionValues(parts, "O", "output-document");
  const others = optionValues(
    parts,
    ..."o output-file a append-output P directory-prefix save-cookies warc-file rejected-log hsts-file".split(" "),
  );
  for (const word of [...files, ...others].filter((one) => one.text !== "-")) addWrite(found, word);
  if (files.length === 0) add(found, "write.local");
  for (const word of parts.rest) addDestination(found, word);
};

/** Settings of a connection that name no program, no key and no other way. */
const mildSsh =
  /^\s*(?:StrictHostKeyChecking|ConnectTimeout|ConnectionAttempts|BatchMode|UserKnownHostsFile|LogLevel|ServerAlive\w+|TCPKeepAlive|Port|User|IdentitiesOnly|IdentityFile|PreferredAuthentications|\w+Authentication|Compression|RequestTTY|AddressFamily)(?:[\s=]|$)/i;

/** Options of `ssh` and those that come after it: commands in them run on this machine. */
function connection({ found }: Invocation, parts: Arguments): void {
  for (const word of optionValues(parts, "i", "F")) addRead(found, word);
  const own = optionValues(parts, "o").some(({ text, exact }) => !exact || !mildSsh.test(text));
  if (own || optionValues(parts, "F").length > 0) add(found, "execute.local");
  for (const word of optionValues(parts, "J")) addDestination(found, word);
}

const ssh: Program = (call) => {
  const { args, found, run } = call;
  const valued = "i l p o F L R D J W b c E e I m O Q S w B";
  const parts = splitArguments(args, { valued, stop: true });
  const [host, ...words] = parts.rest;
  add(found, "execute.external");
  if (hasOption(parts, "L", "R", "D", "w", "W", "A", "X", "Y")) add(found, "write.external.share");
  connection(call, parts);
  if (hasOption(parts, "I")) add(found, "execute.local");
  for (const word of optionValues(parts, "E")) addWrite(found, word);
  if (host !== undefined) addDestination(found, host);
  const exact = words.every((word) => word.exact);
  if (!exact) add(found, "write.external.send");
  // It runs elsewhere, but in the name of the same user: data that it deletes there is gone as well.
  else if (words.length > 0) run([joinedWords(words)]);
};

const copyOver: Program = (call) => {
  const { args, found } = call;
  const valued =
    "i P o F l c S e rsh exclude include files-from password-file bwlimit log-file write-batch backup-dir partial-dir " +
    "temp-dir compare-dest copy-dest link-dest";
  const parts = splitArguments(args, { valued });
  const to = parts.rest.at(-1);
  if (hasOption(parts, "e", "rsh", "S")) add(found, "execute.local");
  if (call.program !== "rsync") connection(call, parts);
  if (args.some(({ text }) => /^--(?:de|remove-)/.test(text))) add(found, "write.local.delete");
  for (const word of optionValues(parts, "log-file", "write-batch", "backup-dir", "partial-dir", "temp-dir"))
    addWrite(found, word);
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

/** The copied files and their destination are entered while it runs. */
const sftp: Program = (call) => {
  const parts = splitArguments(call.args, { valued: "i P o F l c S b B D R s" });
  connection(call, parts);
  if (hasOption(parts, "S", "D")) add(call.found, "execute.local");
  add(call.found, "read.external", "write.external.send", "read.local", "write.local");
  for (const word of parts.rest.slice(0, 1)) addDestination(call.found, word);
};

/** Stores of others, with verbs of their own. */
const store: Program = (call) => {
  connect(call);
  const lossy = /^(?:rm|rb|del|delete|deletefile|purge|sync|move|moveto|mv|rmdir|rmdirs|cleanup|rsync)$/;
  if (call.args.some(({ text }) => lossy.test(text))) add(call.found, "write.external.delete", "write.local.delete");
  add(call.found, "read.local", "write.local");
};

/** A connection of any kind, both ways. */
const connect: Program = ({ args, found }) => {
  const parts = splitArguments(args, { valued: "p s w q i I O X x e c exec sh-exec connect" });
  add(found, "read.external", "write.external.send");
  if (hasOption(parts, "l", "listen", "k")) add(found, "write.external.share");
  if (
    hasOption(parts, "e", "c", "exec", "sh-exec") ||
    /exec|system|shell/i.test(args.map(({ text }) => text).join(" "))
  ) {
    add(found, "execute.local", "execute.external");
  }
  // socat opens files, too.
  if (/\b(?:open|gopen|creat|create|file|pipe):/i.test(args.map(({ text }) => text).join(" "))) {
    add(found, "read.local", "write.local");
    for (const word of args) addWrite(found, { ...word, text: word.text.replace(/^\w+:|,.*$/g, "") });
  }
  if (/listen|-l\b/i.test(args.map(({ text }) => text).join(" "))) add(found, "write.external.share");
  const peers = [...parts.rest, ...optionValues(parts, "connect")];
  for (const word of peers.filter(({ text }) => !/^\d+$/.test(text))) {
    // socat writes `TCP:host:port`.
    addDestination(found, { ...word, text: word.text.replace(/^[A-Z0-9-]+:/, "") });
  }
};

/** A looked-up name is sent to the server that answers for it. */
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

export const networkPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["curl", curl],
  ...named("wget wget2", wget),
  ...named("http https xh httpie", (call) => web(call)),
  ...named("aria2c axel lynx links w3m yt-dlp", ({ args, found }) => {
    add(found, "read.external", "write.local");
    for (const word of splitArguments(args, {}).rest) addDestination(found, word);
  }),
  ...named("ssh mosh autossh slogin", ssh),
  ...named("scp rsync rcp", copyOver),
  ["sftp", sftp],
  ...named("nc ncat netcat socat telnet ftp lftp tftp websocat", connect),
  ...named("gsutil rclone s3cmd", store),
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
  const hosts = args.slice(1).filter(({ text }) => !text.startsWith("-") && (text.includes(":") || text.includes("$")));
  for (const host of hosts) addDestination(found, host);
}

/** Programs that return text of other authors. */
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
