// Comments, tests and pages cite the design by page and section, such as `formal.md 4.5`. Each citation resolves to a page of
// this repository and to a heading with that number, and each relative link of a page to a file and heading.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const folders = ["src", "test", "docs", "bench", "scripts", "packs", "examples", "scenarios", "training", "bin"];
/** Generated texts, hostile inputs, and this file with its samples. */
const skipped =
  /^(packs\/(certificates|manifests)|test\/fuzz\/corpus)\/|\/node_modules\/|^test\/house\/citations\.test\.ts$/;

type Source = { readonly path: string; readonly text: string };

function below(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : below(path);
    return /\.(ts|js|mjs|py|md|yaml)$/.test(entry.name) ? [path] : [];
  });
}

const atRoot = readdirSync(root).filter((name) => name.endsWith(".md"));
const sources: readonly Source[] = [
  ...folders.flatMap((folder) => below(join(root, folder))).map((path) => relative(root, path)),
  ...atRoot,
]
  .filter((path) => !skipped.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

const decisions = readdirSync(join(root, "docs/decisions"));

/** Numbers of the headings of a page: `## 4.5 Title`, `### 3. Title`, `### Annex 8 Title`, `### Example 3 Title`. */
function sectionsOf(page: string): ReadonlySet<string> {
  const headings = page.matchAll(/^#{1,6} (?:(Annex|Example) )?(\d+(?:\.\d+)*)\.?(?= )/gm);
  return new Set(
    [...headings].map(([, kind, number]) => `${kind === undefined ? "" : `${kind.toLowerCase()} `}${number}`),
  );
}

const pages = new Map<string, ReadonlySet<string>>();
for (const { path, text } of sources) {
  if (!/^docs\/(design\/)?[a-z-]+\.md$/.test(path)) continue;
  pages.set(path, sectionsOf(text));
  // A page of the design is cited by its name alone, and has precedence over one with the same name beside the folder.
  if (path.startsWith("docs/design/") || !pages.has(basename(path))) pages.set(basename(path), sectionsOf(text));
}

/** Texts that no reader of this repository has. */
const elsewhere = [
  /\bDESIGN\b(?: \d|\.md)/,
  /\bSTYLE(?: \d|\.md)/,
  /\bhouse\.md\b/,
  /(?<![\w/])(?<!docs\/)(?:design|reference)\/[a-z-]+\.md/,
];
const elsewhereInComments = [/\((?:see )?reference: /, /\breference list\b/, /\bissues? #?\d+/i];
const comment = /^\s*(?:\/\/|\/?\*)/;

const section = String.raw`(?:(?:annex|example) )?\d+(?:\.\d+)*`;
const citation = new RegExp(
  String.raw`(?<![\w./\]-])((?:docs/(?:design/)?)?[a-z-]+\.md) +(${section}(?:(?:, | and | to |-)${section})*)`,
  "g",
);

/** The text with line breaks inside of comments and paragraphs as blanks, so that a citation can stand across two lines. */
function joined(text: string): string {
  return text
    .replaceAll(/\n[ \t]*(?:\* |\/\/ )?(?=[a-z\d])/g, (match) => " ".repeat(match.length))
    .replaceAll(/ {2,}/g, " ");
}

/** Sections that a list of numbers names; a word before a whole number holds for those behind it. */
function named(list: string): string[] {
  let kind = "";
  return list.split(/, | and | to |-/).map((part) => {
    const [, word = "", number = ""] = /^(annex |example )?(.*)$/.exec(part) ?? [];
    kind = word === "" && number.includes(".") ? "" : word === "" ? kind : word;
    return `${kind}${number}`;
  });
}

function unresolved({ path, text }: Source): string[] {
  const found: string[] = [];
  for (const [, page = "", list = ""] of joined(text).matchAll(citation)) {
    const sections = pages.get(page);
    if (sections === undefined) found.push(`${path}: \`${page} ${list}\` names a page that is not in docs`);
    for (const one of named(list)) {
      if (sections?.has(one) === false) found.push(`${path}: ${page} has no section ${one}`);
    }
  }
  for (const [whole] of text.matchAll(/(?<![\w/.])docs\/[\w/-]+\.md\b/g)) {
    if (!existsSync(join(root, whole)) && comment.test(lineWith(text, whole)))
      found.push(`${path}: ${whole} does not exist`);
  }
  for (const [whole, number] of text.matchAll(/\bdecisions?[ /](0\d{3})\b/g)) {
    if (!decisions.some((name) => name.startsWith(`${number}-`))) found.push(`${path}: ${whole} does not exist`);
  }
  for (const line of text.split("\n")) {
    const rules = comment.test(line) && !path.endsWith(".md") ? [...elsewhere, ...elsewhereInComments] : elsewhere;
    if (rules.some((rule) => rule.test(line)))
      found.push(`${path}: cites what is not in the repository: ${line.trim()}`);
  }
  return found;
}

function lineWith(text: string, part: string): string {
  return text.split("\n").find((line) => line.includes(part)) ?? "";
}

/** A heading's anchor, as GitHub makes it. */
function anchorOf(heading: string): string {
  const plain = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .trim()
    .toLowerCase();
  return plain.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

function brokenLinks({ path, text }: Source): string[] {
  const prose = text
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .replaceAll(/`[^`\n]*`/g, (code) => (code.includes("](") ? "" : code));
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const to = file === "" ? join(root, path) : resolve(root, dirname(path), file);
    if (!existsSync(to)) return [`${path}: ${target} does not exist`];
    if (anchor === undefined || !to.endsWith(".md")) return [];
    const anchors = [...readFileSync(to, "utf8").matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = ""]) =>
      anchorOf(heading),
    );
    return anchors.includes(anchor) ? [] : [`${path}: ${target} names no heading`];
  });
}

describe("citations", () => {
  it("name a page and section of this repository", () => {
    expect(sources.flatMap(unresolved)).toEqual([]);
  });

  it("are found at all: the most cited sections", () => {
    const all = sources.flatMap(({ text }) =>
      [...joined(text).matchAll(citation)].map(([, page, list]) => `${page} ${list}`),
    );
    expect(all.filter((one) => one.startsWith("formal.md 4.5")).length).toBeGreaterThan(10);
    expect(all.filter((one) => one.startsWith("gateway.md 4")).length).toBeGreaterThan(5);
    expect(all.length).toBeGreaterThan(150);
  });

  it.each([
    ["// a rule (formal.md 4.6)", "formal.md has no section 4.6"],
    ["// a rule (formal.md 4.5,\n// example 77)", "formal.md has no section example 77"],
    [" * two (gateway.md 6 and 99)", "gateway.md has no section 99"],
    ["// a rule (fromal.md 4.5)", "`fromal.md 4.5` names a page that is not in docs"],
    ["// see docs/nothing.md", "docs/nothing.md does not exist"],
    ["// see decision 0999", "decision 0999 does not exist"],
    ["// as DESIGN 3 says", "cites what is not in the repository"],
    ["/** Kept (reference: a note). */", "cites what is not in the repository"],
    ["// as design/gateway.md says", "cites what is not in the repository"],
    ["// issue 12 wants it", "cites what is not in the repository"],
  ])("finds %j", (text, message) => {
    expect(unresolved({ path: "src/sample.ts", text }).join("\n")).toContain(message);
  });

  it("passes what resolves", () => {
    const text =
      "// formal.md 4.1, annex 6; foresight.md 1-3; formal.md example 3 and 4; docs/semantics.md 6, 7; decision 0017";
    expect(unresolved({ path: "src/sample.ts", text })).toEqual([]);
  });
});

describe("CONTRIBUTING.md", () => {
  it("names files, folders and scripts that exist", () => {
    const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
    const paths = [...text.matchAll(/`((?:src|test|packs|docs|scripts)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !/NAME|LAYER/.test(path) && !existsSync(join(root, path)))).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const named = new Set([...text.matchAll(/`npm (?:run (?:-s )?)?([a-z:]+)/g)].map(([, name]) => name));
    expect(Object.keys(scripts).filter((name) => !named.has(name) && name !== "prepack")).toEqual([]);
  });
});

describe("links of pages", () => {
  it("name a file and heading that exist", () => {
    expect(sources.filter(({ path }) => path.endsWith(".md")).flatMap(brokenLinks)).toEqual([]);
  });

  it.each([
    ["[a](nothing.md)", "nothing.md does not exist"],
    ["[a](semantics.md#nowhere)", "semantics.md#nowhere names no heading"],
  ])("finds %j", (text, message) => {
    expect(brokenLinks({ path: "docs/sample.md", text }).join("\n")).toContain(message);
  });
});
