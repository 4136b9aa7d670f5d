import { describe, expect, it } from "vitest";
import { foldedName, obeyedFile } from "./execution-hooks.ts";

describe("files that programs obey", () => {
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
  ])("%s is one: %s", (path, id) => {
    expect(obeyedFile(path, false)?.id).toBe(id);
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
    expect(obeyedFile(path, false)).toBeUndefined();
  });

  it("lets a server make a folder `.git`, whose config and hooks are guarded by themselves", () => {
    expect(obeyedFile(".git", true)).toBeUndefined();
  });

  it("folds a name of dots to itself, so that `..` stays what it is", () => {
    expect(foldedName("..")).toBe("..");
  });
});
