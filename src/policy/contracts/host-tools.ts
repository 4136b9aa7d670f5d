/** Built-in tools of clients whose hooks report them (src/app/gateway/hook-clients.ts). One without a row here is unknown and asks. */
import type { Role } from "../../core/contract.ts";
import type { EffectRange } from "../../core/effect.ts";
import type { LabelCompiler, ToolStatement } from "../ir/label-table.ts";

/** `may` is empty where a tool only talks to the client itself: then nothing comes back that the client did not hold. */
type HostTool = {
  readonly may: readonly string[];
  readonly must?: readonly string[];
  readonly roles: { readonly [argument: string]: Role };
  readonly rest: Role;
};

const local: readonly string[] = ["read.local"];

/** A shell can do anything, and it may do nothing: only the upper end is known. */
const shell: HostTool = {
  must: [],
  may: ["execute.local", "execute.external"],
  roles: { command: "command", description: "content" },
  rest: "query",
};

/** A child agent uses tools like its parent, and the hooks report each of them. */
const childAgent: HostTool = { may: [], roles: {}, rest: "content" };

/**
 * Claude Code, as its documentation names tools and their inputs (docs/en/hooks, docs/en/tools-reference). A tool whose
 * effects it leaves open has no row.
 */
const claudeCode: { readonly [tool: string]: HostTool } = {
  Read: { may: local, roles: { file_path: "path" }, rest: "query" },
  // Only looks definitions and references up in files of the workspace; rules about reading hold for it, too.
  LSP: { may: local, roles: { filePath: "path", file_path: "path" }, rest: "query" },
  NotebookRead: { may: local, roles: { notebook_path: "path" }, rest: "query" },
  Glob: { may: local, roles: { path: "path" }, rest: "query" },
  Grep: { may: local, roles: { path: "path" }, rest: "query" },
  LS: { may: local, roles: { path: "path" }, rest: "query" },
  Write: { may: ["write.local"], roles: { file_path: "path" }, rest: "content" },
  Edit: { may: ["write.local"], roles: { file_path: "path" }, rest: "content" },
  MultiEdit: { may: ["write.local"], roles: { file_path: "path" }, rest: "content" },
  NotebookEdit: { may: ["write.local"], roles: { notebook_path: "path" }, rest: "content" },
  TodoWrite: { may: [], roles: {}, rest: "content" },
  TodoRead: { may: [], roles: {}, rest: "query" },
  // The list of tasks is a file, and sessions that work together share it.
  TaskCreate: { may: ["write.local"], roles: {}, rest: "content" },
  TaskUpdate: { may: ["write.local"], roles: {}, rest: "content" },
  TaskGet: { may: local, roles: {}, rest: "identifier" },
  TaskList: { may: local, roles: {}, rest: "query" },
  EnterPlanMode: { may: [], roles: {}, rest: "content" },
  ExitPlanMode: { may: [], roles: {}, rest: "content" },
  // Only the client's own user sees the questions; the options that come back are the agent's words.
  AskUserQuestion: { may: [], roles: {}, rest: "content" },
  // Looks among the tools that the client knows already; their descriptions are text of servers.
  ToolSearch: { may: [], roles: {}, rest: "query" },
  // The client asks its connected servers and names none of the agent's data; what they list is their text.
  ListMcpResourcesTool: { may: local, roles: {}, rest: "identifier" },
  Agent: childAgent,
  Task: childAgent,
  // No earlier result contains the output of a command since its start.
  BashOutput: { may: local, roles: {}, rest: "identifier" },
  TaskOutput: { may: local, roles: {}, rest: "identifier" },
  KillShell: { may: [], roles: {}, rest: "identifier" },
  TaskStop: { may: [], roles: {}, rest: "identifier" },
  // A URL that the model chose tells its host whatever the URL holds.
  WebFetch: { may: ["read.external"], roles: { url: "destination", prompt: "content" }, rest: "query" },
  WebSearch: { may: ["read.external"], roles: { query: "query" }, rest: "query" },
  Bash: shell,
  PowerShell: shell,
};

const clients: { readonly [client: string]: { readonly [tool: string]: HostTool } } = {
  "claude-code": claudeCode,
  claude: claudeCode,
};

/** Every built-in tool that some client is known to have. */
export const knownHostTools: readonly { readonly client: string; readonly tool: string }[] = Object.entries(
  clients,
).flatMap(([client, rows]) => Object.keys(rows).map((tool) => ({ client, tool })));

export function hostTools(labels: LabelCompiler, client: string, tool: string): ToolStatement | undefined {
  const rows = Object.hasOwn(clients, client) ? clients[client] : undefined;
  const row = rows !== undefined && Object.hasOwn(rows, tool) ? rows[tool] : undefined;
  if (row === undefined) return undefined;
  const effects: EffectRange = { must: row.must ?? row.may, may: row.may };
  // Tools that only talk to the client itself return no secret of their own. Trusted it is not for certain: a note comes
  // back without what its text came from, a child agent has read for itself, and servers describe their own tools.
  const silent = row.may.length === 0;
  return {
    effects,
    flags: { irreversible: false, openWorld: row.may.some((effect) => effect.includes("external")) },
    arguments: new Map(Object.entries(row.roles).map(([name, role]) => [name, { role }])),
    rest: { role: row.rest },
    ...(silent
      ? { output: { label: labels.range({ confidentiality: "inferred", trust: "unsure" }, []), fields: [] } }
      : {}),
  };
}
