/**
 * Which probes a server gets (lifecycle.md 1.3): for each tool a plain call, one with all fields, one at the ends of ranges, one
 * with a canary in each text, and the plain one again; at last five repeats of one tool. Equal input gives an equal plan.
 */
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { type Canary, canaryTexts } from "./canary.ts";
import type { ProbeKind } from "./judge.ts";
import { plausibleText } from "./plausible.ts";
import { type SampleKind, sampleOf } from "./sample.ts";

export type Probe = {
  readonly number: number;
  readonly tool: string;
  readonly kind: ProbeKind;
  readonly arguments: JsonObject;
};

export type ProbePlan = {
  readonly probes: readonly Probe[];
  readonly canaries: readonly Canary[];
  readonly notRun: readonly { readonly tool: string; readonly reason: string }[];
};

export type PlanOrder = {
  readonly tools: readonly JsonObject[];
  /** Tokens for canaries, each once. */
  readonly tokens: () => string;
  /** Tools that are run at most; 0 = all (`pre_tool_limit`). `always` are run in any case: those that act. */
  readonly toolsMax: number;
  readonly always: ReadonlySet<string>;
  /** Number of the first probe. */
  readonly first: number;
};

/** Repeats of one tool: hostile servers of the field turn at a first, second or third call. */
export const repeats = 5;

export function planProbes({ tools, tokens, toolsMax, always, first }: PlanOrder): ProbePlan {
  const canaries: Canary[] = [];
  const probes: Probe[] = [];
  const notRun: { tool: string; reason: string }[] = [];
  const named = tools.filter((tool) => nameOf(tool) !== "");
  const chosen = chosenOf(named, toolsMax, always);
  for (const tool of named) {
    const name = nameOf(tool);
    if (!chosen.has(tool)) {
      notRun.push({ tool: name, reason: "beyond the number of tools that are run" });
      continue;
    }
    const plain = argumentsOf(tool, "required");
    if (typeof plain === "string") {
      notRun.push({ tool: name, reason: plain });
      continue;
    }
    const add = (kind: ProbeKind, given: JsonObject): void =>
      void probes.push({ number: first + probes.length, tool: name, kind, arguments: given });
    add("plain", plain);
    const full = argumentsOf(tool, "all");
    if (typeof full !== "string") add("full", full);
    const edge = argumentsOf(tool, "edge");
    if (typeof edge !== "string") add("edge", edge);
    const texts = canaryTexts(tokens, first + probes.length, canaries);
    const marked = argumentsOf(tool, "all", texts);
    if (typeof marked !== "string") add("canary", marked);
    add("repeat", plain);
  }
  const [one] = probes;
  if (one !== undefined)
    for (let again = 0; again < repeats; again += 1)
      probes.push({ ...one, number: first + probes.length, kind: "again" });
  return { probes, canaries, notRun };
}

/** Empty where it has none: such a tool cannot be called. */
function nameOf(tool: JsonObject): string {
  return stringMember(tool, "name") ?? "";
}

/** The tools that are run, spread evenly over the list, and every one of `always`. */
function chosenOf(
  tools: readonly JsonObject[],
  toolsMax: number,
  always: ReadonlySet<string>,
): ReadonlySet<JsonObject> {
  if (toolsMax === 0 || tools.length <= toolsMax) return new Set(tools);
  const forced = tools.filter((tool) => always.has(nameOf(tool)));
  const others = tools.filter((tool) => !forced.includes(tool));
  const places = Math.max(0, toolsMax - forced.length);
  const spread = Array.from({ length: places }, (_, at) => others[Math.floor((at * others.length) / places)]);
  return new Set([...forced, ...spread.filter((tool) => tool !== undefined)]);
}

function argumentsOf(tool: JsonObject, kind: SampleKind, text = plausibleText): JsonObject | string {
  const schema: Json = member(tool, "inputSchema") ?? { type: "object" };
  const sample = sampleOf(schema, { kind, text });
  if (!sample.ok) return sample.error;
  return isObject(sample.value) ? sample.value : "its arguments are no object";
}
