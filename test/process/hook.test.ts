import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { World } from "./fixture/world.ts";

const world = new World();
afterAll(() => world.dispose());

const common = { session_id: "abc", transcript_path: "/t.jsonl", cwd: "/w", permission_mode: "default" };
const hook = async (
  input: unknown,
  where: World = world,
): Promise<{ code: number | null; out: unknown; stderr: string }> => {
  const { code, stdout, stderr } = await where.finish(["hook", "claude-code"], JSON.stringify(input));
  return { code, out: stdout === "" ? undefined : JSON.parse(stdout), stderr };
};

const events: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  ["prompt", { hook_event_name: "UserPromptSubmit", prompt: "do it" }, { event: "prompt", prompt: "do it" }],
  ["start", { hook_event_name: "SessionStart", source: "startup" }, { event: "session-start", source: "startup" }],
  ["resume", { hook_event_name: "SessionStart", source: "resume" }, { event: "session-start", source: "resume" }],
  ["compact", { hook_event_name: "SessionStart", source: "compact" }, { event: "session-start", source: "compact" }],
  ["clear", { hook_event_name: "SessionStart", source: "clear" }, { event: "session-clear", source: "clear" }],
  ["end", { hook_event_name: "SessionEnd", reason: "logout" }, { event: "session-end" }],
  [
    "pre-tool",
    { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "t1" },
    { event: "pre-tool", tool: "Bash", arguments: { command: "ls" }, call: "t1" },
  ],
  [
    "post-tool",
    {
      hook_event_name: "PostToolUse",
      tool_name: "Read",
      tool_input: { file_path: "/x" },
      tool_response: { type: "text" },
    },
    { event: "post-tool", tool: "Read", arguments: { file_path: "/x" }, result: { type: "text" } },
  ],
  [
    "failed tool",
    { hook_event_name: "PostToolUseFailure", tool_name: "Bash", tool_input: { command: "x" }, error: "exit 1" },
    { event: "post-tool", tool: "Bash", arguments: { command: "x" }, result: "exit 1", failed: true },
  ],
];

test.each(events)("%s: the daemon is told, and without an objection nothing is printed", async (_, input, request) => {
  expect(await hook({ ...common, ...input })).toEqual({ code: 0, out: undefined, stderr: "" });
  const { process: client, above, ...told } = world.requests().at(-1) ?? {};
  expect(above).toContainEqual({ pid: expect.any(Number) as unknown, startedAt: expect.any(String) as unknown });
  expect(told).toEqual({ kind: "hook", client: "claude-code", conversation: "abc", cwd: "/w", ...request });
  // The client is whoever started the hook: this very process.
  expect(client).toMatchObject({ pid: process.pid });
});

test("a deny and a doubt before a tool", async () => {
  const input = { ...common, hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "forbidden" } };
  expect((await hook(input)).out).toEqual({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: "The word is deny.",
    },
  });
  const doubtful = await hook({ ...input, tool_input: { command: "doubtful" } });
  expect(doubtful.out).toMatchObject({ hookSpecificOutput: { permissionDecision: "ask" } });
});

test("a withheld result keeps its shape and loses its texts; a denied prompt is blocked", async () => {
  const response = {
    stdout: "forbidden secret",
    stderr: "more",
    interrupted: false,
    blocks: [{ type: "text", text: "x" }],
  };
  const post = {
    ...common,
    hook_event_name: "PostToolUse",
    tool_name: "Bash",
    tool_input: {},
    tool_response: response,
  };
  expect((await hook(post)).out).toEqual({
    hookSpecificOutput: {
      hookEventName: "PostToolUse",
      updatedToolOutput: {
        stdout: "The word is deny.",
        stderr: "",
        interrupted: false,
        blocks: [{ type: "text", text: "" }],
      },
      additionalContext: "The word is deny.",
    },
  });
  const prompt = await hook({ ...common, hook_event_name: "UserPromptSubmit", prompt: "forbidden" });
  expect(prompt.out).toEqual({ decision: "block", reason: "The word is deny." });
});

test("tools of MCP servers and unknown events pass without a question", async () => {
  const before = readFileSync(`${world.home}/requests.jsonl`, "utf8");
  const passed = [
    { hook_event_name: "PreToolUse", tool_name: "mcp__github__push", tool_input: { text: "forbidden" } },
    { hook_event_name: "PreToolUse", tool_name: "ReadMcpResourceTool", tool_input: { uri: "forbidden" } },
    { hook_event_name: "Notification", message: "forbidden" },
  ];
  for (const input of passed)
    expect(await hook({ ...common, ...input })).toEqual({ code: 0, out: undefined, stderr: "" });
  expect(readFileSync(`${world.home}/requests.jsonl`, "utf8")).toBe(before);
});

test("no daemon possible: consequential tools ask, everything else passes silently", async () => {
  const broken = new World();
  broken.env["SLUICEGATE_RUNTIME_DIR"] = `/proc/self/none`;
  const pre = { ...common, hook_event_name: "PreToolUse", tool_input: {} };
  for (const tool of ["Bash", "Write", "WebFetch", "SomeNewTool"]) {
    const { out, code } = await hook({ ...pre, tool_name: tool }, broken);
    expect(code).toBe(0);
    expect(out).toMatchObject({ hookSpecificOutput: { permissionDecision: "ask" } });
    expect(JSON.stringify(out)).toContain("SLUICEGATE_RUNTIME_DIR");
  }
  const silent = [
    { ...pre, tool_name: "Read" },
    { ...common, hook_event_name: "PostToolUse", tool_name: "Bash", tool_response: "x" },
    { ...common, hook_event_name: "UserPromptSubmit", prompt: "x" },
  ];
  for (const input of silent) expect(await hook(input, broken)).toEqual({ code: 0, out: undefined, stderr: "" });
  await broken.dispose();
});

test("wrong use and garbage end with 2, which blocks", async () => {
  for (const [words, input, sentence] of [
    [["hook"], "{}", "needs the name of one client"],
    [["hook", "emacs"], "{}", "claude-code"],
    [["hook", "claude-code"], "[]", "not a JSON object"],
    [["hook", "claude-code"], "{", "not a JSON object"],
    [["hook", "claude-code"], "x".repeat(17 * 1024 * 1024), "over 16 MB"],
  ] as const) {
    const result = await world.finish(words, input);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(sentence);
  }
});
