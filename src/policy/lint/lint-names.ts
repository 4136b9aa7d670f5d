/**
 * Names in a policy that no known list of tools has. A list from a server is complete; one from a pack belongs to the
 * version that the pack was made for, so there only a name beside a known one is reported, as a note.
 */
import { unescapeToken } from "../../core/pointer.ts";
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type DocumentPath, type Problem, information, quoted, warning } from "../document/diagnostic.ts";
import type { Pattern, Predicate, ToolSelector } from "../ir/ir.ts";
import { nearestWord, suggestion } from "../document/nearest.ts";
import type { ToolLists } from "../contracts/contracts.ts";
import { patternsOf } from "../semantics/monitors.ts";
import { nameMatches } from "../semantics/patterns.ts";

/** The tools and arguments that a rule, a hazard or an entry of `labels` names, and its place. */
type Mention = {
  readonly who: string;
  readonly path: DocumentPath;
  readonly tools: readonly ToolSelector[];
  readonly args: readonly string[];
};

/** `from` is the origin of the lists: the servers themselves, or the packs that the policy gives them. */
export function lintNames(policy: CompiledPolicy, lists: ToolLists, from: "servers" | "packs"): readonly Problem[] {
  const labels = policy.table.entries.map(({ server, tool, statement }): Mention => {
    const path = ["labels", `${server}.${tool}`];
    return { who: "`labels`", path, tools: [{ server, tool }], args: [...statement.arguments.keys()] };
  });
  const rules = [...ruleMentions(policy), ...hazardMentions(policy)];
  // The loader refuses a rule about a tool that its server does not list; what is labelled is known whatever a pack lists.
  const labelled = new Set(policy.table.entries.map(({ server, tool }) => `${server}.${tool}`));
  const tools = from === "servers" ? labels : rules;
  return [
    ...tools.flatMap((mention) => strangeTools(mention, lists, from === "packs" ? labelled : undefined)),
    ...[...labels, ...rules].flatMap((mention) => strangeArguments(mention, lists, from)),
  ];
}

function ruleMentions({ ir }: CompiledPolicy): readonly Mention[] {
  return ir.rules.flatMap((rule) => {
    // The second half of `exactlyOnce` is about the same calls as the first.
    if (rule.id.endsWith("/end")) return [];
    const patterns = rule.kind === "plain" ? [rule.when] : patternsOf(rule.temporal);
    const spent = rule.kind === "temporal" && rule.temporal.kind === "budget" ? [rule.temporal.argument] : [];
    const head = { who: `rule ${quoted(rule.id)}`, path: ["rules", rule.id] };
    return patterns.map((pattern) => mentionOf(pattern, ir.predicates, { ...head, spent }));
  });
}

function hazardMentions({ ir }: CompiledPolicy): readonly Mention[] {
  return ir.hazards.flatMap((hazard) => {
    const head = { who: `hazard ${quoted(hazard.id)}`, path: ["hazards", hazard.id], spent: [] };
    const patterns =
      hazard.kind === "temporal" ? patternsOf(hazard.temporal) : [hazard.kind === "call" ? hazard.call : hazard.to];
    return patterns.map((pattern) => mentionOf(pattern, ir.predicates, head));
  });
}

type Head = Pick<Mention, "who" | "path"> & { readonly spent: readonly string[] };

function mentionOf(pattern: Pattern, predicates: readonly Predicate[], { who, path, spent }: Head): Mention {
  const tested = pattern.predicates.flatMap(({ index }) => {
    const predicate = predicates[index];
    return predicate?.kind === "argument" ? [predicate.argument] : [];
  });
  const args = [...tested, ...pattern.data.flatMap(({ names }) => names ?? []), ...spent].map(topOf);
  return { who, path, tools: pattern.tools ?? [], args: [...new Set(args)] };
}

/** The argument that a JSON Pointer leads into. */
function topOf(place: string): string {
  const [first = ""] = place.slice(1).split("/");
  return place.startsWith("/") ? unescapeToken(first) : place;
}

function listOf(lists: ToolLists, server: string): readonly JsonObject[] | undefined {
  return Object.hasOwn(lists, server) ? lists[server] : undefined;
}

const nameOf = (tool: JsonObject): string => stringMember(tool, "name") ?? "";

/** `labelled` = the lists are those of packs, which may be older than the server, and these tools are known besides. */
function strangeTools({ who, path, tools }: Mention, lists: ToolLists, labelled?: ReadonlySet<string>): Problem[] {
  return tools.flatMap(({ server, tool }) => {
    const listed = listOf(lists, server)?.map(nameOf);
    const selector = `${server}.${tool}`;
    if (listed === undefined || tool.includes("*") || listed.includes(tool)) return [];
    if (labelled === undefined) {
      const message = `${quoted(selector)} is labelled, but its server lists no such tool`;
      return [warning("TOOL", path, message, suggestion(tool, listed, "remove the labels"))];
    }
    const nearest = nearestWord(tool, listed);
    if (nearest === undefined || labelled.has(selector)) return [];
    const message = `${who} speaks of ${quoted(selector)}, which the pack of that server does not list`;
    return [information("TOOL", path, message, `did you mean \`${nearest}\`?`)];
  });
}

/** An argument that no tool has of which the mention speaks, where all of them say which they have. */
function strangeArguments({ who, path, tools, args }: Mention, lists: ToolLists, from: "servers" | "packs"): Problem[] {
  if (args.length === 0 || tools.length === 0) return [];
  const known = new Set<string>();
  let found = false;
  for (const { server, tool } of tools) {
    const listed = listOf(lists, server);
    if (listed === undefined) return [];
    for (const each of listed.filter((one) => nameMatches(tool, nameOf(one)))) {
      const own = argumentsOf(each);
      if (own === undefined) return [];
      found = true;
      for (const name of own) known.add(name);
    }
  }
  const [first = { server: "", tool: "" }] = tools;
  const lacks =
    tools.length === 1 ? `${quoted(`${first.server}.${first.tool}`)} does not list` : "none of its tools lists";
  return args.flatMap((name) => {
    if (!found || known.has(name)) return [];
    const message = `${who}: ${quoted(name)} is an argument that ${lacks}`;
    const remedy = suggestion(name, [...known]);
    return [
      from === "servers" ? warning("ARGUMENT", path, message, remedy) : information("ARGUMENT", path, message, remedy),
    ];
  });
}

/** Words of a schema by which arguments come from elsewhere than `properties`. */
const open = ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"] as const;

/** Arguments that a tool says it has; undefined where it may have others. */
function argumentsOf(tool: JsonObject): readonly string[] | undefined {
  const schema = member(tool, "inputSchema");
  const properties = member(schema, "properties");
  if (!isObject(schema) || !isObject(properties) || open.some((word) => Object.hasOwn(schema, word))) return undefined;
  const more = member(schema, "additionalProperties");
  return more === undefined || more === false ? Object.keys(properties) : undefined;
}
