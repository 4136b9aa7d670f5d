/**
 * The `expect:` traces of a policy, decided by the engine itself (policy.md 1): unit tests in the policy itself. A
 * step may refer to the result of an earlier one, `{tool/pointer}`; a unique text is planted there, so that provenance
 * sees a value that really came from it.
 */
import { type Json, type JsonObject, isObject } from "../../core/json.ts";
import { strictestOf, type Verdict } from "../../core/verdict.ts";
import { splitSelector } from "../../policy/document/names.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { ExpectText, StepText } from "../../policy/document/shapes-rules.ts";
import { digest } from "../../wire/canonical.ts";
import { loadedPolicy } from "./loaded-policy.ts";
import { sha256 } from "./policy-source.ts";
import { askProgram } from "./rule-programs.ts";
import { replayTrace } from "../replay/replay-trace.ts";
import type { TraceStep } from "../replay/trace.ts";

/** `because` is the reason of the first call of this verdict, as a clause; `prompts` counts the calls that ask. */
export type Judged = {
  readonly verdict: Verdict;
  readonly rules: readonly string[];
  readonly because: string;
  readonly prompts: number;
};

/** The expected and the actual verdict of a step. `holds` also wants every rule of `by` among the deciding ones. */
export type Expectation = {
  readonly index: number;
  readonly expected: Verdict;
  readonly found: Judged;
  readonly holds: boolean;
};

/** Where traces of the shipped kind happen; a path below it is inside the workspace. */
export const expectedWorkspace = "/workspace";

export function checkExpectations(policy: CompiledPolicy): readonly Expectation[] {
  return (policy.policy.expect ?? []).map((expectation, index) => {
    const found = judgeExpectation(policy, expectation);
    const by = typeof expectation.by === "string" ? [expectation.by] : (expectation.by ?? []);
    const holds = found.verdict === expectation.verdict && by.every((rule) => found.rules.includes(rule));
    return { index, expected: expectation.verdict, found, holds };
  });
}

/** The verdict of a trace is that of its strictest step; consent is given along the way, so that the trace goes on. */
export function judgeExpectation(policy: CompiledPolicy, expectation: ExpectText, bareServer?: string): Judged {
  const steps = stepsOf(expectation.trace, (tool) => bareServer ?? ownerOf(policy, tool));
  const servers = new Map<string, JsonObject[]>();
  for (const step of steps) {
    if (step.kind === "call") servers.set(step.server, [...(servers.get(step.server) ?? []), { name: step.tool }]);
  }
  const trace = { servers, labels: undefined, instruction: expectation.instruction, steps };
  const workspace = [expectedWorkspace];
  const options = { consent: "once" as const, workspace, digest: (value: Json) => digest(value, sha256), askProgram };
  const rows = replayTrace(loadedPolicy(policy, "expectation"), trace, options);
  const verdict = strictestOf(rows.map((row) => row.verdict));
  const rules = rows.filter((row) => row.verdict === verdict).flatMap((row) => row.rules);
  const because = rows.find((row) => row.verdict === verdict)?.because ?? "";
  return { verdict, rules, because, prompts: rows.filter((row) => row.verdict === "confirm").length };
}

/** What became of an expected trace that does not hold: the verdict, and the argument, label and rule behind it. */
export function outcomeOf({ found: { verdict, rules, because } }: Expectation): string {
  if (because !== "") return `${verdict}, since ${because}`;
  return rules.length === 0 ? `${verdict}, and no rule objects` : `${verdict} (${rules.join(", ")})`;
}

/** The server whose labels name the tool, where a trace gives a bare name. */
function ownerOf(policy: CompiledPolicy, tool: string): string {
  const named = policy.table.entries.find((entry) => entry.tool === tool && !entry.server.includes("*"));
  return named?.server ?? "server";
}

type Planted = { readonly pointer: string | undefined; readonly text: string };

const reference = /\{([A-Za-z0-9_.:-]+?)(\/[^{}]*)?\}/g;

/** The steps of a trace, with results that hold whatever later steps refer to. */
function stepsOf(trace: readonly StepText[], owner: (tool: string) => string): readonly TraceStep[] {
  const named = trace.map(nameAndValue);
  const tools = named.map(({ name }) => splitSelector(name).tool);
  const planted = new Map<string, Planted>();
  const filled = named.map(({ name, value }) => ({
    name,
    value: isObject(value) ? fill(value, tools, planted) : value,
  }));
  return filled.map(({ name, value }): TraceStep => {
    if (name === "run") return { kind: "run" };
    if (name === "user") return { kind: "user", text: typeof value === "string" ? value : "" };
    const { server, tool } = splitSelector(name);
    const secret = planted.get(tool);
    const result = secret === undefined ? resultWith(undefined, "done") : resultWith(secret.pointer, secret.text);
    const given = isObject(value) ? value : {};
    return {
      kind: "call",
      server: server === "*" ? owner(tool) : server,
      tool,
      arguments: given,
      result,
      isError: false,
    };
  });
}

/** A bare name, or one entry `name: arguments`, `run: new`, `user: text`. */
function nameAndValue(step: StepText): { readonly name: string; readonly value: Json } {
  if (typeof step === "string") return { name: step, value: {} };
  const [name, value] = Object.entries(step)[0] ?? ["", {}];
  return { name, value: value as Json }; // the document was read from YAML or JSON
}

/** Arguments with every reference replaced by the text that is planted in the result it names. */
function fill(given: JsonObject, tools: readonly string[], planted: Map<string, Planted>): JsonObject {
  const written = JSON.stringify(given).replace(reference, (whole, tool: string, pointer?: string) => {
    if (!tools.includes(tool)) return whole;
    const text = `planted text of ${tool} 7f3a9c15`;
    planted.set(tool, { pointer, text });
    return text;
  });
  return JSON.parse(written) as JsonObject; // texts were replaced by texts without quotes: still an object
}

/** A result that has a text at a pointer; without a pointer the text alone. */
function resultWith(pointer: string | undefined, text: string): Json {
  if (pointer === undefined) return { content: [{ type: "text", text }], structuredContent: { content: text } };
  const parts = pointer.slice(1).split("/");
  const inner = parts.reduceRight<Json>((value, part) => (/^[0-9]+$/.test(part) ? [value] : { [part]: value }), text);
  return { content: [], structuredContent: inner };
}
