/** `sluicegate labels MANIFEST`: the effects and the result label of each listed tool, and their sources. */
import type { Command } from "commander";
import { isArray } from "../../core/json.ts";
import { type ToolExplanation, explainTool } from "../../policy/lint/explain.ts";
import { type ReadingGroup, type ToolReading, readTools, readingGroups } from "../../oracles/labels/reading.ts";
import { namedPolicy } from "../../app/policy/named-policy.ts";
import { readManifest } from "../../app/policy/manifest.ts";
import { type OptionsOf, acts } from "../output.ts";
import { type Outcome, failure, refusal } from "../../app/state/outcome.ts";
import { shown, table } from "../../app/state/sentences.ts";
import { defaultPolicyName, toolDigest } from "../../app/policy/policy-source.ts";
import { serverRule, serverShape } from "../../app/policy/names.ts";

const labelOptions = {
  "--server <name>": "the name the policy knows the server by; the file's name without it",
  "--policy <file>": "the policy whose labels count; the default policy without it",
} as const;

export function register(program: Command): void {
  const command = program
    .command("labels <manifest>")
    .description("show the labels of every tool in a saved `tools/list`, with their source");
  acts(command, labelOptions, (options, file: string) => labels(file, options));
}

function labels(
  file: string,
  { server: named, policy: name = defaultPolicyName }: OptionsOf<typeof labelOptions>,
): Outcome {
  if (named !== undefined && !serverShape.test(named)) {
    return failure("SG-USAGE", `\`--server\` ${serverRule}. Write \`-\` for a dot, as \`run\` does without it.`);
  }
  const lists = readManifest(file, named);
  if (!lists.ok) return failure("SG-MANIFEST", lists.error);
  const loaded = namedPolicy(name, name === defaultPolicyName ? {} : lists.value);
  if (!loaded.ok) return refusal(loaded.error);
  const { policy } = loaded.value;
  const several = Object.keys(lists.value).length > 1;
  const tools = Object.entries(lists.value).flatMap(([server, listed]) =>
    readTools({ server, tools: listed }).map((reading, index) => {
      const asked = { server, tool: reading.tool, listed: listed[index] ?? {}, digestOf: toolDigest };
      return { ...explainTool(policy, asked), reading };
    }),
  );
  return {
    exitCode: 0,
    json: { tools: tools.map((tool) => ({ ...(several ? { server: tool.server } : {}), ...labelled(tool) })) },
    text: tools.length === 0 ? "The manifest lists no tool." : readable(tools, several),
  };
}

type LabelledTool = ToolExplanation & { readonly reading: ToolReading };

/** The labels of one tool as system.md 6 has them; `certain` is what it does for sure, `effects` all it may do. */
function labelled(tool: LabelledTool): object {
  return {
    name: tool.tool,
    effects: tool.effects.may,
    certain: tool.effects.must,
    flags: tool.flags,
    output: tool.output,
    fields: tool.fields,
    args: Object.fromEntries(tool.arguments.map(({ name, ...rest }) => [name, rest])),
    reads: tool.reads,
    writes: tool.writes,
    source: tool.source,
    reading: readingOf(tool.reading),
  };
}

/** Effects named before "anything": a tool that may do more is one of which nothing is known. */
const effectsShownMax = 4;

/** Every name in the table came from the server: control and direction characters are shown as escapes. */
function readable(tools: readonly LabelledTool[], several: boolean): string {
  const rows = tools.map((tool) => [
    shown(several ? `${tool.server}.${tool.tool}` : tool.tool, 48),
    effectText(tool),
    shown(tool.output, 60),
    tool.source,
    shown(tool.arguments.map(argumentText).join(" "), 100),
  ]);
  const unknown = tools.filter((tool) => tool.source === "unknown");
  const hint = [
    "",
    `${unknown.length} of ${tools.length} tools have no label, so their calls ask. Their names, texts and schemas suggest:`,
    ...readingGroups.flatMap((group) => groupLines(group, unknown)),
    "A reading permits nothing until it is accepted: write it into a policy, or accept the card of the server.",
  ];
  const rest = unknown.length === 0 ? [] : hint;
  return [table([["tool", "may do", "returns", "source", "arguments"], ...rows]), ...rest].join("\n");
}

/** What texts and schemas suggest. It narrows nothing until an operator accepts it. */
function readingOf({ group, label, facts, doubts }: ToolReading): object {
  return { group, label, facts, doubts };
}

function groupLines(group: ReadingGroup, tools: readonly LabelledTool[]): readonly string[] {
  const members = tools.filter((tool) => tool.reading.group === group);
  if (members.length === 0) return [];
  return [`  ${group}:`, ...members.map((tool) => `    ${shown(tool.tool, 48)}: ${suggestion(tool.reading)}`)];
}

function suggestion({ facts, doubts }: ToolReading): string {
  const effects = facts.find(({ about }) => about === "effects");
  if (effects === undefined) return "nothing says what it does";
  const doubt = doubts.some(({ about }) => about === "effects") ? "perhaps " : "";
  const value = isArray(effects.value) ? effects.value.filter((each) => typeof each === "string") : [];
  const reasons = effects.because.slice(0, 3).join(", ");
  return `${doubt}${listed(value)}, ${Math.floor(effects.probability * 100)} % (${shown(reasons, 120)})`;
}

function listed(effects: readonly string[]): string {
  if (effects.length > effectsShownMax * 3) return "anything";
  return effects.slice(0, effectsShownMax).join(" ") + (effects.length > effectsShownMax ? " …" : "");
}

function effectText({ effects, flags }: ToolExplanation): string {
  return [listed(effects.may), ...flags.map((flag) => `(${flag})`)].join(" ").trim() || "nothing";
}

/** `to:recipient→anyone`: the role of the argument and its audience. */
function argumentText(argument: ToolExplanation["arguments"][number]): string {
  const seen = argument.seenBy.length === 0 ? "" : `→${argument.seenBy.join("+")}`;
  return `${argument.name}:${argument.role}${seen}`;
}
