/** The command line, except `run`, `hook` and `daemon`, which start without the framework (see entry.ts). */
import { Command, CommanderError } from "commander";
import { ownVersion } from "../adapters/daemon/version.ts";
import { failure } from "../app/state/outcome.ts";
import { print } from "./output.ts";
import { runUsage } from "./shim/arguments.ts";
import { whyUnwritten } from "../app/state/text-file.ts";
import { unknownCommand, usageSentence, withoutCommand, withoutValue } from "./usage.ts";

type Register = (program: Command) => void;

/** Each command's module is loaded only when the command is used: `--version` should not open a database. */
const modules: Readonly<Record<string, () => Promise<{ readonly register: Register }>>> = {
  gateway: () => import("./commands/gateway.ts"),
  policy: () => import("./commands/policy.ts"),
  proof: () => import("./commands/proof.ts"),
  stpa: () => import("./commands/stpa.ts"),
  labels: () => import("./commands/labels.ts"),
  replay: () => import("./commands/replay.ts"),
  runs: () => import("./commands/runs.ts"),
  stores: () => import("./commands/stores.ts"),
  changes: () => import("./commands/changes.ts"),
  approve: () => import("./commands/approve.ts"),
  cards: () => import("./commands/cards.ts"),
  factor: () => import("./commands/factor.ts"),
  audit: () => import("./commands/audit.ts"),
  packages: () => import("./commands/packages.ts"),
  learn: () => import("./commands/learn.ts"),
  scan: () => import("./commands/scan.ts"),
  doctor: () => import("./commands/doctor.ts"),
  bench: () => import("./commands/bench.ts"),
  train: () => import("./commands/train.ts"),
  tour: () => import("./commands/tour.ts"),
};

/** Runs one command and resolves with its exit code. */
export async function main(given: readonly string[]): Promise<number> {
  // The framework's own `help` knows one word only.
  const asked = given[0] === "help" && given.length > 2 ? [...given.slice(1), "--help"] : given;
  const words = asked[0] === "-V" ? ["--version", ...asked.slice(1)] : asked;
  if (!process.stdout.listeners("error").includes(leave)) process.stdout.on("error", leave);
  const asJson = words.includes("--json");
  const [first] = words;
  const names = [...Object.keys(modules), "run", "hook", "daemon"];
  const named = Object.hasOwn(modules, first ?? "") ? modules[first ?? ""] : undefined;
  const about = first === "help" ? words[1] : first;
  if (about !== undefined && !about.startsWith("-") && about !== "help" && !names.includes(about)) {
    print(failure("SG-USAGE", unknownCommand(about, names)), asJson);
    return flushed(2);
  }
  const program = makeProgram();
  const wantsAll = named === undefined && first !== "--version";
  const chosen = named === undefined ? (wantsAll ? Object.values(modules) : []) : [named];
  for (const load of chosen) (await load()).register(program);
  overrideExits(program);
  const missing = withoutValue(program, words) ?? (asJson ? withoutCommand(program, words) : undefined);
  if (missing !== undefined) {
    print(failure("SG-USAGE", missing), asJson);
    return flushed(2);
  }
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (cause) {
    // The framework throws for help and version too, with exit code 0; every other one is a usage error.
    if (!(cause instanceof CommanderError)) throw cause;
    if (cause.exitCode === 0) return flushed(0);
    // Without a command the framework has printed the help, which says more than any sentence.
    if (cause.code !== "commander.help") print(failure("SG-USAGE", usageSentence(cause, program, words)), asJson);
    return flushed(2);
  }
  return flushed(typeof process.exitCode === "number" ? process.exitCode : 0);
}

/**
 * A reader that has seen enough (`| head`) closes the pipe; that is its right and no failure of ours. Anything else, such as a
 * full disk, means that what was asked for is not there.
 */
function leave(cause: Error): void {
  if ("code" in cause && cause.code === "EPIPE") process.exit(process.exitCode ?? 0);
  process.stderr.write(`Standard output cannot be written (${whyUnwritten(cause)}): fix that, then repeat.\n`);
  process.exit(2);
}

function makeProgram(): Command {
  const program = new Command("sluicegate")
    .description("Reference monitor for agents that use tools over the Model Context Protocol")
    // Without its short form, which would take `-V/.mcp.json`, a name of a file, for itself.
    .version(ownVersion(), "--version")
    .exitOverride()
    // Messages of the framework go through `usageSentence` instead: one sentence, or JSON.
    .configureOutput({ writeErr: (text) => process.stderr.write(text), outputError: () => undefined });
  // Their arguments are read elsewhere; the options stand here for the help alone.
  program
    .command("run")
    .usage(runUsage.replace("sluicegate run ", ""))
    .description("wrap one stdio server: put it in front of the server's command in the client's configuration")
    .option("--server <name>", "what policies and the log call the server; the name of its program without it")
    .option("--policy <file>", "the policy that holds, over any `match`; without it your own, else the default")
    .option("--tag <tag>", "what `match: {tag}` of your policies selects by")
    .option("--solo", "without the daemon: labels and limits cover this server only");
  program.command("hook").usage("CLIENT").description("answer a hook of an MCP client; started by the client");
  program
    .command("daemon")
    .usage("run|start|stop|status [--json]")
    .description("run, start, stop or show the per-user daemon, which the first `run` starts by itself")
    .option("--json", "print JSON for machines");
  return program;
}

/** Commands must come back here instead of ending the process, so that what they wrote is flushed. */
function overrideExits(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) overrideExits(child);
}

/** Waits until standard output has taken everything: the launcher ends the process right after. */
function flushed(exitCode: number): Promise<number> {
  return new Promise((resolve) => process.stdout.write("", () => resolve(exitCode)));
}
