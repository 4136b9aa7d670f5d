// The style of the house as a program: lengths, leftovers, names. `node scripts/tidy.ts` prints what breaks it.
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { parseSync } from "oxc-parser";

const fileLinesMax = 400;
const functionLinesMax = 70;
const parametersMax = 4;
const foldersBelowSourceMax = 3;
const lineLengthMax = 140;

/** Words that a name must not consist of: they carry no meaning. */
const emptyNames = /(^|[/-])(utils?|helpers?|manager|misc|common|stuff)([-.]|$)/;
/** Leftovers, and what never belongs on a protocol stream or into a public text. */
const leftovers = [
  { pattern: /\b(FIXME|XXX|HACK)\b/, why: "a leftover: do it or file it" },
  { pattern: /\bTODO\b/, why: "a leftover: do it or file it" },
  { pattern: /\bdebugger\b/, why: "a leftover" },
];
/** Folders of one machine. The keys of root are what a rule protects, so that path may be written anywhere. */
const machinePath = /(^|[\s"'`(=])\/(work\/|root\/(?!\.ssh))/;

type Finding = { readonly file: string; readonly line: number; readonly text: string };

export function tidy(files: readonly string[], read: (file: string) => string): readonly Finding[] {
  return files.flatMap((file) => {
    const text = read(file);
    return file.endsWith(".md") ? documentFindings(file, text) : codeFindings(file, text);
  });
}

function codeFindings(file: string, text: string): Finding[] {
  const lines = text.split("\n");
  const found: Finding[] = [];
  const add = (line: number, message: string): void => void found.push({ file, line, text: message });
  if (lines.length - 1 > fileLinesMax)
    add(1, `${lines.length - 1} lines, at most ${fileLinesMax}: split it by meaning`);
  if (emptyNames.test(file)) add(1, "the name says nothing: name it after what it holds");
  if (file !== file.toLowerCase() && file.startsWith("src/")) add(1, "file names are kebab-case");
  const below = dirname(file).split("/").length - 1;
  if (file.startsWith("src/") && below > foldersBelowSourceMax)
    add(1, `folders are at most ${foldersBelowSourceMax} deep`);
  lines.forEach((line, index) => {
    for (const { pattern, why } of leftovers) if (pattern.test(line) && !file.endsWith("tidy.ts")) add(index + 1, why);
    if (line.length > lineLengthMax && !/["'`/]/.test(line)) add(index + 1, `longer than ${lineLengthMax} characters`);
    if (machinePath.test(line) && !file.endsWith("tidy.ts")) add(index + 1, "a path of one machine");
    if (/console\.log\(/.test(line) && /^src\/(?!cli\/).*(?<!\.test)\.ts$/.test(file)) {
      add(index + 1, "console.log outside the commands: standard output may be a protocol stream");
    }
    if (/oxlint-disable|@ts-(ignore|expect-error)/.test(line) && !/--\s+\S/.test(line) && !file.endsWith("tidy.ts"))
      add(index + 1, "an exception without a reason");
  });
  if (/^(src|scripts|bench)\//.test(file) && !file.endsWith(".test.ts")) found.push(...functionFindings(file, text));
  return found;
}

/** The parts of the syntax tree that are looked at; everything else is walked through. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly params?: { readonly items?: unknown[] } | unknown[];
};

function functionFindings(file: string, text: string): Finding[] {
  const found: Finding[] = [];
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null || !("type" in value)) return;
    const node = value as Node; // every object with a type in this tree is a node
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) {
      const length = lineAt(node.end) - lineAt(node.start) + 1;
      const line = lineAt(node.start);
      if (length > functionLinesMax)
        found.push({ file, line, text: `a function of ${length} lines, at most ${functionLinesMax}` });
      const count = Array.isArray(node.params) ? node.params.length : (node.params?.items?.length ?? 0);
      if (count > parametersMax)
        found.push({ file, line, text: `${count} parameters, at most ${parametersMax}: pass one object` });
    }
    Object.values(node).forEach(visit);
  };
  visit(parseSync(file, text).program);
  return found;
}

function documentFindings(file: string, text: string): Finding[] {
  const found: Finding[] = [];
  const body = text.replace(/^```[\s\S]*?^```/gm, "");
  const titles = body.split("\n").filter((line) => line.startsWith("# ")).length;
  if (titles !== 1) found.push({ file, line: 1, text: `${titles} first-level headings, exactly one is wanted` });
  if (machinePath.test(text)) found.push({ file, line: 1, text: "a path of one machine" });
  return found;
}

function tracked(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
  return listed.split("\n").filter((file) => /\.(ts|md)$/.test(file) && !file.startsWith("test/fuzz/corpus/"));
}

if (process.argv[1] !== undefined && basename(process.argv[1]) === "tidy.ts") {
  const found = tidy(tracked(), (file) => readFileSync(file, "utf8"));
  for (const { file, line, text } of found) console.log(`${file}:${line}: ${text}`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
