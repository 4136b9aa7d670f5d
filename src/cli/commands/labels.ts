/**
 * `sluicegate labels MANIFEST`: the effects and the result label of each listed tool, and their sources; `--review` asks the
 * operator and makes a policy, `--write` adds labels for the author to ship, and `labels lint` says where they disagree.
 */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { isArray } from "../../core/json.ts";
import { type Result, err } from "../../core/result.ts";
import type { ToolLists } from "../../policy/contracts/contracts.ts";
import { lintLabels } from "../../oracles/labels/lint-labels.ts";
import { labelledManifest } from "../../app/policy/labelled-manifest.ts";
import { reviewLabels, reviewedPolicy } from "../../app/policy/review-labels.ts";
import { typed } from "../agreed.ts";
import { type ToolExplanation, explainTool } from "../../policy/lint/explain.ts";
import { type ReadingGroup, type ToolReading, readTools, readingGroups } from "../../oracles/labels/reading.ts";
import { namedPolicy } from "../../app/policy/named-policy.ts";
import { readManifest } from "../../app/policy/manifest.ts";
import { type OptionsOf, acts } from "../output.ts";
import { type Fault, type Outcome, failure, refusal } from "../../app/state/outcome.ts";
import { whyUnwritten } from "../../app/state/text-file.ts";
import { many, shortPath, shown, table } from "../../app/state/sentences.ts";
import { defaultPolicyName, toolDigest } from "../../app/policy/policy-source.ts";
import { serverRule, serverShape } from "../../app/policy/names.ts";

const labelOptions = {
  "--server <name>": "the name the policy knows the server by; the file's name without it",
  "--policy <file>": "the policy whose labels count; the default policy without it",
  "--write": "print the manifest with labels in `_meta`, for its author to ship; what is in doubt is left out",
  "--review": "ask about each tool, those in doubt first, and print a policy of the answers",
  "--out <file>": "with --review: write the policy there",
} as const;
type Options = OptionsOf<typeof labelOptions>;

const serverOption = { "--server <name>": labelOptions["--server <name>"] } as const;

export function register(program: Command): void {
  const command = program
    .command("labels <manifest>")
    .description("show the labels of every tool in a saved `tools/list`, with their source");
  acts(command, labelOptions, (options, file: string) => labels(file, options));
  const linted = command
    .command("lint <manifest>")
    .description("where schema, annotations and labels of a tool disagree");
  acts(linted, serverOption, (options, file: string) => lint(file, options.server));
}

/** The lists of a file, or why there are none. */
function listsOf(file: string, named: string | undefined): Result<ToolLists, Fault> {
  if (named !== undefined && !serverShape.test(named)) {
    const sentence = `\`--server\` ${serverRule}. Write \`-\` for a dot, as \`run\` does without it.`;
    return err({ code: "SG-USAGE", sentence });
  }
  const lists = readManifest(file, named);
  return lists.ok ? lists : err({ code: "SG-MANIFEST", sentence: lists.error });
}

function lint(file: string, named: string | undefined): Outcome {
  const lists = listsOf(file, named);
  if (!lists.ok) return refusal(lists.error);
  const several = Object.keys(lists.value).length > 1;
  const found = Object.entries(lists.value).flatMap(([server, tools]) =>
    lintLabels({ server, tools }).map((finding) => ({ ...(several ? { server } : {}), ...finding })),
  );
  const lines = found.map(
    ({ tool, place, rule, reason, remedy }) =>
      `${shown(tool, 60)}${shown(place, 120)}: ${shown(reason, 200)} (${rule}): ${shown(remedy, 160)}.`,
  );
  const text = found.length === 0 ? "Schema, annotations and labels say the same." : lines.join("\n");
  return { exitCode: found.length === 0 ? 0 : 1, json: { ok: found.length === 0, findings: found }, text };
}

function write(lists: ToolLists): Outcome {
  const { manifest, doubts } = labelledManifest(lists);
  if (doubts.length > 0)
    process.stderr.write(
      `${many(doubts.length, "fact")} in doubt left out: label them by hand, then \`sluicegate labels lint\`.\n`,
    );
  return { exitCode: 0, json: { manifest, doubts }, text: JSON.stringify(manifest, undefined, 2) };
}

async function review(lists: ToolLists, out: string | undefined): Promise<Outcome> {
  if (!process.stdin.isTTY)
    return failure("SG-USAGE", "`--review` asks on a terminal, and this is not one: run it in one.");
  const [first, second] = Object.entries(lists);
  if (first === undefined || second !== undefined)
    return failure("SG-USAGE", "`--review` goes through the tools of one server: give the list of one.");
  const [server, listed] = first;
  if (!serverShape.test(server))
    return failure("SG-USAGE", `The server of this list ${serverRule}. Name it with --server.`);
  const reviewed = await reviewLabels(server, listed, typed);
  const { problems } = reviewed;
  for (const { place, tool, reason, remedy } of problems)
    process.stderr.write(`${place} ${shown(tool, 60)}: ${reason}: ${remedy}.\n`);
  const text = reviewedPolicy(reviewed);
  if (out !== undefined) {
    try {
      writeFileSync(out, text, { flag: "wx" });
    } catch (cause) {
      const why = `${shortPath(out)} cannot be written (${whyUnwritten(cause)}): name a new file in a folder that exists with --out.`;
      return failure("SG-USAGE", `${why} The answers:\n${text}`);
    }
  }
  const count = many(Object.keys(reviewed.labels).length, "tool");
  const written = out === undefined ? text : `Labels of ${count} written to ${shortPath(out)}.`;
  const json = { ...reviewed, ...(out === undefined ? { policy: text } : { out }) };
  return { exitCode: problems.length === 0 ? 0 : 1, json, text: written };
}

function labels(file: string, options: Options): Outcome | Promise<Outcome> {
  const { server: named, policy: name = defaultPolicyName } = options;
  if (options.write === true && options.review === true)
    return failure("SG-USAGE", "`--write` and `--review` exclude each other: give one of them.");
  if (options.out !== undefined && options.review !== true)
    return failure("SG-USAGE", "`--out` says where `--review` writes: give both.");
  const lists = listsOf(file, named);
  if (!lists.ok) return refusal(lists.error);
  if (options.write === true) return write(lists.value);
  if (options.review === true) return review(lists.value, options.out);
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
