/** Programs that read, write and remove files. */
import { add, addRead, addWrite } from "./findings.ts";
import type { Invocation, Program } from "./invocation.ts";
import { hasOption, named, optionValues, splitArguments } from "./invocation.ts";

/** Options by which a harmless program runs another one, such as `--to-command` of tar. */
const runsProgram = /^--?[\w-]*(?:exec|command|program|pager|editor|preprocess)|^--pre\b/;

function watched(call: Invocation): void {
  if (call.args.some((word) => runsProgram.test(word.text))) add(call.found, "execute.local");
}

const silent: Program = ({ found }) => add(found, "read.local");

/** Reads the files that it is given, after so many words that are something else. */
function reader(skip: number, valued = ""): Program {
  return (call) => {
    add(call.found, "read.local");
    watched(call);
    const parts = splitArguments(call.args, { valued });
    for (const word of parts.rest.slice(skip)) addRead(call.found, word);
    for (const word of optionValues(parts, "f", "file")) addRead(call.found, word);
    for (const word of optionValues(parts, "o", "output")) addWrite(call.found, word);
  };
}

const matcher: Program = (call) => {
  const pattern = splitArguments(call.args, { valued: "e f A B C m regexp file" });
  return reader(hasOption(pattern, "e", "f", "regexp", "file") ? 0 : 1, "e f A B C m regexp file")(call);
};

const writer: Program = (call) => {
  add(call.found, "write.local");
  watched(call);
  for (const word of splitArguments(call.args, { valued: "d m r s mode" }).rest) addWrite(call.found, word);
};

/** `cp A B C TO`, or with `-t TO` first. */
const copier: Program = (call) => {
  add(call.found, "write.local");
  watched(call);
  const parts = splitArguments(call.args, { valued: "t S g m o target-directory suffix" });
  const target = optionValues(parts, "t", "target-directory")[0];
  const sources = target === undefined ? parts.rest.slice(0, -1) : parts.rest;
  const to = target ?? parts.rest.at(-1);
  for (const word of sources) addRead(call.found, word);
  if (to === undefined) return;
  addWrite(call.found, to);
  // Into a folder a file keeps its name: `cp authorized_keys ~/.ssh/` writes the one that matters.
  for (const { text } of sources)
    addWrite(call.found, { text: `${to.text}/${text.split("/").at(-1) ?? ""}`, glob: false });
};

const remover: Program = (call) => {
  add(call.found, "write.local.delete");
  const parts = splitArguments(call.args, { valued: "n s" });
  for (const word of parts.rest) addWrite(call.found, word);
  if (call.program === "rm" && hasOption(parts, "r", "R", "recursive")) call.found.flags.add("deletes-folder");
};

const dd: Program = ({ args, found }) => {
  for (const word of args) {
    const [, key, text] = /^(if|of)=([\s\S]*)$/.exec(word.text) ?? [];
    if (key === "if") addRead(found, { ...word, text: text ?? "" });
    if (key === "of") addWrite(found, { ...word, text: text ?? "" });
  }
  add(found, "read.local");
};

/** A script of `sed` that only prints, deletes lines or replaces text; other commands write files and run programs. */
const mildSed = /^(?:[\d$,~+! ]|\/[^/]*\/)*(?:[pdq=]|s([/|#,:@])(?:(?!\1)[^\n])*\1(?:(?!\1)[^\n])*\1[gpiIm\d]*)$/;

const sed: Program = (call) => {
  const { found, args } = call;
  const parts = splitArguments(args, { valued: "e f l expression file line-length" });
  const own = optionValues(parts, "e", "expression");
  const scripts = own.length > 0 ? own : parts.rest.slice(0, 1);
  const files = own.length > 0 || hasOption(parts, "f", "file") ? parts.rest : parts.rest.slice(1);
  const mild = scripts.every(({ text, exact }) => exact && mildSed.test(text));
  add(found, mild && !hasOption(parts, "f", "file") ? "read.local" : "execute.local");
  const inPlace = args.some(({ text }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(text));
  for (const word of files) (inPlace ? addWrite : addRead)(found, word);
};

const awk: Program = (call) => {
  const parts = splitArguments(call.args, { valued: "F v f" });
  const mild = parts.rest[0]?.exact === true && !/[|>]|system|getline/.test(parts.rest[0].text);
  if (!mild || hasOption(parts, "f")) add(call.found, "execute.local");
  reader(hasOption(parts, "f") ? 0 : 1, "F v f")(call);
};

const find: Program = (call) => {
  const { args, found } = call;
  add(found, "read.local");
  for (let index = 0; index < args.length; index += 1) {
    const text = args[index]?.text ?? "";
    const next = args[index + 1];
    if (text === "-delete") {
      add(found, "write.local.delete");
      found.flags.add("deletes-folder");
    } else if (/^-(?:fprint0?|fls|fprintf)$/.test(text) && next !== undefined) addWrite(found, next);
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(text)) {
      const end = args.findIndex((word, at) => at > index && (word.text === ";" || word.text === "+"));
      call.run(args.slice(index + 1, end < 0 ? undefined : end));
      if (end < 0) return;
      index = end;
    }
  }
};

const archiver: Program = (call) => {
  add(call.found, "read.local", "write.local");
  watched(call);
  const parts = splitArguments(call.args, { valued: "f C d I T X file directory" });
  for (const word of optionValues(parts, "f", "C", "d", "file", "directory")) addWrite(call.found, word);
  if (hasOption(parts, "I", "use-compress-program")) add(call.found, "execute.local");
};

const editor: Program = (call) => {
  add(call.found, "read.local", "execute.local");
  for (const word of splitArguments(call.args, {}).rest) addWrite(call.found, word);
};

export const filePrograms: ReadonlyMap<string, Program> = new Map([
  ...named(
    "echo printf pwd cd whoami id groups date uname which type ps top tree hostname uptime free lsof netstat ss cal bc " +
      "dc true false : test [ [[ sleep seq expr yes locale tty stty clear history getconf nproc arch lscpu lsblk lsusb " +
      "wait jobs bg fg umask pushd popd dirs getopts let read shift return exit break continue local declare typeset " +
      "readonly unset shopt ulimit hash times basename dirname man help tput logname users who w last cmp sum cksum",
    silent,
  ),
  ...named(
    "ls cat tac head tail less more wc sort uniq cut tr file stat du df realpath readlink diff comm md5sum sha1sum " +
      "sha256sum sha512sum shasum column nl od xxd hexdump strings fold rev paste join tsort base64 base32 zcat bat " +
      "pr fmt expand iconv look getfacl lsattr",
    reader(0, "o output n c d f k t"),
  ),
  ...named("grep egrep fgrep zgrep rg ag ack", matcher),
  ...named("jq yq xmllint", reader(1)),
  ...named(
    "touch mkdir tee truncate mktemp mkfifo mknod fallocate split csplit patch gzip gunzip bzip2 bunzip2 xz unxz zstd",
    writer,
  ),
  ...named("cp mv ln install link", copier),
  ...named("rm rmdir unlink shred wipe srm trash", remover),
  ...named("tar zip unzip cpio ar 7z 7za rar unrar", archiver),
  ...named("vi vim nvim nano emacs ed ex pico code subl", editor),
  ["dd", dd],
  ["sed", sed],
  ["gsed", sed],
  ...named("awk gawk mawk nawk", awk),
  ["find", find],
  ["gfind", find],
]);
