/** `sluicegate policy check|explain|import`: what a policy says, before anything is decided under it. */
import type { Command } from "commander";
import { type Json, member, stringMember } from "../../core/json.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { importClaudePermissions } from "../../policy/lint/claude-import.ts";
import type { Diagnostic, Problem } from "../../policy/document/diagnostic.ts";
import type { Loaded } from "../../policy/load.ts";
import { explainTool } from "../../policy/lint/explain.ts";
import type { PolicyDocument } from "../../policy/canonical/policy-document.ts";
import { importToolhiveProfile } from "../../policy/isolation/toolhive-import.ts";
import { orderSentences } from "../../policy/isolation/words.ts";
import { nearestWord } from "../../policy/document/nearest.ts";
import type { ToolLists } from "../../policy/contracts/contracts.ts";
import { lintPolicy } from "../../policy/lint/lint.ts";
import { lintNames } from "../../policy/lint/lint-names.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type Outcome, failure, refusal } from "../../app/state/outcome.ts";
import { type OptionsOf, acts, manifestOption } from "../output.ts";
import { countIn, dryRun } from "../../app/replay/dry-run.ts";
import { chosenLog, logOption } from "../../app/state/log-files.ts";
import { many, shortPath, shown } from "../../app/state/sentences.ts";
import { diagnosticLine } from "../../app/policy/diagnostic-line.ts";
import { namedTools, whyUnloadable } from "../../app/policy/named-policy.ts";
import { packedPolicy } from "../../app/proof/subject-tools.ts";
import { startProblemOf } from "../../app/policy/regulator.ts";
import { checkExpectations, outcomeOf } from "../../app/policy/expectations.ts";
import { defaultPolicyName, isShipped, toolDigest } from "../../app/policy/policy-source.ts";
import { programProblems } from "../../app/policy/rule-programs.ts";
import { stpaFindings } from "../../app/proof/for-stpa.ts";
import { textFile } from "../../app/state/text-file.ts";

/** A settings file beyond this holds more than permissions. */
export const settingsBytesMax = 4 * 1024 * 1024;

const checkOptions = { ...manifestOption, "--strict": "warnings count as errors" } as const;

const tryOptions = {
  "--runs <number>": ["decide so many of the newest runs", "100"],
  "--workspace <folder...>": "folders that count as the workspace",
  ...logOption,
} as const;

export function register(program: Command): void {
  const policy = program.command("policy").description("check, explain and import policies");
  acts(
    policy.command("check <policy>").description("read, compile and lint a policy; `default` is the built-in one"),
    checkOptions,
    (options, file: string) => check(file, options),
  );
  acts(
    policy
      .command("explain <policy> <tool>")
      .description("say what the policy believes of one tool and which rules speak of it"),
    manifestOption,
    (options, file: string, tool: string) => explain(file, tool, options),
  );
  acts(
    policy
      .command("try <policy>")
      .description(
        "decide past runs of the event log under a policy, and count by tool what would be asked or refused",
      ),
    tryOptions,
    (options, file: string) => tryOut(file, options),
  );
  acts(
    policy
      .command("import <client> <file>")
      .description("turn a client's permission list into rules; says what could not be said faithfully"),
    {},
    (_options, client: string, file: string) => importFrom(client, file),
  );
}

function tryOut(policy: string, options: OptionsOf<typeof tryOptions>): Promise<Outcome> | Outcome {
  const runsMax = countIn(options.runs);
  if (runsMax === undefined) return failure("SG-USAGE", "`--runs` takes a whole number from 1, such as `--runs 20`.");
  const log = chosenLog(options);
  if (!log.ok) return refusal(log.error);
  return dryRun({ policy, runsMax, workspace: options.workspace ?? [], log: log.value }, process.env);
}

function check(name: string, options: OptionsOf<typeof checkOptions>): Outcome {
  const lists = namedTools(options.manifest);
  if (!lists.ok) return refusal(lists.error);
  const loaded = packedPolicy(name, lists.value);
  if (!loaded.ok) return refusal(loaded.error);
  const { policy, place } = loaded.value;
  // A rule of the default that finds no tool here is not a fault of the file in question.
  const lints =
    policy === undefined ? [] : lintsOf(policy, { given: lists.value, known: loaded.value.lists }).map(place);
  const own = lints.filter((found) => name === defaultPolicyName || !isShipped(found.file));
  const silent = policy === undefined ? [] : programProblems(policy).map(place);
  const broken = policy === undefined ? [] : brokenExpectations(policy).map(place);
  const unstartable = policy === undefined ? [] : startFindings(policy, place);
  const untraced = policy === undefined ? [] : stpaFindings(policy, place);
  const diagnostics = [...loaded.value.diagnostics, ...own, ...silent, ...broken, ...unstartable, ...untraced].toSorted(
    (left, right) => rank(left) - rank(right),
  );
  const count = (severity: Diagnostic["severity"]): number =>
    diagnostics.filter((found) => found.severity === severity).length;
  const ok = count("error") === 0 && (options.strict !== true || count("warning") === 0);
  const lines = diagnostics.map((found) => `${found.severity}: ${diagnosticLine(found)}`);
  const summary = `${many(count("error"), "error")}, ${many(count("warning"), "warning")}, ${many(count("info"), "note")}`;
  const verdict = ok ? "The policy loads" : policy === undefined ? "The policy does not load" : "The policy is refused";
  const scopes = policy === undefined ? [] : scopesOf(policy, Object.keys(lists.value));
  const said = scopes.flatMap(({ sentences }) => sentences.map((sentence) => shown(sentence, 400)));
  return {
    exitCode: ok ? 0 : 1,
    json: { ok, diagnostics, ...(scopes.length === 0 ? {} : { isolation: scopes }) },
    text: [...lines, ...said, `${verdict}: ${summary}.`].join("\n"),
  };
}

