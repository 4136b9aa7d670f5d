/**
 * `sluicegate learn NAME` and `sluicegate learn --server NAME [--calls FILE] -- CMD...`: the least scope that a server was
 * seen to need, as policy text with the evidence for each line. The first reads the event log, where a policy with
 * `backend: learn` put what the server did in real work; the second starts the server now and makes the calls of a file.
 */
import { basename } from "node:path";
import type { Command } from "commander";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { isolationOrder } from "../../policy/ir/isolation-order.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import { guard } from "../../wire/parse/guard.ts";
import { type ScriptedCall, proposalOf, watchedInLogs, watchedNow } from "../../app/client/learned.ts";
import { compiledFrom } from "../../app/policy/named-policy.ts";
import { chosenLog, logOption } from "../../app/state/log-files.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { type OptionsOf, acts } from "../output.ts";
import { shortPath, shown } from "../../app/state/sentences.ts";
import { serverRule, serverShape } from "../../app/policy/names.ts";
import { fileBytes, fileSentence } from "../../app/state/text-file.ts";

const usage = "Use `sluicegate learn NAME`, or `sluicegate learn [--server NAME] [--calls FILE] -- CMD [ARGUMENT...]`.";

const callsMax = 1_000;
const callsBytesMax = 4 * 1024 * 1024;

const learnOptions = {
  "--server <name>": "name of the server, for a command that is started now",
  "--calls <file>": "JSON list of {tool, arguments} to make; without it the server is started and listed",
  ...logOption,
} as const;
type Options = OptionsOf<typeof learnOptions>;

export function register(program: Command): void {
  const command = program
    .command("learn [words...]")
    .description("propose the least scope that a server was seen to need, from the log or by driving it now");
  acts(command, learnOptions, (options, words?: string[]) => learn(options, words ?? []));
}

async function learn(options: Options, words: readonly string[]): Promise<Outcome> {
  const [first, ...rest] = words;
  if (first === undefined) return failure("SG-USAGE", usage);
  const named = options.server;
  if (named !== undefined && !serverShape.test(named))
    return failure("SG-USAGE", `\`--server\` ${serverRule}. ${usage}`);
  // The framework passes on the words behind `--` only: whether it was there is what tells a command from a name.
  const live = named !== undefined || rest.length > 0 || first.includes("/") || process.argv.includes("--");
  return live ? learnNow(options, named ?? basename(first), [first, ...rest]) : learnFromLog(options, first);
}

async function learnFromLog(options: Options, server: string): Promise<Outcome> {
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const watched = await watchedInLogs(server, chosen.value);
  if (!watched.ok) return failure(watched.error.code, watched.error.sentence);
  if (watched.value.length === 0) {
    const sentence = `The log has no trace of a server \`${shown(server, 40)}\`. Run it under a policy with \`isolation: {servers: {${shown(server, 40)}: {backend: learn}}}\` first.`;
    return failure("SG-LEARN-NOTHING", sentence);
  }
  const order = orderFor(server);
  if (!order.ok) return failure("SG-USAGE", order.error);
  const proposal = proposalOf(order.value, watched.value);
  const head = `# seen in ${watched.value.length} ${watched.value.length === 1 ? "call or idle time" : "calls and idle times"} of the event log`;
  return {
    exitCode: 0,
    json: { traces: watched.value.length, ...proposal },
    text: `${head}\n${proposal.text}`,
  };
}

async function learnNow(options: Options, server: string, command: readonly string[]): Promise<Outcome> {
  const order = orderFor(server);
  if (!order.ok) return failure("SG-USAGE", order.error);
  const calls = options.calls === undefined ? ok([]) : readCalls(options.calls);
  if (!calls.ok) return failure("SG-LEARN-CALLS", calls.error);
  const [program = "", ...args] = command;
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const target = { kind: "stdio", command: program, args, env, workingDirectory: process.cwd() } as const;
  // Why a server ends is on its own stderr, and by hand it might not end: there it sees the whole machine.
  const told = (line: string): void => void process.stderr.write(`${line}\n`);
  const driven = await watchedNow(target, order.value, calls.value, told);
  if (!driven.ok) return failure("SG-LEARN-FAILED", driven.error.slice(0, 240));
  const { tier, notes, watched, failed } = driven.value;
  const proposal = proposalOf(order.value, watched);
  const remarks = [...notes, ...failed.map((one) => `no result: ${one}`)].map((one) => `# ${shown(one, 200)}`);
  const head = `# seen at the start and in ${calls.value.length} ${calls.value.length === 1 ? "call" : "calls"}, in tier ${tier}`;
  return {
    exitCode: 0,
    json: { tier, notes, calls: calls.value.length, failed, ...proposal },
    text: [head, ...remarks, proposal.text].join("\n"),
  };
}

/** Everything is let through and everything is looked at. */
function orderFor(server: string): Result<NonNullable<ReturnType<typeof isolationOrder>>, string> {
  const document = { version: 1 as const, isolation: { servers: { [server]: { backend: "learn" as const } } } };
  const compiled = compiledFrom({ file: "learn", document });
  if (!compiled.ok) return compiled;
  const order = isolationOrder(compiled.value, server);
  return order === undefined ? err(`\`${server.slice(0, 40)}\` is not a name of a server.`) : ok(order);
}

function readCalls(file: string): Result<readonly ScriptedCall[], string> {
  const wanted = 'write a JSON list of {"tool": NAME, "arguments": {...}} there.';
  const bytes = fileBytes(file, callsBytesMax);
  if (!bytes.ok)
    return err(fileSentence(file, bytes.error, `larger than ${callsBytesMax} bytes: make fewer calls.`, `${wanted}`));
  const verdict = guard(bytes.value, { ...defaultWireLimits, messageBytesMax: callsBytesMax });
  const value = verdict.kind === "refused" ? undefined : readJson(bytes.value.toString("utf8"));
  if (!isArray(value) || value.length > callsMax)
    return err(`${shortPath(file)} is not a list of at most ${callsMax} calls: ${wanted}`);
  const calls: ScriptedCall[] = [];
  for (const [index, entry] of value.entries()) {
    const tool = stringMember(entry, "tool");
    const given = member(entry, "arguments") ?? {};
    if (tool === undefined || !isObject(given)) {
      return err(`${shortPath(file)}, entry ${index + 1}: a call is {"tool": NAME, "arguments": {...}}.`);
    }
    calls.push({ tool, arguments: given });
  }
  return ok(calls);
}
