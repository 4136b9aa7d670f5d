/** Programs that run other programs: shells, interpreters, and what stands before a command. */
import { add, addEverything, addRead } from "./findings.ts";
import {
  type Invocation,
  type Program,
  hasOption,
  joinedWords,
  named,
  optionValues,
  splitArguments,
} from "./invocation.ts";
import { type Word, literal } from "./syntax.ts";

type Wrapper = {
  /** Options with a value, and those without. Any other option makes it unclear where the command begins. */
  readonly valued?: string;
  readonly flags?: string;
  /** Words before the command. */
  readonly skip?: number;
  /** Options whose value is a text for a shell. */
  readonly scripts?: readonly string[];
  /** Words `NAME=value` stand before the command. */
  readonly assigns?: true;
  /** Where the command begins is not known. */
  readonly anywhere?: true;
};

/** Places at which a command is looked for. */
const triedMax = 16;

/** Runs what follows its own options. Where an option is unknown, every word after it may be the program. */
function wrapper(spec: Wrapper, more: Program = () => undefined): Program {
  return (call) => {
    more(call);
    const flags = spec.flags ?? "";
    const parts = splitArguments(call.args, { valued: spec.valued ?? "", flags, stop: true });
    for (const word of optionValues(parts, ...(spec.scripts ?? []))) call.script(word);
    let rest = parts.rest.slice(spec.skip ?? 0);
    if (spec.assigns === true) {
      const first = rest.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word.text));
      rest = first < 0 ? [] : rest.slice(first);
    }
    if (rest.length > 0) call.run(rest);
    if (!parts.strange && spec.anywhere !== true) return;
    if (rest.length > triedMax) addEverything(call.found, "hidden");
    for (let at = 1; at < Math.min(rest.length, triedMax); at += 1) call.run(rest.slice(at));
  };
}

const privileged: Program = ({ found }) => {
  found.flags.add("privilege");
  add(found, "execute.local.grant");
};

const env: Program = (given) => {
  // A `-` alone is the option `-i`.
  const call = { ...given, args: given.args.filter(({ text }) => text !== "-") };
  const bare = splitArguments(call.args, { valued: "u C S unset chdir split-string", stop: true });
  // Without a command it prints the environment, keys included.
  if (bare.rest.every((word) => /^[A-Za-z_]\w*=/.test(word.text))) dump(call);
  const spec: Wrapper = {
    valued: "u C S unset chdir split-string",
    flags: "i 0 v ignore-environment null",
    scripts: ["S", "split-string"],
    assigns: true,
  };
  for (const word of bare.rest) if (/^[A-Za-z_]\w*=/.test(word.text)) call.assign(word);
  wrapper(spec)(call);
};

function dump({ found }: Invocation): void {
  add(found, "read.local", "read.local.credential");
  found.flags.add("credential");
}

