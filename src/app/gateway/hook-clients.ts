/**
 * Hook formats of MCP clients, one row each: where the facts stand in the client's JSON, what its events are called,
 * and how it wants to be answered. Another client is another row, here and in src/policy/contracts/host-tools.ts, which
 * says what its tools do; docs/hooks.md explains every field.
 */
import { type Json, type JsonObject, isArray, isObject } from "../../core/json.ts";

/** The kind of the event, in the gateway's words. */
export type HookEvent = "prompt" | "session-start" | "session-clear" | "session-end" | "pre-tool" | "post-tool";

/** The gateway's reply. `confirm` and `deny` come with a sentence for the user or the model. */
export type HookVerdict = {
  readonly verdict: "allow" | "confirm" | "deny";
  readonly sentence: string;
};

/** The output and exit code of the hook; empty output and 0 mean "no objection" to every client known so far. */
export type HookOutput = { readonly stdout: Json | undefined; readonly stderr: string; readonly exitCode: number };

export const silence: HookOutput = { stdout: undefined, stderr: "", exitCode: 0 };

/** How one of the client's events maps to ours. */
export type EventRow = {
  readonly event: HookEvent;
  /** Field whose value chooses another event: `source: clear` of a session start, for instance. */
  readonly variant?: { readonly field: string; readonly events: Readonly<Record<string, HookEvent>> };
  /** Field that holds the tool's result, for `post-tool`. */
  readonly result?: string;
  /** The tool failed; its result is an error text. */
  readonly failed?: boolean;
};

export type ClientRow = {
  /** Name given to `sluicegate hook`, and the server id `host:NAME` of the client's own tools. */
  readonly client: string;
  /** Vendor page that the row was written from. */
  readonly source: string;
  /** Names of the fields in the client's JSON. */
  readonly fields: {
    readonly event: string;
    readonly conversation: string;
    readonly cwd: string;
    readonly prompt: string;
    readonly tool: string;
    readonly arguments: string;
    readonly call: string;
    /** Present when a child agent acts, with its id. */
    readonly agent: string;
  };
  readonly events: Readonly<Record<string, EventRow>>;
  /** Tools of MCP servers: their calls go through the gateway anyway. */
  readonly isMediated: (tool: string) => boolean;
  /** Built-in tools that neither change anything nor send anything out: they go on when the gateway is away. */
  readonly harmless: readonly string[];
  readonly render: (event: HookEvent, input: JsonObject, answer: HookVerdict) => HookOutput;
};

const claudeCode: ClientRow = {
  client: "claude-code",
  source: "https://code.claude.com/docs/en/hooks",
  fields: {
    event: "hook_event_name",
    conversation: "session_id",
    cwd: "cwd",
    prompt: "prompt",
    tool: "tool_name",
    arguments: "tool_input",
    call: "tool_use_id",
    agent: "agent_id",
  },
  events: {
    UserPromptSubmit: { event: "prompt" },
    // `resume` and `compact` continue a conversation whose labels must stay; only `clear` empties the context.
    SessionStart: { event: "session-start", variant: { field: "source", events: { clear: "session-clear" } } },
    SessionEnd: { event: "session-end" },
    PreToolUse: { event: "pre-tool" },
    PostToolUse: { event: "post-tool", result: "tool_response" },
    PostToolUseFailure: { event: "post-tool", result: "error", failed: true },
  },
  // A resource is read of the server that it belongs to, like a tool of one.
  isMediated: (tool) => tool.startsWith("mcp__") || tool === "ReadMcpResourceTool",
  harmless: [
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "NotebookRead",
    "Read",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
  ],
  render: renderClaudeCode,
};

export const clients: readonly ClientRow[] = [claudeCode];

/**
 * Claude Code reads JSON from stdout when the exit code is 0. `allow` is never printed: it would skip the client's own
 * permission prompt, and the gateway has no objection, which is less than a permission.
 */
function renderClaudeCode(event: HookEvent, input: JsonObject, answer: HookVerdict): HookOutput {
  if (answer.verdict === "allow") return silence;
  switch (event) {
    case "pre-tool":
      return say({
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: answer.verdict === "confirm" ? "ask" : "deny",
          permissionDecisionReason: answer.sentence,
        },
      });
    case "post-tool":
      return "tool_response" in input ? say(withheld(input["tool_response"] ?? null, answer.sentence)) : silence;
    case "prompt":
      return answer.verdict === "deny" ? say({ decision: "block", reason: answer.sentence }) : silence;
    case "session-start":
    case "session-clear":
    case "session-end":
      return silence;
  }
}

/**
 * Replaces a tool's result. The client refuses a replacement of another shape and then shows the original, so the shape
 * is kept and only texts are emptied; the names of block types are part of the shape.
 */
function withheld(response: Json, sentence: string): JsonObject {
  let told = false;
  const blank = (value: Json, name: string): Json => {
    if (typeof value === "string") {
      if (name === "type" || told) return name === "type" ? value : "";
      told = true;
      return sentence;
    }
    if (isArray(value)) return value.map((item) => blank(item, ""));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, blank(item, key)]));
  };
  return {
    hookSpecificOutput: {
      hookEventName: "PostToolUse",
      updatedToolOutput: blank(response, ""),
      additionalContext: sentence,
    },
  };
}

function say(stdout: Json): HookOutput {
  return { stdout, stderr: "", exitCode: 0 };
}
