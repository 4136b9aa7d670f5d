// Rules that `approve --always` writes and takes back.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addRule, removeRule, userPolicyFile } from "./user-rules.ts";

const rule = '{"id":"always-1","tier":"allow","when":{"tool":"notes.add"},"why":"approved"}';
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "sluicegate-rules-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const path = (name: string): string => join(folder, name);

describe("a rule of the user", () => {
  it("makes the policy that is not there yet, on top of the default, readable by its owner alone", () => {
    const file = path("new/policy.yaml");
    expect(addRule(file, rule)).toMatchObject({ ok: true });
    expect(readFileSync(file, "utf8")).toContain("extends: [default]");
    expect(readFileSync(file, "utf8")).toContain("always-1");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("leaves comments, order and permissions, and undo gives the old text back", () => {
    const before =
      '# mine\nversion: 1\nextends: [default] # base\nrules:\n  # no mail\n  - {id: NO, tier: block, when: {tool: "mail.*"}, why: "none"}\n';
    writeFileSync(path("p.yaml"), before, { mode: 0o640 });
    expect(addRule(path("p.yaml"), rule)).toMatchObject({ ok: true });
    const text = readFileSync(path("p.yaml"), "utf8");
    expect(text).toMatch(/# mine[^]*# base[^]*# no mail[^]*always-1/);
    expect(addRule(path("p.yaml"), rule), "twice is once").toMatchObject({ ok: true });
    expect(readFileSync(path("p.yaml"), "utf8")).toBe(text);
    expect(statSync(path("p.yaml")).mode & 0o777).toBe(0o640);
    expect(removeRule(path("p.yaml"), "always-1")).toEqual({ ok: true, value: true });
    expect(readFileSync(path("p.yaml"), "utf8")).toBe(before);
    expect(removeRule(path("p.yaml"), "always-1")).toEqual({ ok: true, value: false });
  });

  it("keeps JSON JSON, and writes behind a link", () => {
    writeFileSync(path("p.json"), '{"version": 1, "extends": ["default"]}\n');
    symlinkSync(path("p.json"), path("link.json"));
    expect(addRule(path("link.json"), rule)).toMatchObject({ ok: true });
    expect(JSON.parse(readFileSync(path("p.json"), "utf8"))).toMatchObject({ rules: [{ id: "always-1" }] });
    expect(statSync(path("link.json")).ino).toBe(statSync(path("p.json")).ino);
  });

  it.each([
    ["no policy at all", "- 1\n"],
    ["rules that are no list", "version: 1\nrules: {}\n"],
    ["broken YAML", "version: [1\n"],
    ["a policy that does not load", "version: 1\nnonsense: 1\n"],
  ])("changes nothing where the file is %s", (_name, text) => {
    writeFileSync(path("p.yaml"), text);
    expect(addRule(path("p.yaml"), rule).ok).toBe(false);
    expect(readFileSync(path("p.yaml"), "utf8")).toBe(text);
  });

  it("that would not load is not written", () => {
    writeFileSync(path("p.yaml"), "version: 1\nextends: [default]\n");
    expect(addRule(path("p.yaml"), '{"id":"always-2","tier":"maybe"}')).toMatchObject({
      ok: false,
      error: expect.stringContaining("nothing was changed"),
    });
  });

  it("goes into the policy in force, else into the one that `run` reads", () => {
    mkdirSync(path("c"), { recursive: true });
    expect(userPolicyFile("/w/p.yaml", {})).toBe("/w/p.yaml");
    expect(userPolicyFile("default", { XDG_CONFIG_HOME: path("c") })).toBe(path("c/sluicegate/policy.yaml"));
    expect(userPolicyFile(undefined, { XDG_CONFIG_HOME: path("c") })).toBe(path("c/sluicegate/policy.yaml"));
  });
});
