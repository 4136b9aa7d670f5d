import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argument, contract } from "../../../../test/kit/policy/scene.ts";
import type { ToolContract } from "../../../core/contract.ts";
import { everyEffect } from "../../../core/effect.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import {
  argumentEffects,
  argumentLeavesMax,
  argumentReason,
  argumentUnitsMax,
  revealedContract,
} from "./argument-effects.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const shell = contract("run", {
  effects: { must: ["execute.local"], may: ["execute.local"] },
  arguments: new Map([
    ["command", argument("command", false)],
    ["code", argument("command", false)],
  ]),
});
const files = contract("write", {
  effects: { must: ["write.local"], may: ["write.local"] },
  arguments: new Map([["path", argument("path", false)]]),
});
const reader = contract("read", {
  effects: { must: ["read.local"], may: ["read.local"] },
  arguments: new Map([["paths", argument("path", false)]]),
});
const fetcher = contract("fetch", {
  effects: { must: ["read.external"], may: ["read.external"] },
  arguments: new Map([["url", argument("destination", true)]]),
});
const added = (of: ToolContract, given: JsonObject): readonly string[] =>
  argumentEffects(of, given).effects.filter((effect) => !of.effects.must.includes(effect));

describe("an argument whose role is in doubt", () => {
  const of = (...may: readonly string[]): ToolContract =>
    contract("do", { effects: { must: [], may }, arguments: new Map([["x", argument("unsure", false)]]) });

  it.each<[string, readonly string[], Json, readonly string[]]>([
    ["a command of a tool that runs some", ["execute.local"], "git push origin", ["write.external.publish"]],
    ["an address", ["read.external"], "https://example.com/a", []],
    ["the address of a cloud's keys", ["write.external"], "http://169.254.169.254/x", ["read.external.credential"]],
    ["a file by its address", ["read.external"], "file:///home/me/a", ["read.local"]],
    ["a path that is written", ["write.external"], "/home/me/a", []],
    ["a file that is obeyed", ["write.local"], ".bashrc", ["write.local.config"]],
    ["a path that is read", ["read.local"], "./a", []],
    ["a secret that is read", ["read.local"], "id_rsa", ["read.local.credential"]],
    ["the name of a secret of a tool that only writes", ["write.external"], "$API_KEY", []],
    ["a word", ["write.external", "read.external"], "carrots in march", []],
    ["words", ["write.external"], ["carrots", 7], []],
  ])("is read as the form of its value: %s", (_, may, x, effects) => {
    expect(added(of(...may), { x })).toEqual(effects);
  });

  it("is read whole, and no further than any other", () => {
    expect(argumentEffects(of("read.local"), { x: "a".repeat(argumentUnitsMax + 1) }).flags).toContain("unreadable");
  });
});

describe("commands", () => {
  it.each<[string, Json, readonly string[]]>([
    ["a text", "git push origin", ["write.external.publish"]],
    ["words without a shell", ["git", "push", "origin; rm a"], ["write.external.publish"]],
    [
      "words that a server joins",
      ["cat", "a", "|", "nc", "h", "1"],
      ["read.external", "read.local", "write.external.send"],
    ],
    ["texts in an object", { steps: ["rm a", 5, { next: "ls" }] }, ["read.local", "write.local", "write.local.delete"]],
    ["no text", 7, []],
  ])("%s", (_, command, effects) => {
    expect(added(shell, { command })).toEqual(effects);
  });

  it("of another language, and of tools that run nothing, are not read", () => {
    expect(added(shell, { code: "if (x) { rm a }" })).toEqual([]);
    expect(added({ ...shell, effects: { must: [], may: ["read.local"] } }, { command: "rm a" })).toEqual([]);
    expect(added(shell, { other: "rm a" })).toEqual([]);
  });

  it("that cannot be read, or are too many, count as everything", () => {
    expect(argumentEffects(shell, { command: "echo 'a" })).toMatchObject({
      parsed: false,
      effects: everyEffect.toSorted(),
    });
    const many = Array.from({ length: argumentLeavesMax + 1 }, () => ({ a: "ls" }));
    expect(argumentEffects(shell, { command: many }).flags).toEqual(["unreadable"]);
  });
});

describe("paths and addresses", () => {
  it.each<[ToolContract, JsonObject, readonly string[], readonly string[]]>([
    [files, { path: "/home/ada/.bashrc" }, ["write.local.config"], ["persistence"]],
    [files, { path: "file:///home/ada/.ssh/authorized_keys" }, ["write.local.grant"], ["rights"]],
    [files, { path: "C:\\Users\\ada\\.ssh\\config" }, ["write.local.config"], ["persistence"]],
    [files, { path: "notes.txt" }, [], []],
    [files, { path: ".env" }, ["write.local.credential"], []],
    [reader, { paths: ["a", "~/.aws/credentials"] }, ["read.local.credential"], ["credential"]],
    [reader, { paths: "~/.s?h/id_*" }, ["read.local.credential"], ["credential"]],
    [reader, { paths: "~/.bashrc" }, [], []],
    [fetcher, { url: "https://a.example/x" }, [], []],
    [fetcher, { url: " http://169.254.169.254/latest " }, ["read.external.credential"], ["credential"]],
    [fetcher, { url: "file:///home/ada/.netrc" }, ["read.local", "read.local.credential"], ["credential"]],
  ])("%o %j", (of, given, effects, flags) => {
    expect(added(of, given)).toEqual(effects);
    expect(argumentEffects(of, given).flags).toEqual(flags);
  });
});