type Lists = { readonly given: ToolLists; readonly known: ToolLists };

/** Findings from the given lists, and for other servers from the lists of their packs. */
function lintsOf(policy: CompiledPolicy, { given, known }: Lists): readonly Problem[] {
  const others = Object.entries(known).filter(([server]) => !Object.hasOwn(given, server));
  return [...lintPolicy(policy, given, toolDigest), ...lintNames(policy, Object.fromEntries(others), "packs")];
}

/** The scope of each server that the policy or a manifest names, and the scope of all others. */
function scopesOf(policy: CompiledPolicy, listed: readonly string[]) {
  const { isolation } = policy;
  if (isolation === undefined) return [];
  const servers = [...new Set([...isolation.named.keys(), ...listed])].toSorted();
  const named = servers.map((server) => ({ server, sentences: orderSentences(isolation.orderOf(server)) }));
  const others = isolation.orderOf("Every other server");
  return [...named, { server: "*", sentences: orderSentences(others) }];
}

/** `expect:` traces that do not hold are errors: the policy does not do what its author says it does. */
function brokenExpectations(policy: CompiledPolicy): readonly Problem[] {
  return checkExpectations(policy)
    .filter(({ holds }) => !holds)
    .map((one) => {
      const { index, expected } = one;
      const message = `expect[${index}] wants ${expected} and gets ${outcomeOf(one)}`;
      const remedy = "change the rule or the expectation";
      return { code: "SG-POLICY-EXPECT", severity: "error", path: ["expect", index], message, remedy };
    });
}

/** A hazard that no decision can prevent keeps every run from starting: reported here, before the first connection. */
function startFindings(policy: CompiledPolicy, place: Loaded["place"]): readonly Diagnostic[] {
  // Observing stops nothing, so there it is only reported at run time.
  const found = policy.settings.mode === "observe" ? undefined : startProblemOf(policy);
  if (found === undefined) return [];
  const { sentence, about } = found;
  const remedyAt = sentence.indexOf(": ");
  const parts = { message: sentence.slice(0, remedyAt), remedy: sentence.slice(remedyAt + 2) };
  const said = { code: "SG-POLICY-START", severity: "error", ...parts } as const;
  const places = about.map((path) => place({ ...said, path }));
  // A finding outside the author's documents has no place but the start of the document.
  const written = places.find(({ line, column }) => line > 1 || column > 1);
  return [written ?? place({ ...said, path: [] })];
}

const order = { error: 0, warning: 1, info: 2 } as const;

function rank(found: Diagnostic): number {
  return order[found.severity];
}

function explain(name: string, word: string, options: OptionsOf<typeof manifestOption>): Outcome {
  const lists = namedTools(options.manifest);
  if (!lists.ok) return refusal(lists.error);
  const loaded = packedPolicy(name, lists.value);
  if (!loaded.ok) return refusal(loaded.error);
  const { policy, lists: known, diagnostics } = loaded.value;
  if (policy === undefined) return failure("SG-POLICY", whyUnloadable(name, diagnostics));
  const found = resolveTool(policy, known, word);
  if (!found.ok) return failure("SG-TOOL", found.error);
  const { server, tool } = found.value;
  const listed = toolsOf(known, server).find((each) => stringMember(each, "name") === tool);
  const explanation = explainTool(policy, {
    server,
    tool,
    digestOf: toolDigest,
    ...(listed === undefined ? {} : { listed }),
  });
  const lines = explanation.sentences.map((sentence) => shown(sentence, 400));
  const packs = [...policy.table.packs.values()].filter((pack) => pack.tools.has(tool)).map((pack) => pack.name);
  if (listed === undefined && explanation.source === "unknown" && packs.length > 0) {
    lines.push(
      `The pack ${packs.join(" and ")} labels a tool of this name, tied to its exact text: add --manifest FILE.`,
    );
  }
  const near = explanation.source === "unknown" && listed === undefined ? nearestOf(policy, found.value) : undefined;
  if (near !== undefined)
    lines.push(`Nothing here names a tool \`${shown(word, 60)}\`: did you mean \`${shown(near, 80)}\`?`);
  return { exitCode: 0, json: explanation, text: lines.join("\n") };
}

