import { describe, expect, it } from "vitest";
import { placeOf, readingEffects, writingEffects, writtenPlaceOf } from "./paths.ts";

describe("places", () => {
  it.each([
    ["~/.ssh/id_rsa", "credential"],
    ["$HOME/.aws/credentials", "credential"],
    ["/home/ada/.ssh", "credential"],
    ["C:/Users/ada/.SSH/ID_ED25519", "credential"],
    [".env", "credential"],
    [".env.production", "credential"],
    ["certs/server.key", "credential"],
    ["/proc/self/environ", "credential"],
    ["~/.config/gh/hosts.yml", "credential"],
    ["/etc/shadow", "credential"],
    ["~/.ssh/authorized_keys", "access"],
    ["/etc/sudoers.d/ada", "access"],
    ["/etc/passwd", "access"],
    ["~/.bashrc", "startup"],
    ["/etc/profile", "startup"],
    ["~/.ssh/config", "startup"],
    ["repo/.git/hooks/pre-commit", "startup"],
    ["~/Library/LaunchAgents/x.plist", "startup"],
    ["/etc/cron.d/x", "schedule"],
    ["/etc/systemd/system/x.service", "schedule"],
    ["/etc/hosts", "system"],
    ["/usr/bin/ls", "system"],
    ["/dev/sda1", "disk"],
    ["/tmp/../dev//sda", "disk"],
    ["src/../../.bashrc", "startup"],
    ["/dev/null", "nothing"],
    ["/dev/fd/3", "nothing"],
    ["/dev/kvm", "system"],
    ["~/.ssh/id_rsa.pub", undefined],
    ["~/.ssh/known_hosts", undefined],
    ["app/.env.example", undefined],
    ["README.md", undefined],
    ["src/hooks/use-list.ts", undefined],
    ["-la", undefined],
    ["", undefined],
  ])("%s", (path, place) => {
    expect(placeOf(path)).toBe(place);
  });

  it("a glob is what it may stand for, if it says enough", () => {
    expect(placeOf("~/.s?h/id_*", true)).toBe("credential");
    expect(placeOf("~/.bash[r]c", true)).toBe("startup");
    expect(placeOf("auth*", true)).toBe("access");
    expect(placeOf("*", true)).toBeUndefined();
    expect(placeOf("src/*.ts", true)).toBeUndefined();
    expect(placeOf("~/.s?h/x", false)).toBeUndefined();
  });

  it("reading and writing do what the place means", () => {
    expect(readingEffects("credential")).toEqual(["read.local.credential"]);
    expect(readingEffects("startup")).toEqual([]);
    expect(writingEffects("access")).toEqual(["write.local.grant"]);
    expect(writingEffects(undefined)).toEqual([]);
  });

  it.each([
    [".mcp.json", "startup"],
    ["sub/AGENTS.md", "startup"],
    ["/srv/site/.vscode/tasks.json", "startup"],
    ["a/../.husky/pre-commit", "startup"],
    ["~/.cursor/rules/x.mdc", "startup"],
    [".npmrc", "credential"],
    ["/srv/site/.claude/worktrees/one/src/a.ts", undefined],
    ["/srv/site/.claude/worktrees/one/.mcp.json", "startup"],
    ["package.json", undefined],
  ])("%s, for who writes it", (path, place) => {
    expect(writtenPlaceOf(path, false)).toBe(place);
  });
});
