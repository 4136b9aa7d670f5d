/** Names of tools as a policy writes them, and the tools that they stand for. */
import { describe, expect, it } from "vitest";
import type { Problem } from "./diagnostic.ts";
import { resolveName, splitSelector } from "./names.ts";

const tools = new Map([
  ["mail", new Set(["send", "read.all", "files.read"])],
  ["files", new Set(["read", "send"])],
]);

function resolved(name: string, all: boolean) {
  const problems: Problem[] = [];
  const listed = all ? new Set(["mail", "files", "idle"]) : undefined;
  const naming = { known: { tools, listed }, report: (found: Problem): void => void problems.push(found) };
  return { full: resolveName(name, naming, ["rules", "R"]), problems };
}

it.each([
  ["a.b", "a", "b"],
  ["a.b.c", "a", "b.c"],
  ["*.b", "*", "b"],
  ["b", "*", "b"],
  [".b", "", "b"],
  ["a.", "a", ""],
])("%s is of the server %j the tool %j", (selector, server, tool) => {
  expect(splitSelector(selector)).toEqual({ server, tool });
});

describe.each([false, true])("with the lists of all servers: %s", (all) => {
  it.each([
    ["read", "files.read"],
    ["read.all", "mail.read.all"],
    // Both a tool of one server and the name of another server with a tool: the name with a server is the plainer one.
    ["files.read", "files.read"],
    ["mail.files.read", "mail.files.read"],
    ["other.tool", "other.tool"],
    ["mail.*", "mail.*"],
    ["m*.send", "m*.send"],
    ["*.send", "*.send"],
    ["s*", "*.s*"],
    ["host:claude-code.Bash", "host:claude-code.Bash"],
  ])("%s is %s", (name, full) => {
    expect(resolved(name, all)).toEqual({ full, problems: [] });
  });

  it("a name of two tools is neither", () => {
    expect(resolved("send", all)).toEqual({
      full: "*.send",
      problems: [
        {
          code: "SG-POLICY-AMBIGUOUS",
          severity: "error",
          path: ["rules", "R"],
          message: "`send` is a tool of 2 servers",
          remedy: "write one of `mail.send`, `files.send`",
        },
      ],
    });
  });

  it("a client is no tool", () => {
    expect(resolved("host:claude-code", all)).toEqual({
      full: "host:claude-code.*",
      problems: [
        {
          code: "SG-POLICY-TOOL",
          severity: "error",
          path: ["rules", "R"],
          message: "`host:claude-code` names a client, and none of its own tools",
          remedy: "write `host:claude-code.*` for all of them",
        },
      ],
    });
  });
});

it.each([
  ["raed", "*.raed", "no known server has a tool `raed`", "did you mean `read`?"],
  [".send", "*..send", "no known server has a tool `.send`", "did you mean `send`?"],
  ["mail.sned", "mail.sned", "server `mail` has no tool `sned`", "did you mean `send`?"],
  ["idle.send", "idle.send", "server `idle` has no tool `send`", "remove it"],
])(
  "%s is unknown where all servers are known, and may be any server's where they are not",
  (name, full, message, remedy) => {
    expect(resolved(name, false)).toEqual({ full, problems: [] });
    expect(resolved(name, true)).toEqual({
      full,
      problems: [{ code: "SG-POLICY-TOOL", severity: "error", path: ["rules", "R"], message, remedy }],
    });
  },
);
