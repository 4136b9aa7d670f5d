import { describe, expect, it } from "vitest";
import { foldedName, guardOfName, linkLeaves } from "./guarded.ts";

describe("guarded names", () => {
  it.each([
    [".git/hooks/pre-commit", "git-hook"],
    ["vendor/lib/.git/config", "git-config"],
    [".git", "git-folder"],
    [".GIT/Hooks/x", "git-hook"],
    [".git./hooks/x", "git-hook"],
    [".g\u200Cit/hooks/x", "git-hook"],
    ["GIT~1/config", "git-config"],
    [".git::$INDEX_ALLOCATION/config", "git-config"],
    [".ｇｉｔ/config", "git-config"],
    [".mcp.json", "agent-servers"],
    ["docs/AGENTS.md", "agent-rules"],
    ["claude.md", "agent-rules"],
    [".cursor/rules/x.mdc", "agent-rules"],
    [".github/copilot-instructions.md", "agent-rules"],
    [".vscode/tasks.json", "editor-tasks"],
    [".idea/runConfigurations/x.xml", "editor-tasks"],
    [".envrc", "shell-start"],
    [".bashrc ", "shell-start"],
    [".npmrc", "package-manager"],
    ["packages/a/node_modules/.bin/tsc", "program-path"],
    [".github/workflows/ci.yml", "pipeline"],
  ])("%s is guarded as %s", (path, id) => {
    expect(guardOfName(path, false)?.id).toBe(id);
  });

  it.each([
    "package.json",
    "Makefile",
    "src/hooks/x",
    ".git/index",
    ".git/objects/aa/bb",
    ".gitignore",
    ".github/README.md",
    ".vscode/snippets.code-snippets",
    "node_modules/x/index.js",
    "agents.mdx",
  ])("%s is not", (path) => {
    expect(guardOfName(path, false)).toBeUndefined();
  });

  it("lets a server make a folder `.git`, whose config and hooks are guarded by themselves", () => {
    expect(guardOfName(".git", true)).toBeUndefined();
  });

  it("folds a name of dots to itself, so that `..` stays what it is", () => {
    expect(foldedName("..")).toBe("..");
  });
});

describe("links", () => {
  it.each([
    ["a", "b", false],
    ["d/a", "../b", false],
    ["a", "/ws/b", false],
    ["a", "/ws", false],
    ["a", "../b", true],
    ["d/a", "../../b", true],
    ["a", "/etc", true],
    ["a", "/ws/../x", true],
    ["a", "/wsx", true],
    // `x` may be a link itself, and `..` behind it would climb from where it leads.
    ["p/q/y", "x/../../s", true],
  ])("%s -> %s leaves: %s", (path, target, leaves) => {
    expect(linkLeaves(path, target, "/ws")).toBe(leaves);
  });
});
