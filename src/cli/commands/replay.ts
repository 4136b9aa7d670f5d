/** `sluicegate replay TRACE|--run KEY [--policy P]`: decides a trace, or a run of the log, with no server. */
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import { type Result, err } from "../../core/result.ts";
import { digest } from "../../wire/canonical.ts";
import { guard } from "../../wire/parse/guard.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import { loadPolicyFor } from "../../app/policy/named-policy.ts";
import { chosenLog, logOption } from "../../app/state/log-files.ts";
import { type Outcome, failure, refusal } from "../../app/state/outcome.ts";
import { type OptionsOf, acts } from "../output.ts";
import { shortPath, shown, table } from "../../app/state/sentences.ts";
import { sha256 } from "../../app/policy/policy-source.ts";
import { askProgram } from "../../app/policy/rule-programs.ts";
import { type ReplayedStep, type ReplayOptions, replayTrace } from "../../app/replay/replay-trace.ts";
import { replayRunOf } from "../../app/replay/run-report.ts";
import { type Trace, readTrace, traceBytesMax } from "../../app/replay/trace.ts";
import { fileBytes } from "../../app/state/text-file.ts";

const replayOptions = {
  "--run <run>": "a run of the event log, decided again and compared",
  "--policy <file>": "decide under this policy; else the default, for a run the one on record",
  "--consent <answer>": "the answer of the user in a trace: refuse, once or value",
  ...logOption,
  "--save <file>": "write the run as a trace, with arguments and results in the clear, and decide nothing",
  "--workspace <folder...>": "folders that count as the workspace",
} as const;

export function register(program: Command): void {
  const command = program
    .command("replay [trace]")
    .description("decide a trace, or a run of the event log, without any server");
  acts(command, replayOptions, (options, trace: string | undefined) => replay(trace, options));
}

type Options = OptionsOf<typeof replayOptions>;

function replay(trace: string | undefined, options: Options): Outcome | Promise<Outcome> {
  const { run, consent, save, policy, workspace = [] } = options;
  if (run === undefined) {
    if (save !== undefined) return failure("SG-USAGE", "`--save` writes a run: name it with `--run`.");
    if (trace === undefined) return failure("SG-USAGE", "Name a trace file, or a run of the log with `--run`.");
    return replayFile(trace, options);
  }
  if (trace !== undefined) return failure("SG-USAGE", "A trace and `--run` were both given: name one of them.");
  if (consent !== undefined) {
    return failure(
      "SG-USAGE",
      "`--consent` is for traces: a run is decided with the consents on record. Leave it out.",
    );
  }
  const log = chosenLog(options);
  if (!log.ok) return refusal(log.error);
  return replayRunOf({ run, policy, workspace, save, log: log.value }, process.env);
}

function replayFile(file: string, { consent = "refuse", policy: named, workspace = [] }: Options): Outcome {
  if (consent !== "refuse" && consent !== "once" && consent !== "value") {
    return failure("SG-USAGE", "`--consent` names no answer: write refuse, once or value.");
  }
  const trace = readTraceFile(file);
  if (!trace.ok) return failure("SG-TRACE", trace.error);
  const policy = loadPolicyFor(named, { labels: trace.value.labels });
  if (!policy.ok) return failure("SG-POLICY", policy.error);
  const how: ReplayOptions = { consent, workspace, digest: (value: Json) => digest(value, sha256), askProgram };
  const steps = replayTrace(policy.value, trace.value, how);
  return {
    exitCode: steps.some((step) => step.verdict !== "allow") ? 1 : 0,
    json: { steps },
    text: table([["", "tool", "verdict", "because of"], ...steps.map(row)]),
  };
}

function readTraceFile(file: string): Result<Trace, string> {
  const name = shortPath(file);
  const bytes = fileBytes(file, traceBytesMax);
  if (!bytes.ok) {
    return bytes.error.kind === "large"
      ? err(`${name} is larger than ${traceBytesMax} bytes: split the trace.`)
      : err(`${name} cannot be read (${bytes.error.why}): name a trace, or a run of the log with \`--run\`.`);
  }
  const guarded = guard(bytes.value, { ...defaultWireLimits, messageBytesMax: traceBytesMax });
  // Readers behind this one are recursive, as they are behind the wire.
  if (guarded.kind === "refused" && guarded.reason === "too-deep") {
    return err(`${name} is nested too deep: flatten the arguments or results in it.`);
  }
  const value = jsonIn(bytes.value);
  if (value === undefined) return err(`${name} is not JSON: correct it there, or save a run with \`--save\`.`);
  const trace = readTrace(value);
  return trace.ok ? trace : err(`${name}: ${trace.error}.`);
}

/** Numbers as `replay` compares them; the log's own reader keeps how they were written. */
function jsonIn(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString("utf8")) as Json; // JSON.parse yields JSON
  } catch {
    return undefined;
  }
}

function row(step: ReplayedStep, index: number): readonly string[] {
  const mark = { allow: "✓", confirm: "?", deny: "✗" }[step.verdict];
  const because = [...step.rules, ...step.codes.filter((code) => code.startsWith("SG-ASK-"))].join(" ");
  const from = step.path.find((one) => one.label !== "public")?.step;
  const source = from === undefined ? "" : `(${shown(from, 60)})`;
  return [`${index + 1}`, shown(step.tool, 40), `${mark} ${step.verdict}`, `${because} ${source}`.trim()];
}
