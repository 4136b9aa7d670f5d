import { describe, expect, it } from "vitest";
import { foldedName, obeyedFile, obeyedKinds } from "./execution-hooks.ts";

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
    [".envrc", "folder-entry"],
    [".bashrc ", "shell-start"],
    [".npmrc", "package-manager"],
    ["packages/a/node_modules/.bin/tsc", "program-path"],
    [".github/workflows/ci.yml", "pipeline"],
    // Of a repository that lies anywhere, and of other version control.
    ["vendor/lib.git/hooks/post-checkout", "git-hook"],
    ["lib.git/config", "git-config"],
    [".hg/hgrc", "vcs-config"],
    ["sub/.HG/hgrc", "vcs-config"],
    [".jj/repo/config.toml", "vcs-config"],
    ["team.code-workspace", "editor-tasks"],
    ["a/b/Team.Code-Workspace", "editor-tasks"],
    [".venv/lib/python3.12/site-packages/x.pth", "program-path"],
    [".pnp.cjs", "package-manager"],
    ["Jenkinsfile", "pipeline"],
    ["ci/Jenkinsfile.release", "pipeline"],
    [".gdbinit", "interpreter-start"],
    [".tool-versions", "folder-entry"],
    ["mise.local.toml", "folder-entry"],
    [".continuerules", "agent-rules"],
    [".roorules-code", "agent-rules"],
    ["lefthook-local.yml", "git-hook"],
    [".lefthook/pre-commit/x.sh", "git-hook"],
    [".bsp/x.json", "editor-tasks"],
    [".Rprofile", "interpreter-start"],
    ["eslint.config.mjs", "editor-tasks"],
    ["jupyter_server_config.py", "interpreter-start"],
    ["home/Start Menu/Programs/Startup/x.cmd", "shell-start"],
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
    "src/x.pth",
    "docs/code-workspace",
    "docs/HEAD",
    ".hg/store/data/x.i",
    "jupyter_config",
    "jupyter__confix.py",
    "src/config",
    "tools/bazelisk",
    "hooks.git",
  ])("%s is not", (path) => {
    expect(obeyedFile(path, false)).toBeUndefined();
  });

  it("lets a server make a folder `.git`, whose config and hooks are guarded by themselves", () => {
    expect(obeyedFile(".git", true)).toBeUndefined();
  });

  it("comes from documentation: every row has a page, and no name is written twice or in a way that matches nothing", () => {
    const rows = obeyedKinds.flatMap((kind) => kind.rows);
    const names = rows.flatMap(([, patterns]) => patterns.split(" "));
    expect(names.length).toBeGreaterThan(400);
    expect(new Set(names).size).toBe(names.length);
    for (const [source, patterns] of rows) {
      expect(source).toMatch(/^(?:https:\/\/[a-z0-9.-]+\/\S*|docs\/[a-z-]+\.md)$/i);
      for (const name of patterns.split(" ")) {
        const example = name.replaceAll("*", "x");
        expect(name, name).toBe(example === name ? name.split("/").map(foldedName).join("/") : name.toLowerCase());
        expect(obeyedFile(`some/folder/${example}${name.endsWith("/") ? "file" : ""}`, false), name).toBeDefined();
      }
    }
  });

  it("matches a star between texts in their order, and nothing twice", () => {
    expect(obeyedFile("x.mise.local.toml", false)).toBeUndefined();
    expect(obeyedFile("mise.toml", false)?.id).toBe("folder-entry");
    expect(obeyedFile("jupyter_config.py", false)?.id).toBe("interpreter-start");
    expect(obeyedFile("jupyter_a_b_config.d.py", false)?.id).toBe("interpreter-start");
    expect(obeyedFile("jupyter__config.", false)).toBeUndefined();
  });

  it("folds a name of dots to itself, so that `..` stays what it is", () => {
    expect(foldedName("..")).toBe("..");
  });
});
