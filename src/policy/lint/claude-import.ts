/**
 * Permission lists of Claude Code (`permissions: {allow, ask, deny}`) as rules, where a rule says exactly the same, or
 * in `ask` and `deny` at least as much. A rule without a faithful equivalent is listed with its reason, never guessed.
 */
import { type Json, isArray, member } from "../../core/json.ts";
import { quoted } from "../document/diagnostic.ts";
import type { PatternObject } from "../document/shapes-labels.ts";
import type { PolicyDocument } from "../canonical/policy-document.ts";
import type { RuleText } from "../document/shapes-rules.ts";

export type NotImported = { readonly list: "allow" | "ask" | "deny"; readonly entry: string; readonly reason: string };
export type Imported = {
  readonly document: PolicyDocument;
  readonly imported: number;
  readonly left: readonly NotImported[];
};

const tiers = { deny: "block", ask: "confirm", allow: "allow" } as const;
const entriesMax = 2_000;
const hostServer = "host:claude-code";

/** `settings` is the parsed settings file, or its `permissions` part. */
export function importClaudePermissions(settings: Json): Imported {
  const permissions = member(settings, "permissions") ?? settings;
  const rules: RuleText[] = [];
  const left: NotImported[] = [];
  for (const list of ["deny", "ask", "allow"] as const) {
    const entries = member(permissions, list);
    // A word where a list belongs must not be lost: it may be what forbids.
    if (entries !== undefined && entries !== null && !isArray(entries)) {
      left.push({ list, entry: JSON.stringify(entries).slice(0, 200), reason: "it is not a list" });
    }
    if (!isArray(entries)) continue;
    for (const [index, entry] of entries.entries()) {
      const said = typeof entry === "string" ? entry : (JSON.stringify(entry) ?? "");
      const found = index >= entriesMax ? `more than ${entriesMax} entries` : patternOf(said, list);
      if (typeof found === "string") left.push({ list, entry: said.slice(0, 200), reason: found });
      else rules.push(ruleOf(list, index, found, said));
    }
  }
  return { document: { version: 1, extends: ["default"], rules }, imported: rules.length, left };
}

function ruleOf(list: "allow" | "ask" | "deny", index: number, when: PatternObject, said: string): RuleText {
  return {
    id: `claude-${list}-${index + 1}`,
    tier: tiers[list],
    when,
    why: `your Claude Code settings ${list} ${quoted(said)}`,
  };
}

/** The pattern of an entry, or the reason why it has none. */
function patternOf(entry: string, list: "allow" | "ask" | "deny"): PatternObject | string {
  const mcp = /^mcp__([^()]+?)(?:__([^()]+))?$/.exec(entry);
  if (mcp !== null) return mcpPattern(mcp[1] ?? "", mcp[2]);
  const match = /^([A-Za-z]+)(?:\((.*)\))?$/s.exec(entry);
  const tool = match?.[1];
  if (tool === undefined) return "the entry has a form that is not known";
  const specifier = match?.[2];
  if (specifier === undefined || specifier === "*") return { tool: `${hostServer}.${tool}` };
  return specified(tool, specifier, list);
}

function mcpPattern(server: string, tool: string | undefined): PatternObject | string {
  if (server.includes(".") || server.includes("*"))
    return "the server's name cannot be distinguished from a pattern here";
  return { tool: `${server}.${tool ?? "*"}` };
}

function specified(tool: string, specifier: string, list: "allow" | "ask" | "deny"): PatternObject | string {
  const domain = /^domain:([A-Za-z0-9.-]+)$/.exec(specifier)?.[1];
  if (tool === "WebFetch" && domain !== undefined) {
    // Here a domain includes its subdomains: more than the rule names, which is faithful only where it restricts.
    if (list === "allow") return "a domain here would also allow its subdomains";
    return { tool: `${hostServer}.WebFetch`, arg: { url: { domain } } };
  }
  if (tool === "Bash") {
    return "a prefix of a command line does not bound what the line does; calls of the shell ask by default";
  }
  return "path rules depend on where Claude Code was started and on gitignore patterns";
}
