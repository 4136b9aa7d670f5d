/** `sluicegate replay TRACE|--run KEY [--policy P]`: decides a trace, or a run of the log, with no server. */
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err } from "../../core/result.ts";
import { digest } from "../../wire/canonical.ts";
import { guard } from "../../wire/guard.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import { loadPolicyFor } from "../loaded-policy.ts";
import { chosenLog, logOption } from "../log-reader.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shortPath, shown, table } from "../output.ts";
import { sha256 } from "../policy-source.ts";
import { askProgram } from "../programs.ts";
import type { ReplayedStep, ReplayOptions } from "../replay/decide.ts";
import { replayTrace } from "../replay/decide.ts";
import { replayRunOf } from "../replay/run-report.ts";
import type { Trace } from "../replay/trace.ts";
import { readTrace, traceBytesMax } from "../replay/trace.ts";
import { fileBytes } from "../text-file.ts";

export function register(program: Command): void {
  const command = program
    .command("replay [trace]")
    .description("decide a trace, or a run of the event log, without any server")
    .option("--run <run>", "a run of the event log, decided again and compared")
    .option("--policy <file>", "decide under this policy; else the default, for a run the one on record")
    .option("--consent <answer>", "what a person answers in a trace: refuse, once or value")
    .option(...logOption)
    .option("--save <file>", "write the run as a trace, with arguments and results in the clear, and decide nothing")
    .option("--workspace <folder...>", "folders that count as the workspace");
  acts(command, (options, trace: string | undefined) => replay(trace, options));
}

type Options = Readonly<Record<string, unknown>>;

function replay(trace: string | undefined, options: Options): Outcome | Promise<Outcome> {
  const { run, consent } = options;
  if (typeof run !== "string") {
    if (options["save"] !== undefined) return failure("SG-USAGE", "`--save` writes a run: name it with `--run`.");
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
  const save = typeof options["save"] === "string" ? options["save"] : undefined;
  const log = chosenLog(options);
  if (!log.ok) return failure(log.error.code, log.error.sentence);
  const query = { run, policy: policyIn(options), workspace: foldersIn(options), save, log: log.value };
  return replayRunOf(query, process.env);
}

function policyIn(options: Options): string | undefined {
  return typeof options["policy"] === "string" ? options["policy"] : undefined;
}

function foldersIn(options: Options): readonly string[] {
  return Array.isArray(options["workspace"]) ? options["workspace"].map(String) : [];
}

function replayFile(file: string, options: Options): Outcome {
  const { consent = "refuse" } = options;
  if (consent !== "refuse" && consent !== "once" && consent !== "value") {
    return failure("SG-USAGE", "`--consent` names no answer: write refuse, once or value.");
  }
  const trace = readTraceFile(file);
  if (!trace.ok) return failure("SG-TRACE", trace.error);
  const policy = loadPolicyFor(policyIn(options), { labels: trace.value.labels });
  if (!policy.ok) return failure("SG-POLICY", policy.error);
  const how: ReplayOptions = {
    consent,
    workspace: foldersIn(options),
    digest: (value: Json) => digest(value, sha256),
    askProgram,
  };
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
  if (value === undefined) return err(`${name} is no JSON: correct it there, or save a run with \`--save\`.`);
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
