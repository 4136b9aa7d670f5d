/**
 * The reader beside another parser of bash. Neither knows all that a shell would run (decision 0021), so what only the other
 * finds is a fault of ours: each of its programs is in our reading, or the text is unreadable, or some program is hidden.
 */
import fc from "fast-check";
import { type ParsedScript, parse } from "unbash";
import { describe, expect, it } from "vitest";
import { readCommandLine } from "./grammar.ts";
import type { Script } from "./syntax.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

/** What our reader finds; undefined where the answer is the worst case. */
function ours(script: Script | undefined): readonly string[] | undefined {
  if (script === undefined) return undefined;
  const found: string[] = [];
  for (const { words, bodies, inner } of script.flat()) {
    const [program] = words;
    if (program !== undefined && (!program.exact || program.glob)) return undefined;
    if (program !== undefined) found.push(program.text);
    for (const one of [...bodies, ...inner]) {
      const inside = ours(one);
      if (inside === undefined) return undefined;
      found.push(...inside);
    }
  }
  return found;
}

/** What the other parser finds, whose tree is whole only where it is written out; undefined where it reports an error. */
function theirs(script: ParsedScript): readonly string[] | undefined {
  const found: string[] = [];
  const waiting: unknown[] = [JSON.parse(JSON.stringify(script))];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== "object" || node === null) continue;
    if ("errors" in node) return undefined;
    if ("type" in node && node.type === "Command" && "name" in node) found.push(valueOf(node.name));
    waiting.push(...Object.values(node));
  }
  return found;
}

function valueOf(word: unknown): string {
  return typeof word === "object" && word !== null && "value" in word ? String(word.value) : "";
}

/** Programs of the generator, so that what the two call a word otherwise does not count. */
function lost(text: string): readonly string[] {
  const mine = ours(readCommandLine(text));
  const other = theirs(parse(text));
  if (mine === undefined || other === undefined) return [];
  return other.filter((name) => /^p\d$/.test(name) && !mine.includes(name));
}

const program = fc.constantFrom("p1", "p2", "p3", "p4", "p5");
const plainWord = fc.constantFrom(
  "a",
  "-x",
  "'q ;'",
  '"d $v"',
  "$v",
  "${v#*/}",
  "${v/a/b}",
  "${v:1:2}",
  "$((1+2))",
  "$'\\x41'",
  "{a,b}",
  "a\\ b",
  "\\$(p9)",
  "'$(p9)'",
  "a#b",
  "x=1",
  "*.c",
  "\\\n",
  "[a]",
  "~",
  "é",
  "\u00a0",
  "'it'\\''s'",
  "${v[0]}",
  "$?",
);

type Shell = { readonly word: string; readonly command: string; readonly script: string };

/** A text with generated parts in it. */
function shell(texts: TemplateStringsArray, ...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((some) => texts.map((text, at) => text + (some[at] ?? "")).join(""));
}

const { script: scripts } = fc.letrec<Shell>((tie) => {
  const [word, command, script] = [tie("word"), tie("command"), tie("script")];
  const depth = { maxDepth: 5, depthSize: "small" } as const;
  const between = fc.constantFrom(";", "&&", "||", "|", "|&", "&", "\n", " # c\n", "\\\n;", "\n\n", ";\n");
  const redirects = fc.constantFrom(">", ">>", "<", "2>", "&>", "<<<", ">|");
  const marks = fc.constantFrom("E", "'E'", '"E"', "\\E");
  const words = fc.array(word, { maxLength: 3 }).map((list) => list.join(" "));
  return {
    word: fc.oneof(
      depth,
      { weight: 9, arbitrary: plainWord },
      shell`$(${script})`,
      shell`"$( ${script} )"`,
      shell`\`${command}\``,
      shell`<(${script})`,
      shell`>(${script})`,
      shell`\${v:-${word}}`,
      shell`"\${v:-$(${script})}"`,
      shell`$((${word} + $(${script})))`,
      shell`"a${word}b"`,
    ),
    command: fc.oneof(
      depth,
      { weight: 7, arbitrary: shell`${program} ${words}` },
      shell`${command} ${redirects} ${word}`,
      shell`${command} <<${marks}\n${words}\nE\n`,
      shell`x=${word} ${command}`,
      shell`(${script})`,
      shell`{ ${script}\n}`,
      shell`! ${command}`,
      shell`time ${command}`,
      shell`coproc { ${script}\n}`,
      shell`if ${script}\nthen ${script}\nelse ${script}\nfi`,
      shell`while ${script}\ndo ${script}\ndone`,
      shell`for i in ${words}; do ${script}\ndone`,
      shell`for ((i=${word};;)); do ${script}\ndone`,
      shell`case ${word} in (a|${word}) ${script};; *) ${script}\nesac`,
      shell`f() { ${script}\n}`,
      shell`function f { ${script}\n}`,
      shell`[[ -n ${word} ]]`,
      shell`a=(${words})`,
      shell`((${word}))`,
    ),
    script: fc.oneof(depth, { weight: 4, arbitrary: command }, shell`${command} ${between} ${script}`),
  };
});

const piece = fc.constantFrom(
  ..."' \" ` $( ) ( { } ${ ; | & \n \\ # << > $ [[ ]] (( )) $(( \r = ! p6 ;p7; $(p8) `p8` esac $' [ ] in do".split(" "),
);

/** A text with pieces put in, left out or in place of others. */
const changed = fc
  .tuple(scripts, fc.array(fc.tuple(fc.nat(), piece, fc.nat({ max: 3 })), { maxLength: 3 }))
  .map(([text, edits]) =>
    edits.reduce((now, [at, put, left]) => {
      const place = at % (now.length + 1);
      return now.slice(0, place) + put + now.slice(place + left);
    }, text),
  );

describe("beside another parser", () => {
  it("no program is lost that it finds", () => {
    fc.assert(
      fc.property(fc.oneof(scripts, changed), (text) => {
        expect(lost(text)).toEqual([]);
      }),
      { numRuns: 5 * runs },
    );
  });

  it.each([
    ["an array behind a builtin", "declare a=($(p1))", "bash runs p1"],
    ["quotes in quotes", `echo "\${v:-'$(p1)'}"`, "bash and dash run p1"],
    ["an index that is none", "a[ x; p1 ]", "dash runs p1"],
    ["double brackets", "((p1))", "dash runs p1"],
    ["a test", "[[ x || p1 ]]", "dash runs p1"],
  ])("finds or refuses what the other loses without an error: %s", (_, text) => {
    expect(theirs(parse(text))).not.toContain("p1");
    expect(ours(readCommandLine(text)) ?? ["p1"]).toContain("p1");
  });

  it("compares texts that both can read, with programs in them", () => {
    const compared = fc
      .sample(scripts, { numRuns: 300, seed: 1 })
      .map((text) => [ours(readCommandLine(text)), theirs(parse(text))])
      .filter(([mine, other]) => mine !== undefined && (other?.length ?? 0) > 1);
    expect(compared.length).toBeGreaterThan(60);
  });
});
