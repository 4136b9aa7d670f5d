import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type TokenClass, sentencesOf, visible } from "./sentences.ts";
import { stemOf } from "./words.ts";

const names = { own: "send_mail", others: new Set(["list_mail"]), parameters: new Set(["to"]) };

const classesOf = (text: string): TokenClass[] =>
  sentencesOf(text, names).flatMap(({ classes }) => classes.flatMap((held) => [...held]));

const parts = (text: string): string[] => sentencesOf(text, names).map((sentence) => sentence.text.trim());

describe("sentences", () => {
  it("end at stops, blank lines, list items and headings, and not inside of names or numbers", () => {
    expect(parts("One. Two! Three? Four; five")).toEqual(["One", "Two", "Three", "Four", "five"]);
    expect(parts("See a.b.c at v1.2 now")).toEqual(["See a.b.c at v1.2 now"]);
    expect(parts("First\n\nSecond\n- third\nArgs: x")).toEqual(["First", "Second", "- third", "Args: x"]);
    expect(parts("goes on\nin the next line")).toEqual(["goes on\nin the next line"]);
  });

  it("are none in empty text", () => {
    expect(parts(" \n ")).toEqual([]);
  });
});

describe("tokens", () => {
  it("have the class of their form", () => {
    expect(classesOf("https://example.org/x")).toContain("address");
    expect(classesOf("mallory@example.org")).toContain("address");
    for (const path of ["~/.ssh/id_rsa", ".bashrc", "/etc/passwd", "~/.aws/credentials", "mcp.json"]) {
      expect(classesOf(path), path).toContain("sensitivePath");
    }
    for (const path of ["/home/a/notes.txt", "etc", "settings"]) {
      expect(classesOf(path), path).not.toContain("sensitivePath");
    }
    for (const part of ["curl", "$(", "&&", "SUDO"]) expect(classesOf(part), part).toContain("commandLine");
  });

  it("have the class of their name", () => {
    expect(classesOf("`Send_Mail`")).toEqual(["ownTool"]);
    expect(classesOf("'list_mail'()")).toEqual(["otherTool"]);
    expect(classesOf("to")).toContain("parameter");
    for (const name of ["read_all_files", "readFile", "read-all-files"]) {
      expect(classesOf(name), name).toContain("identifier");
    }
    expect(classesOf("well-known GitHub")).toEqual([]);
  });

  it("have the classes of the phrases that begin at them", () => {
    expect(classesOf("make sure")).toEqual(["obliged"]);
    expect(classesOf("make it sure")).toEqual([]);
  });

  it("are read through invisible characters, quotes, width and look-alike letters", () => {
    expect(classesOf("m\u200Bust")).toEqual(["obliged", "enforced"]);
    expect(classesOf("ｍｕｓｔ")).toEqual(["obliged", "enforced"]);
    expect(classesOf("muѕt")).toEqual(["obliged", "enforced"]); // Cyrillic s
    expect(classesOf("don\u2019t")).toEqual(["forbidden"]);
    expect(visible("a\u{E0041}\u202Eb")).toBe("ab");
  });
});

it("stems bring the forms of a verb together", () => {
  for (const forms of [
    "verify verifies verified verifying",
    "execute executes executed executing",
    "access accesses accessing accessed",
    "log logs logged logging",
    "use uses used using",
    "send sends sending sent",
  ]) {
    expect(new Set(forms.split(" ").map(stemOf)).size, forms).toBe(1);
  }
  expect(stemOf("constructor")).toBe("constructor");
  expect(stemOf("is")).toBe("is");
});

it("takes any text without a throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void sentencesOf(text, names)));
});
