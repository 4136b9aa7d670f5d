/** The command line, except `run`, `hook` and `daemon`, which start without the framework (see entry.ts). */
import { Command, CommanderError } from "commander";
import { ownVersion } from "../adapters/daemon/version.ts";
import { runUsage } from "./shim/arguments.ts";

type Register = (program: Command) => void;

/** Each command's module is loaded only when the command is used: `--version` should not open a database. */
const modules: Readonly<Record<string, () => Promise<{ readonly register: Register }>>> = {
  gateway: () => import("./commands/gateway.ts"),
  policy: () => import("./commands/policy.ts"),
  labels: () => import("./commands/labels.ts"),
  replay: () => import("./commands/replay.ts"),
  runs: () => import("./commands/runs.ts"),
  approve: () => import("./commands/approve.ts"),
  audit: () => import("./commands/audit.ts"),
  doctor: () => import("./commands/doctor.ts"),
  bench: () => import("./commands/bench.ts"),
};

/** Runs one command and resolves with its exit code. */
export async function main(words: readonly string[]): Promise<number> {
  const program = new Command("sluicegate")
    .description("Reference monitor for agents that use tools over the Model Context Protocol")
    .version(ownVersion())
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) });
  program.command("run").description(`wrap one stdio server: ${runUsage}`);
  program.command("hook CLIENT").description("answer a hook of an MCP client; started by the client");
  program.command("daemon WORD").description("run, start, stop or show the per-user daemon");
  const named = modules[words[0] ?? ""];
  const chosen = named === undefined ? Object.values(modules) : [named];
  for (const load of chosen) (await load()).register(program);
  overrideExits(program);
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (cause) {
    // The framework throws for help and version too, with exit code 0; every other one is a usage error.
    if (!(cause instanceof CommanderError)) throw cause;
    return cause.exitCode === 0 ? 0 : 2;
  }
  return typeof process.exitCode === "number" ? process.exitCode : 0;
}

/** Commands must come back here instead of ending the process, so that what they wrote is flushed. */
function overrideExits(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) overrideExits(child);
}