const shell: Program = (call) => {
  // `+x` is an option, too.
  const args = call.args.map((word) => (/^\+\w/.test(word.text) ? { ...word, text: `-${word.text.slice(1)}` } : word));
  const parts = splitArguments(args, { valued: "o O C rcfile init-file command init-command", stop: true });
  const [first, ...others] = parts.rest;
  for (const word of optionValues(parts, "rcfile", "init-file")) {
    add(call.found, "execute.local");
    addRead(call.found, word);
  }
  for (const word of optionValues(parts, "command", "init-command", ...(call.program === "fish" ? ["C"] : [])))
    call.script(word);
  if (hasOption(parts, "c")) {
    if (first !== undefined) call.script(first);
    // The other words are `$0`, `$1`, ... of the script, and programs where it runs `"$@"`.
    if (first !== undefined && /\$[@*0-9{]/.test(first.text) && others.length > 0) addEverything(call.found, "hidden");
  } else if (first !== undefined && first.text !== "-" && !hasOption(parts, "s")) {
    add(call.found, "execute.local");
    addRead(call.found, first);
  }
};

/** A language of its own: its effects on the machine are unknown. */
const interpreter: Program = (call) => {
  add(call.found, "execute.local");
  const script = splitArguments(call.args, { valued: "c e m r W X I E", stop: true }).rest[0];
  if (script !== undefined && script.text !== "-") addRead(call.found, script);
};

/** Runs scripts, also from the network, and is a package manager. */
const packaged: Program = (call) => {
  interpreter(call);
  const words = call.args.map(({ text }) => text);
  if (words.some((text) => /^(?:https?|npm|jsr):/.test(text))) addEverything(call.found, "runs-download");
  if (/^(?:add|i|install|x|create|update|upgrade|cache)$/.test(words[0] ?? "")) add(call.found, "read.external");
  if (words.includes("publish") || words.includes("deploy")) add(call.found, "write.external.publish");
};

const evaluate: Program = (call) => {
  const words = call.args[0]?.text === "--" ? call.args.slice(1) : call.args;
  if (words.length > 0) call.script(joinedWords(words));
};

const source: Program = (call) => {
  add(call.found, "execute.local");
  for (const word of call.args.slice(0, 1)) addRead(call.found, word);
};

const trap: Program = (call) => {
  const text = call.args.find((word) => !word.text.startsWith("-"));
  if (text !== undefined && call.args.length > 1) call.script(text);
};

const alias: Program = (call) => {
  add(call.found, "read.local");
  for (const word of call.args) {
    const value = word.text.slice(word.text.indexOf("=") + 1);
    if (word.text.includes("=")) call.script({ ...word, text: value });
  }
};

const exported: Program = (call) => {
  add(call.found, "read.local");
  for (const word of call.args) if (word.text.includes("=")) call.assign(word);
  if (call.args.every((word) => word.text === "-p")) dump(call);
};

const asUser: Program = (call) => {
  privileged(call);
  const valued = "c s u g G l command shell user group login";
  const parts = splitArguments(call.args, { valued });
  for (const word of optionValues(parts, "c", "command")) call.script(word);
  // The words after `--` are for the shell of that user.
  const shells = call.args.slice(call.args.findIndex(({ text }) => text === "--") + 1);
  if (shells.length < call.args.length) shell({ ...call, args: shells });
  const own = parts.rest.slice(call.program === "runuser" && hasOption(parts, "u") ? 0 : 1);
  if (own.length > 0) call.run(own);
};

const xargs: Program = (call) => {
  const spec = {
    valued: "I n P L d a s E max-args max-procs delimiter arg-file replace",
    flags: "0 r t p x null no-run-if-empty",
  };
  const { rest } = splitArguments(call.args, { ...spec, stop: true });
  // Without a command it is `echo`. What it reads becomes arguments, so a shell or an empty program word is anything.
  const [program] = rest;
  // `parallel` runs the lines themselves.
  if (call.program === "parallel" && (program === undefined || program.text.startsWith(":::")))
    addEverything(call.found, "hidden");
  if (program !== undefined && /^(?:\S*\/)?(?:sh|bash|dash|zsh|ksh|env|eval)$/.test(program.text)) {
    const inline = rest.find((_, at) => at > 1 && rest[at - 1]?.text.includes("c") === true);
    if (inline === undefined || /\{\}|\$/.test(inline.text)) addEverything(call.found, "hidden");
  }
  wrapper(spec)(call);
};

/** Packages fetched and run in one go. */
const fetchAndRun: Program = (call) => {
  add(call.found, "read.external", "execute.local");
};

const flock: Program = (call) => {
  const parts = splitArguments(call.args, { valued: "w E c timeout command", stop: true });
  const [, ...after] = parts.rest;
  const text = after[0]?.text === "-c" ? after[1] : undefined;
  if (text !== undefined) call.script(text);
  else if (after.length > 0) call.run(after);
};

const watch: Program = (call) => {
  const { rest } = splitArguments(call.args, { valued: "n q interval equexit", stop: true });
  call.script(joinedWords(rest));
};

const command: Program = (call) => {
  const parts = splitArguments(call.args, { stop: true });
  if (hasOption(parts, "v", "V")) add(call.found, "read.local");
  else if (parts.rest.length > 0) call.run(parts.rest);
};

const busybox: Program = (call) => call.run(call.args.length === 0 ? [literal("true")] : call.args);

const plain = "f v V q n p a t i w e s k l d h help verbose foreground preserve-status";

const sudoValued =
  "u g h p C r t U T D R user group host prompt chdir chroot close-from command-timeout role type other-user";

export const runPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  [
    "sudo",
    wrapper(
      {
        valued: sudoValued,
        flags: "A b E e H i K k l n P S s V v",
        assigns: true,
      },
      privileged,
    ),
  ],
  ["doas", wrapper({ valued: "u C", flags: "L n s" }, privileged)],
  ["pkexec", wrapper({ valued: "user", flags: "disable-internal-agent" }, privileged)],
  ...named("su runuser sg", asUser),
  ["env", env],
  ["printenv", dump],
  ...named("set export", exported),
  ...named("declare typeset local readonly", (call) => {
    add(call.found, "read.local");
    for (const word of call.args) if (word.text.includes("=")) call.assign(word);
  }),
  ...named("nohup setsid builtin unbuffer catchsegv dbus-run-session", wrapper({ flags: plain })),
  ...named("gosu su-exec", wrapper({ flags: "", skip: 1 }, privileged)),
  ...named("run0 setpriv", wrapper({ flags: "", anywhere: true }, privileged)),
  ...named(
    "setarch linux32 linux64 i386 x86_64 numactl torsocks torify proxychains proxychains4 tsocks faketime eatmydata " +
      "prlimit choom rlwrap valgrind sshpass chronic hyperfine entr direnv dotenv screen tmux cgexec runcon cpulimit " +
      "systemd-inhibit ssh-agent nocorrect noglob",
    wrapper({ flags: "", anywhere: true }, ({ found }) => add(found, "execute.local")),
  ),
  ["exec", wrapper({ valued: "a", flags: "c l" })],
  ["nice", wrapper({ valued: "n adjustment", flags: "1 2 3 4 5 6 7 8 9 0" })],
  ["ionice", wrapper({ valued: "c n p class classdata", flags: "t" })],
  ["timeout", wrapper({ valued: "s k signal kill-after", flags: plain, skip: 1 })],
  ["gtimeout", wrapper({ valued: "s k signal kill-after", flags: plain, skip: 1 })],
  ["stdbuf", wrapper({ valued: "i o e input output error", flags: "" })],
  ["time", wrapper({ valued: "f o format output", flags: plain })],
  ["taskset", wrapper({ flags: "a c p", skip: 1 })],
  ["chrt", wrapper({ flags: "a b d f i o r R v", skip: 1 })],
  ["chroot", wrapper({ valued: "userspec groups", flags: "", skip: 1 }, privileged)],
  ["strace", wrapper({ valued: "o e p s u a E P S X", flags: "f F c C d h i k q r t T v V w x y z" })],
  ["ltrace", wrapper({ valued: "o e p s u a n x F l", flags: "f c C h i r S t T V" })],
  ["xargs", xargs],
  ["parallel", wrapper({ valued: "j a P N n", flags: "k u 0 X m" }, xargs)],
  ["watch", watch],
  ["command", command],
  ["flock", flock],
  ...named("busybox toybox", busybox),
  ...named(
    "unshare nsenter bwrap firejail systemd-nspawn script proot fakeroot xvfb-run caffeinate",
    wrapper({ valued: "c", scripts: ["c", "command"] }),
  ),
  ...named("sh bash dash zsh ksh ash mksh fish rbash csh tcsh", shell),
  ...named(
    "python python2 python3 pypy perl ruby node nodejs php lua luajit rscript julia osascript pwsh powershell " +
      "tclsh expect gdb lldb sqlite3 psql mysql mariadb mongosh redis-cli",
    interpreter,
  ),
  ["bun", packaged],
  ["deno", packaged],
  ...named("java scala groovy make gmake cmake ninja gradle mvn bazel rake just ant", ({ found }) =>
    add(found, "execute.local"),
  ),
  ["eval", evaluate],
  ["source", source],
  [".", source],
  ["trap", trap],
  ["alias", alias],
  ["unalias", ({ found }) => add(found, "read.local")],
  ...named("npx bunx uvx pipx", fetchAndRun),
]);

