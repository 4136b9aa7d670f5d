/** `sluicegate labels MANIFEST`: what each listed tool is believed to do and to return, and who says so. */
import type { Command } from "commander";
import { stringMember } from "../../core/json.ts";
import type { ToolExplanation } from "../../policy/explain.ts";
import { explainTool } from "../../policy/explain.ts";
import { inferTool } from "../../policy/inference/infer.ts";
import { whyUnloadable } from "../loaded-policy.ts";
import { readManifest, toolNames } from "../manifest.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shown, table } from "../output.ts";
import { defaultPolicyName, loadFrom, toolDigest } from "../policy-source.ts";
import { serverRule, serverShape } from "../server-name.ts";

export function register(program: Command): void {
  const command = program
    .command("labels <manifest>")
    .description("show the labels of every tool in a saved `tools/list`, with their source")
    .option("--server <name>", "the name the policy knows the server by; the file's name without it")
    .option("--policy <file>", "the policy whose labels count; the default policy without it");
  acts(command, (options, file: string) => labels(file, options));
}

function labels(file: string, options: Readonly<Record<string, unknown>>): Outcome {
  const named = typeof options["server"] === "string" ? options["server"] : undefined;
  if (named !== undefined && !serverShape.test(named)) {
    return failure("SG-USAGE", `\`--server\` ${serverRule}. Write \`-\` for a dot, as \`run\` does without it.`);
  }
  const lists = readManifest(file, named);
  if (!lists.ok) return failure("SG-MANIFEST", lists.error);
  const policyName = options["policy"];
  const policyFile = typeof policyName === "string" && policyName !== defaultPolicyName ? policyName : undefined;
  const loaded = loadFrom(policyFile, policyFile === undefined ? undefined : toolNames(lists.value));
  if (!loaded.ok) return failure("SG-POLICY", loaded.error);
  const { policy } = loaded.value;
  if (policy === undefined) {
    return failure("SG-POLICY", whyUnloadable(policyFile ?? defaultPolicyName, loaded.value.diagnostics));
  }
  const several = Object.keys(lists.value).length > 1;
  const tools = Object.entries(lists.value).flatMap(([server, listed]) =>
    listed.map((tool) => {
      const { may, because } = inferTool(tool);
      const asked = { server, tool: stringMember(tool, "name") ?? "", listed: tool, digestOf: toolDigest };
      return { ...explainTool(policy, asked), suggested: { effects: may, because } };
    }),
  );
  return {
    exitCode: 0,
    json: { tools: tools.map((tool) => ({ ...(several ? { server: tool.server } : {}), ...labelled(tool) })) },
    text: tools.length === 0 ? "The manifest lists no tool." : readable(tools, several),
  };
}

type LabelledTool = ToolExplanation & {
  readonly suggested: { readonly effects: readonly string[]; readonly because: readonly string[] };
};

/** The labels of one tool as DESIGN 6 has them; `certain` is what it does for sure, `effects` all it may do. */
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
    // What names, schema and hints let suppose. It narrows nothing unless the policy trusts the server.
    suggested: tool.suggested,
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
  const guesses = unknown.map(({ tool, suggested }) => {
    const reasons = suggested.because.length === 0 ? "nothing says what it does" : suggested.because.join(", ");
    return `  ${shown(tool, 48)}: ${listed(suggested.effects)} (${shown(reasons, 120)})`;
  });
  const hint = [
    "",
    `Nobody labelled ${unknown.length} of ${tools.length} tools, so their calls ask. Their names and hints suggest:`,
    ...guesses,
    "Label them in a policy, or trust the server there: `servers: {NAME: {trust: trusted}}`.",
  ];
  const rest = unknown.length === 0 ? [] : hint;
  return [table([["tool", "may do", "returns", "source", "arguments"], ...rows]), ...rest].join("\n");
}

function listed(effects: readonly string[]): string {
  if (effects.length > effectsShownMax * 3) return "anything";
  return effects.slice(0, effectsShownMax).join(" ") + (effects.length > effectsShownMax ? " …" : "");
}

function effectText({ effects, flags }: ToolExplanation): string {
  return [listed(effects.may), ...flags.map((flag) => `(${flag})`)].join(" ").trim() || "nothing";
}

/** `to:recipient→anyone`: what the argument means and who sees it. */
function argumentText(argument: ToolExplanation["arguments"][number]): string {
  const seen = argument.seenBy.length === 0 ? "" : `→${argument.seenBy.join("+")}`;
  return `${argument.name}:${argument.role}${seen}`;
}