/** A tool that the policy names and that is spelt nearly like this one, which it does not name. */
function nearestOf(policy: CompiledPolicy, { server, tool }: ToolName): string | undefined {
  const known = policy.table.entries.filter((each) => !each.server.includes("*") && !each.tool.includes("*"));
  const candidates = known.filter((each) => server === "any" || each.server === server);
  const nearest = nearestWord(
    tool,
    candidates.map((each) => each.tool),
  );
  const found = candidates.find((each) => each.tool === nearest);
  return found === undefined ? undefined : `${found.server}.${found.tool}`;
}

type ToolName = { readonly server: string; readonly tool: string };

function toolsOf(lists: ToolLists, server: string): ToolLists[string] {
  return (Object.hasOwn(lists, server) ? lists[server] : undefined) ?? [];
}

/** `server.tool`, or a bare name that one known server has. An unknown name is explained as it stands. */
function resolveTool(policy: CompiledPolicy, lists: ToolLists, word: string): Result<ToolName, string> {
  const known: ToolName[] = [
    ...Object.entries(lists).flatMap(([server, tools]) =>
      tools.map((tool) => ({ server, tool: stringMember(tool, "name") ?? "" })),
    ),
    ...policy.table.entries.filter(({ server, tool }) => !server.includes("*") && !tool.includes("*")),
  ];
  const exact = known.find(({ server, tool }) => `${server}.${tool}` === word);
  if (exact !== undefined) return ok(exact);
  const servers = [...new Set(known.filter(({ tool }) => tool === word).map(({ server }) => server))];
  if (servers.length > 1) {
    return err(
      `\`${shown(word, 40)}\` is a tool of ${servers.slice(0, 4).join(", ")}: write SERVER.${shown(word, 40)}.`,
    );
  }
  const [server] = servers;
  if (server !== undefined) return ok({ server, tool: word });
  if (word === "" || word.endsWith(".")) return err(`\`${shown(word, 60)}\` names no tool: write SERVER.TOOL.`);
  const dot = word.indexOf(".");
  const named = dot > 0 ? { server: word.slice(0, dot), tool: word.slice(dot + 1) } : { server: "any", tool: word };
  // A server whose list is here does not have the tool; of another one nothing is known, and that can be explained.
  if (Object.keys(lists).length > 0 && (dot <= 0 || Object.hasOwn(lists, named.server))) {
    const nearest = nearestWord(word, [
      ...known.map(({ tool }) => tool),
      ...known.map((each) => `${each.server}.${each.tool}`),
    ]);
    const hint = nearest === undefined ? "check its name in the manifest" : `did you mean \`${shown(nearest, 80)}\`?`;
    return err(`No known server has a tool \`${shown(word, 60)}\`: ${hint}`);
  }
  return ok(named);
}

type Importer = (settings: Json) => {
  readonly document: PolicyDocument;
  readonly imported: number;
  readonly left: readonly { readonly list: string; readonly entry: string; readonly reason: string }[];
};

/** `members`: a file with none of them is something else, and nothing imported from it would look like nothing forbidden. */
type Source = { readonly read: Importer; readonly members: readonly string[]; readonly file: string };

const claude: Source = {
  read: importClaudePermissions,
  members: ["permissions", "deny", "ask", "allow"],
  file: "a `settings.json` of Claude Code",
};
const toolhive: Source = {
  read: importToolhiveProfile,
  members: ["read", "write", "network", "privileged"],
  file: "a permission profile of ToolHive",
};
const importers: Readonly<Record<string, Source>> = { claude, "claude-code": claude, toolhive };

function importFrom(client: string, file: string): Outcome {
  const source = Object.hasOwn(importers, client) ? importers[client] : undefined;
  if (source === undefined) {
    const words = Object.keys(importers).join(", ");
    return failure(
      "SG-USAGE",
      `\`${shown(client, 40)}\` has no permission list that is known here: use \`policy import\` with ${words}.`,
    );
  }
  const text = textFile(file, settingsBytesMax);
  if (!text.ok) {
    const { error } = text;
    const sentence =
      error.kind === "large"
        ? `${shortPath(file)} is larger than ${settingsBytesMax} bytes: give a settings file.`
        : `${shortPath(file)} cannot be read (${error.why}): check the path of the settings file.`;
    return failure("SG-IMPORT", sentence);
  }
  const settings = text.value.isWellFormed() ? readJson(text.value) : undefined;
  if (settings === undefined) return failure("SG-IMPORT", `${shortPath(file)} is not JSON: correct it there.`);
  if (!source.members.some((name) => member(settings, name) !== undefined)) {
    const names = source.members.map((name) => `\`${name}\``).join(", ");
    return failure("SG-IMPORT", `${shortPath(file)} has none of ${names}: name ${source.file}.`);
  }
  const { document, imported, left } = source.read(settings);
  const notes = left.map((each) => `# not imported: ${each.list} ${shown(each.entry, 80)}: ${each.reason}`);
  // JSON is YAML, so the output can be saved as a policy as it stands.
  const policy = JSON.stringify(document, undefined, 2);
  const head = `# ${imported} entries imported, ${left.length} left out; without them the default holds.`;
  return {
    exitCode: left.length === 0 ? 0 : 1,
    json: { imported, left, policy: document },
    text: [head, ...notes, policy].join("\n"),
  };
}
