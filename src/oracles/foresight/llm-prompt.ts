/**
 * The one serializer of what a language model is shown (SafeMCP's own harnesses have four that differ). Order: tools,
 * instruction, steps, pending call, behind a constant protocol, so that the common beginning of two prompts of a run
 * grows with the run. A change of a single character is a new version: golden tests hold the text.
 */
import type { Json } from "../../core/json.ts";
import type { PredictionContext, PredictionStep } from "../../core/questions/prediction.ts";
import { quotedName, quotedText, quotedValue, shapeOf } from "../judges/evidence.ts";
import { nameCharsMax } from "../judges/limits.ts";
import { stepsCharsMax, stepsDroppedTogether, stepsMax, toolsMax } from "./llm-limits.ts";
import { answerLines } from "./llm-protocol.ts";

/** A tool as the model knows it. Names that could not stand in a schema as they are get a number instead. */
export type ShownTool = { readonly shown: string; readonly name: string; readonly effects: readonly string[] };

const plainName = new RegExp(`^[A-Za-z0-9_./:-]{1,${nameCharsMax}}$`);

/** Tools in the order of the context, each with the name that is shown for it. */
export function shownTools(context: PredictionContext): readonly ShownTool[] {
  return context.tools.slice(0, toolsMax).map(({ name, effects }, index) => ({
    shown: plainName.test(name) ? name : `tool-${index + 1}`,
    name,
    effects,
  }));
}

/** `values`: everything. `shapes`: names that are public by nature, kinds and labels; no value, no outside text. */
export type EvidenceForm = "values" | "shapes";

/** Evidence for one answer. Texts are quoted and capped; none can close its field. */
export function evidenceText(context: PredictionContext, form: EvidenceForm, answer: "word" | "report"): string {
  const tools = shownTools(context);
  const write = stepWriter(tools, form);
  const listed = tools.map(({ shown, effects }) => `${quotedName(shown)} effects ${names(effects)}`);
  if (context.tools.length > tools.length)
    listed.push(`${context.tools.length - tools.length} more tools are not shown`);
  const instruction = form === "values" ? quotedText(context.instruction) : "withheld";
  return [
    ...field("tools", listed),
    ...field("instruction", [instruction]),
    ...field("steps", stepLines(context.steps, write)),
    ...field("pending", [context.pending === undefined ? "none: the list of tools is judged" : write(context.pending)]),
    answerLines[answer],
  ].join("\n");
}

function field(name: string, lines: readonly string[]): readonly string[] {
  return [`<evidence name="${name}">`, ...(lines.length === 0 ? ["none"] : lines), "</evidence>"];
}

function names(list: readonly string[]): string {
  return `[${list.slice(0, 64).map(quotedName).join(", ")}]`;
}

type WriteStep = (step: PredictionStep) => string;

/** The newest steps. Old ones are dropped in blocks, since every drop costs the server its cache. */
function stepLines(steps: readonly PredictionStep[], write: WriteStep): readonly string[] {
  const over = Math.max(0, steps.length - stepsMax);
  const first = Math.ceil(over / stepsDroppedTogether) * stepsDroppedTogether;
  const lines = steps.slice(first).map((step, index) => `${first + index + 1}. ${write(step)}`);
  let characters = lines.reduce((sum, line) => sum + line.length, 0);
  let dropped = first;
  while (characters > stepsCharsMax && dropped < steps.length) {
    characters -= lines[dropped - first]?.length ?? 0;
    dropped += 1;
  }
  const kept = lines.slice(dropped - first);
  return dropped === 0 ? kept : [`${dropped} earlier steps are not shown`, ...kept];
}

function stepWriter(tools: readonly ShownTool[], form: EvidenceForm): WriteStep {
  const byName = new Map(tools.map((tool) => [tool.name, tool.shown]));
  return (step) => {
    const full = `${step.server}.${step.tool}`;
    const listed = byName.get(full);
    // An agent can call a name that no list has; such a name is its own words, and could carry a value.
    const known = listed ?? (form === "values" || (step.declared ?? []).length > 0 ? full : undefined);
    const parts = [
      known === undefined ? "a tool that is not listed" : quotedName(known),
      `effects ${names(step.effects)}`,
      `arguments ${form === "values" ? quotedValue(step.arguments) : argumentShapes(step)}`,
      `outcome ${step.outcome}`,
    ];
    return step.brought.length === 0 ? parts.join("; ") : [...parts, `brought ${names(step.brought)}`].join("; ");
  };
}

/** Arguments by name and kind. A name that the contract does not declare could itself be a value: it is numbered. */
function argumentShapes(step: PredictionStep): string {
  let others = 0;
  const shape = ([name, value]: readonly [string, Json]): string => {
    const declared = step.declared?.includes(name) === true;
    if (!declared) others += 1;
    return `${declared ? quotedName(name) : `other ${others}`}: ${shapeOf(value)}`;
  };
  const entries = Object.entries(step.arguments);
  const own = ([name]: readonly [string, Json]): boolean => step.declared?.includes(name) === true;
  // Declared ones first: names that the agent makes up, however many, must not push them out.
  const shown = [...entries.filter(own), ...entries.filter((entry) => !own(entry))].slice(0, 64);
  return `{${shown.map(shape).join(", ")}}`;
}
