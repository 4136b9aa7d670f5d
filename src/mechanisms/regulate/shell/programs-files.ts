/** Programs that read, write and remove files. */
import { addDestination, isRemote } from "./destinations.ts";
import { add, addRead, addSecret, addWrite } from "./findings.ts";
import { type Invocation, type Program, always, hasOption, named, optionValues, splitArguments } from "./invocation.ts";

/** Long options by which a harmless program runs another one. Programs take the beginning of a name for the name. */
const running = (
  "checkpoint-action command compress-program editor exec execute filter hostname-bin info-script new-volume-script " +
  "open-files-in-pager pager pre preprocess rmt-command rsh-command rsync-path script to-command unzip-command " +
  "use-askpass use-compress-program"
).split(" ");

function runsProgram(text: string): boolean {
  const name = /^--?([a-z][a-z-]+)/.exec(text)?.[1];
  if (name === undefined) return false;
  return /exec|command|program|pager|editor|preprocess/.test(name) || running.some((one) => one.startsWith(name));
}

function watched(call: Invocation): void {
  if (
    call.args.some(
      ({ text }) => text.startsWith("-") && (text.startsWith("--") || text.length > 4) && runsProgram(text),
    )
  )
    add(call.found, "execute.local");
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

/** Files are read, but for the second one, which is written. */
const fromTo: Program = (call) => {
  reader(0, "f s w c g l n o skip-fields skip-chars check-chars")(call);
  const { rest } = splitArguments(call.args, { valued: "f s w c g l n o skip-fields skip-chars check-chars" });
  for (const word of rest.slice(1)) addWrite(call.found, word);
};

/** Pages text; `+` and `-P` begin commands. */
const pager: Program = (call) => {
  reader(0, "o O b h j k p t T x y z")(call);
  if (call.args.some(({ text }) => text.startsWith("+") || /^-[PHC]|^--(?:pager|html|config)/.test(text)))
    add(call.found, "execute.local");
};

/** Prints facts about the machine; some words print the environment of programs, or write. */
const telling: Program = (call) => {
  const { program, args, found } = call;
  silent(call);
  if (program === "ps" && args.some(({ text }) => /^[a-z]*e[a-z]*$/.test(text))) addSecret(found);
  const writes = program === "tree" ? /^-o/ : program === "history" ? /^-[a-z]*[aw]/ : undefined;
  if (writes !== undefined && args.some(({ text }) => writes.test(text)))
    for (const word of args) addWrite(found, word);
  if (program === "date" && args.some(({ text }) => /^-s|^--s/.test(text))) add(found, "write.local.config");
};

/** `jq` and its like: a filter may read the environment. */
const filter: Program = (call) => {
  reader(1, "f L arg argjson slurpfile rawfile from-file indent o output")(call);
  const { args, found } = call;
  if (args.some(({ text }) => /\benv\b|\$ENV|\b(?:str)?load/.test(text))) addSecret(found);
  if (!args.some(({ text }) => /^-[a-zA-Z]*i|^--in/.test(text)) || call.program !== "yq") return;
  for (const word of splitArguments(args, {}).rest.slice(1)) addWrite(found, word);
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
  const inPlace = args.some(({ text }) => /^(?:-[a-zA-Z]*i|--i)/.test(text));
  for (const word of files) (inPlace ? addWrite : addRead)(found, word);
};

/** The syntax that an awk program needs to run others, to write, or to choose its files. */
const wildAwk = /[|>@]|system|getline|ARG[VC]/;

const awk: Program = (call) => {
  const { args, found } = call;
  const parts = splitArguments(args, { valued: "F v f field-separator assign file" });
  const own = parts.options.every(({ name }) => /^(?:F|v|field-separator|assign)$/.test(name));
  const mild = parts.rest[0]?.exact === true && !wildAwk.test(parts.rest[0].text);
  if (!mild || !own) add(found, "execute.local");
  // `-i inplace` writes.
  if (args.some(({ text }) => /^(?:-i|--i)/.test(text))) for (const word of parts.rest) addWrite(found, word);
  reader(hasOption(parts, "f", "file") ? 0 : 1, "F v f field-separator assign file")(call);
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
      // A `+` ends it only after the files.
      const end = args.findIndex(
        (word, at) => at > index && (word.text === ";" || (word.text === "+" && args[at - 1]?.text === "{}")),
      );
      call.run(args.slice(index + 1, end < 0 ? undefined : end));
      if (end < 0) return;
      index = end;
    }
  }
};

const archiver: Program = (call) => {
  const { program, found } = call;
  add(found, "read.local", "write.local");
  watched(call);
  // `tar xfI` has its options in a word without a dash.
  const args = call.args.map((word, index) =>
    index === 0 && program === "tar" && /^[a-zA-Z]+$/.test(word.text) ? { ...word, text: `-${word.text}` } : word,
  );
  const bundles = args.flatMap(({ text }) => (/^-[a-zA-Z]/.test(text) ? [text] : []));
  const runs = program === "zip" ? /TT|I/ : program === "tar" ? /[IF]/ : /I/;
  if (bundles.some((text) => runs.test(text))) add(found, "execute.local");
  const parts = splitArguments(args, { valued: "f C d I T X file directory" });
  // In an old bundle the value of `f` is not the next word where other letters have values, too.
  const old = args[0] === call.args[0] ? [] : args.slice(1, 3).filter(({ text }) => !text.startsWith("-"));
  const made = old.filter((word) => isRemote(word) || /[cruA]/.test(bundles[0] ?? ""));
  for (const word of [...optionValues(parts, "f", "C", "d", "file", "directory"), ...made]) {
    if (word.text === "-") continue;
    // `host:file` is an archive of another machine.
    if (!/^(?:tar|cpio)$/.test(program) || !isRemote(word)) addWrite(found, word);
    else {
      add(found, "read.external", "write.external.send", "execute.local");
      addDestination(found, word);
    }
  }
};

const editor: Program = (call) => {
  add(call.found, "read.local", "execute.local");
  for (const word of splitArguments(call.args, {}).rest) addWrite(call.found, word);
};

export const filePrograms: ReadonlyMap<string, Program> = new Map([
  ...named(
    "echo printf pwd cd whoami id groups uname which type top hostname uptime free lsof netstat ss cal bc " +
      "true false : test [ [[ sleep seq expr yes locale tty stty clear getconf nproc arch lscpu lsblk lsusb " +
      "wait jobs bg fg umask pushd popd dirs getopts let read shift return exit break continue " +
      "unset shopt ulimit hash times basename dirname help tput logname users who w last cmp sum cksum",
    silent,
  ),
  ...named(
    "ls cat tac head tail wc sort cut tr file stat du df realpath readlink diff comm md5sum sha1sum " +
      "sha256sum sha512sum shasum column nl od hexdump strings fold rev paste join tsort base64 base32 zcat bat " +
      "pr fmt expand iconv look getfacl lsattr",
    reader(0, "o output n c d f k t"),
  ),
  ...named("uniq xxd", fromTo),
  ...named("less more man", pager),
  ...named("date ps tree history", telling),
  ["dc", always("read.local", "execute.local")],
  ...named("grep egrep fgrep zgrep rg ag ack", matcher),
  ...named("jq yq xmllint", filter),
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