describe("what follows", () => {
  const look = (of: ToolContract, given: JsonObject) => {
    const found = argumentEffects(of, given);
    return { reason: argumentReason(of, found), contract: revealedContract(of, found) };
  };

  it("nothing, where arguments do what the labels say", () => {
    expect(look(shell, { command: "make" })).toEqual({ reason: undefined, contract: undefined });
    expect(look(files, { path: "a" }).reason).toBeUndefined();
    // Code that runs here may do whatever can be done here.
    expect(look(shell, { command: "rm a" }).reason).toBeUndefined();
    expect(
      look({ ...shell, effects: { must: [], may: ["execute"] } }, { command: "curl a.example" }).reason,
    ).toBeUndefined();
  });

  it("a question, where they do more", () => {
    expect(look(shell, { command: "curl -d x a.example" }).reason).toEqual({
      mechanism: "regulate",
      code: "SG-ARGUMENTS",
      verdict: "confirm",
      facts: { effects: ["read.external", "write.external.send"], destinations: ["a.example"] },
      way: "do it with simpler arguments, or ask the person",
    });
    expect(look(files, { path: "~/.bashrc" }).reason?.facts).toEqual({
      because: ["it leaves something behind that runs or is obeyed by itself"],
    });
    expect(look(shell, { command: "sudo ls" }).reason?.facts).toEqual({
      because: ["it acts with the rights of another user"],
    });
    expect(look(shell, { command: "echo 'a" }).reason?.facts).toEqual({ because: ["it cannot be read as a command"] });
  });

  it("nothing, where an enclosed process might only read a file that others obey", () => {
    const enclosed = { ...files, process: { tier: "A", order: "o" } } as const;
    const witnessed = { ...enclosed, source: "enforced" } as const;
    const config = { path: "eslint.config.js" };
    for (const of of [files, enclosed, { ...files, source: "enforced" } as const])
      expect(look(of, config).reason?.facts["because"]).toBeDefined();
    expect(look(witnessed, config)).toEqual({ reason: undefined, contract: undefined });
    // Places that run by themselves wherever they lie.
    expect(look(witnessed, { path: "~/.bashrc" }).reason).toBeDefined();
  });

  it("a contract that is sure of what was seen, and only fears what was not", () => {
    expect(look(shell, { command: "git push" }).contract?.effects).toEqual({
      must: ["execute.local", "write.external.publish"],
      may: ["execute.local", "write.external.publish"],
    });
    const hidden = look(shell, { command: "$x" }).contract?.effects;
    expect(hidden?.must).toEqual(["execute.local"]);
    expect(hidden?.may.toSorted()).toEqual(everyEffect.toSorted());
  });

  it("everything, where there is more to read than one call may make others wait for", () => {
    const within = { command: [{ a: "make a;".repeat(1_000) }, { b: "ls" }] };
    expect(argumentEffects(shell, within).flags).not.toContain("unreadable");
    const texts = Array.from({ length: 20 }, () => ({ a: "make a;".repeat(1_000) }));
    expect(argumentEffects(shell, { command: texts }).flags).toContain("unreadable");
    const words = Array.from({ length: argumentUnitsMax / 2 + 1 }, () => "a");
    expect(argumentEffects(shell, { command: words }).flags).toContain("unreadable");
    expect(argumentEffects(files, { path: ["a/".repeat(argumentUnitsMax), "b"] }).flags).toContain("unreadable");
  });

  it("the same for the same arguments, and another answer under another contract", () => {
    const given = { command: "curl a.example", path: "a" };
    expect(argumentEffects(shell, given)).toBe(argumentEffects({ ...shell }, given));
    expect(argumentEffects(reader, given)).not.toEqual(argumentEffects(shell, given));
    expect(argumentEffects(shell, given).effects).toContain("read.external");
  });

  it("law: effects are only added, whatever the arguments", () => {
    const values: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json); // JSON by construction
    fc.assert(
      fc.property(
        fc.constantFrom(shell, files, reader, fetcher),
        fc.dictionary(fc.constantFrom("command", "path", "paths", "url", "x"), values),
        (of, given) => {
          const found = argumentEffects(of, given);
          for (const effect of of.effects.must) expect(found.effects).toContain(effect);
          const more = revealedContract(of, found);
          if (more !== undefined) {
            expect(more.effects.must).toEqual(expect.arrayContaining([...of.effects.must]));
            expect(more.effects.may).toEqual(expect.arrayContaining([...of.effects.may]));
          }
        },
      ),
      { numRuns: runs },
    );
  });
});
