import { describe, expect, it } from "vitest";
import {
  contentSources,
  isHeadPath,
  isRepositoryHead,
  obeyedByContent,
  repositoriesAround,
  tellsByContent,
} from "./obeyed-content.ts";

describe("files whose content tells that programs obey them", () => {
  it.each([
    ["docs/HEAD", "ref: refs/heads/main\n", "embedded-repository"],
    ["docs/head", "ref:\trefs/heads/x", "embedded-repository"],
    ["HEAD", "0123456789abcdef0123456789abcdef01234567\n", "embedded-repository"],
    ["docs/HEA\u200CD", "ref: refs/heads/main\n", "embedded-repository"],
    ["docs/config", "[core]\n\tfsmonitor = touch /tmp/x", "git-config"],
    ["config", "[user] name = x\n[CORE] hooksPath=.", "git-config"],
    ["config", '[filter "x"] smudge = sh', "git-config"],
    [".gitmodules", '[submodule "a"]\n  update = !touch x', "git-config"],
    [".gitmodules", "url = ext::sh -c x", "git-config"],
    [".env", "A=$(curl x)", "shell-start"],
    [".env.local", "A=`id`", "shell-start"],
    [".eslintrc.json", '{"parser": "./evil.js"}', "tool-config"],
    [".prettierrc", "plugins:\n  - ./evil.js", "tool-config"],
    [".rubocop.yml", "require: ./evil", "tool-config"],
    [".pylintrc", "init-hook='import os'", "tool-config"],
    ["mypy.ini", "[mypy]\nplugins = evil.py", "tool-config"],
    [".flake8", "[flake8:local-plugins]\nextension = X", "tool-config"],
  ])("%s with %j is one: %s", (path, content, id) => {
    expect(tellsByContent(path)).toBe(true);
    expect(obeyedByContent(path, content)?.id).toBe(id);
    expect(obeyedByContent(path, undefined)?.id).toBe(id);
  });

  it.each([
    ["docs/HEAD", "the head of the page"],
    ["config", "a: 1\nhosts: [core1]"],
    ["config", "[default]\nregion = x"],
    [".gitmodules", '[submodule "a"]\n  path = a\n  url = https://example.com/a.git'],
    [".env", "KEY=value\nB=1"],
    [".eslintrc.json", '{"extends": "eslint:recommended"}'],
    [".flake8", "[flake8]\nmax-line-length = 100"],
  ])("%s with %j is not", (path, content) => {
    expect(obeyedByContent(path, content)).toBeUndefined();
  });

  it("leaves the repository of the workspace and other names to their own rules", () => {
    for (const path of [".git/HEAD", "vendor/.GIT/config", "heads", "src/config.ts", "x/HEAD.md"]) {
      expect(tellsByContent(path)).toBe(false);
      expect(obeyedByContent(path, "ref: refs/heads/main")).toBeUndefined();
    }
    expect([isHeadPath("a/HEAD"), isHeadPath(".git/HEAD"), isHeadPath("a/config")]).toEqual([true, false, false]);
  });

  it("names the folders that a path would be an obeyed part of", () => {
    expect(repositoriesAround("config")).toEqual([""]);
    expect(repositoriesAround("a/b/hooks/c")).toEqual(["a/b"]);
    expect(repositoriesAround("a/objects/info/alternates")).toEqual(["a", "a/objects"]);
    expect(repositoriesAround("a/objects/ab/cd")).toEqual([]);
    expect(repositoriesAround("src/x.ts")).toEqual([]);
    expect([isRepositoryHead("ref: refs/heads/main"), isRepositoryHead("text")]).toEqual([true, false]);
  });

  it("has a page of documentation for each", () => {
    for (const source of contentSources) expect(source).toMatch(/^https:\/\//);
  });
});