/** Interpreters that run what comes through the pipe when they are given no script: shells, which can be read, and others. */
const shells = /^(?:sh|bash|dash|zsh|ksh|ash|mksh|fish|rbash|csh|tcsh)$/;
const others =
  /^(?:python|python2|python3|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|pwsh|powershell|psql|mysql|mariadb|sqlite3|tclsh|expect|osascript|rscript|julia|mongosh|dc|ed|ex|irb|ghci|m4|gnuplot)$/;

export type Fed = "shell" | "interpreter" | undefined;

/** Names of the standard input. */
const standardInput = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

/** The kind of code that the program at `index` reads from its standard input, if it does. */
export function runsInput(program: string, words: readonly Word[], index: number): Fed {
  if (/^(?:source|\.)$/.test(program)) return standardInput.test(words[index + 1]?.text ?? "") ? "shell" : undefined;
  const kind: Fed = shells.test(program) ? "shell" : others.test(program) ? "interpreter" : undefined;
  if (kind === undefined) return undefined;
  const [only, ...more] = words.slice(index + 1);
  const tells = kind === "shell" ? /^--(?:version|help)$/ : /^(?:--version|--help|-V)$/;
  if (more.length === 0 && only !== undefined && (tells.test(only.text) || (only.text === "-v" && program === "node")))
    return undefined;
  const parts = splitArguments(words.slice(index + 1), { valued: kind === "shell" ? "o O" : "c e m r", stop: true });
  const inline = kind === "shell" ? hasOption(parts, "c") : hasOption(parts, "c", "e", "m", "r", "eval");
  const [first] = parts.rest;
  const fromInput = first === undefined || standardInput.test(first.text) || hasOption(parts, "s");
  return !inline && fromInput ? kind : undefined;
}

/** The same of a program that begins a shell where it has no command. */
export function readsInput(program: string, words: readonly Word[]): Fed {
  const parts = splitArguments(words.slice(1), { valued: sudoValued, stop: true });
  const begins = /^(?:sudo|doas)$/.test(program)
    ? hasOption(parts, "s", "i", "shell", "login")
    : /^(?:su|script|newgrp|runuser)$/.test(program) && !words.some(({ text }) => /^-[a-zA-Z]*[cu]|^--c/.test(text));
  return begins ? "shell" : undefined;
}
