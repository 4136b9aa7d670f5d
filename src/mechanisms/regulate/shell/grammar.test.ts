import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../../../test/kit/policy/cpu-time.ts";
import { readCommandLine } from "./grammar.ts";
import { type Command, type Script, commandUnitsMax } from "./syntax.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

/** Programs with their arguments, everything inside them in brackets: what a reader must not miss. */
function shown(script: Script | undefined): string {
  if (script === undefined) return "unreadable";
  return script.map((pipeline) => pipeline.map(shownCommand).join(" | ")).join("; ");
}

function shownCommand({ assignments, words, redirections, bodies, inner }: Command): string {
  const word = ({ text, exact }: { readonly text: string; readonly exact: boolean }): string =>
    exact ? text : `?${text}`;
  const parts = [
    ...assignments.map((one) => `=${word(one)}`),
    ...words.map(word),
    ...redirections.map(
      (one) => `${one.operator}${word(one.target)}${one.body === undefined ? "" : `{${one.body.text.trim()}}`}`,
    ),
    ...inner.map((one) => `[${shown(one)}]`),
    ...bodies.map((one) => `(${shown(one)})`),
  ];
  return parts.join(" ");
}

describe("words", () => {
  it.each([
    ["a 'b c' \"d e\" f\\ g", "a b c d e f g"],
    ["c\\url 'w'\"g\"et", "curl wget"],
    ["$'\\x63\\165r\\u006c\\n\\e\\cA\\q\\U0001F600\\UFFFFFFFF\\'' x", "curl\n\u001b\u0001q😀\ufffd' x"],
    ['$"hi" "$" $', "hi $ $"],
    ['echo $HOME ${HOME} $1 $? "$x"', "echo ?$HOME ?$HOME ?$1 ?$? ?$x"],
    ["echo ${x:-$(id)} ${y#'}'} \"${z:-it's}\" $[1+2]", "echo ?${x:-$(...)} ?${y#}} ?${z:-it's} ?$[...] [id]"],
    ["echo {a,b} {1..3} {a} a}b {a.b}", "echo ?{a,b} ?{1..3} {a} a}b {a.b}"],
    ['echo "a\\"b\\n\\\nc" x\\\ny', 'echo a"b\\nc xy'],
    ["echo `id \\`who\\``", "echo ?$(...) [id ?$(...) [who]]"],
    ['echo "`echo \\"x\\"`"', "echo ?$(...) [echo x]"],
    ["echo a#b # c ; d", "echo a#b"],
    ["echo ${v['k']} ${v:1:2} $[1 + 2] $'don\\'t'", "echo ?${v[k]} ?${v:1:2} ?$[...] don't"],
    ["ls 'a[' a[b] \"x[$i\" [ [a", "ls a[ a[b] ?x[$i [ [a"],
    ["a=([0]='x' [$(id)]=y)", "=?a=(...) [id]"],
    ["# only this\nls", "ls"],
    ["ls;# x\nid", "ls; id"],
    ["end\\", "end\\"],
  ])("%s", (text, wanted) => {
    expect(shown(readCommandLine(text))).toBe(wanted);
  });

  it("tells what is quoted, and what may be several files", () => {
    const words = readCommandLine("ls '*' * a=b")?.[0]?.[0]?.words ?? [];
    expect(words.map(({ glob, plain, assigns }) => [glob, plain, assigns])).toEqual([
      [false, true, false],
      [false, false, false],
      [true, true, false],
      [false, true, true],
    ]);
  });
});

describe("commands", () => {
  it.each([
    ["a;b&c&&d||e\nf", "a; b; c; d; e; f"],
    ["a | b |& c", "a | b | c"],
    ["a |\n\n b", "a | b"],
    ["a=1 b+=2 c[0]=3 run d=4", "=a=1 =b+=2 =c[0]=3 run d=4"],
    ['"a=1" run', "a=1 run"],
    ["x=(a 'b c'\n $(id)) y", "=?x=(...) y [id]"],
    ["coproc a {b} c; coproc N ( d )", "a {b} c; (d)"],
    ['echo $((${v:-$(id)} + ${#w[@]})) "${v:-${w:-$(id)}}"', "echo ?$((...)) ?${v:-${w:-$(...)}} [id] [id]"],
    ["coproc for ((i=1;;)); do a; done; coproc select x in b; do c; done", "(a); =x=b (c)"],
    ["! a; time b; time -p c; coproc d; coproc N { e; }", "a; b; c; d; (e)"],
    ["( a; b ) > f 2>&1", ">f >&1 (a; b)"],
    ["{ a; b; } | c", "(a; b) | c"],
    ["if a; then b; elif c; then d; else e; fi", "(a) (b) (c) (d) (e)"],
    ["while a; do b; done < f; until c\ndo d\ndone", "<f (a) (b); (c) (d)"],
    ["for x in a $(b); do c; done", "=x=a =?x=$(...) [b] (c)"],
    ["for x\ndo c; done; for x in a; { d; }", "(c); =x=a (d)"],
    ["for ((i=0; i<$(n); i++)); do c; done", "[n] (c)"],
    ["select x in a b; do c; done", "=x=a =x=b (c)"],
    ["case $x in (a|b) c;; *) d;& 'e f') g;;& h) i\nesac", "(c) (d) (g) (i)"],
    ["case x in\nesac", ""],
    ["f() { a; }; function g { b; }; function h() ( c )\nf ()\nif d; then e; fi", "((a)); ((b)); ((c)); ((d) (e))"],
    ["[[ a && -f b || ( c < d ) ]] && e", "[[ a -f b c d; e"],
    ["[[ $(id) == x\n ]]", "[[ ?$(...) == x [id]"],
    ["(( x = 1 + $(id) )); ((a;b)); (( x ? 1 : (2) )); (( x = (1) ))", "((x = 1 + ?$(...) [id])); ((a; b)); ; "],
    ["echo $((1 + 2)) $(( (1) * $(n) )) $((a b))", "echo ?$((...)) ?$((...)) ?$(...) [n] [(a b)]"],
    ["echo $((sh) )", "echo ?$(...) [(sh)]"],
    ["((cd x) ; ls)", "((cd x); ls)"],
    ["diff <(a) >(b)", "diff ?<(...) ?>(...) [a] [b]"],
    ["a > b >> c 2> d < e <> f >| g &> h &>> i >& j <& k >&2", "a >b >>c >d <e <>f >|g &>h &>>i >&j <&k >&2"],
    ["&> f", "&>f"],
    ["echo 2>f a2>g", "echo a2 >f >g"],
    ["cat << E | sh\n$x $(id) \\$y\nE\nls", "cat <<E{$x $(...) $y} [id] | sh; ls"],
    ["cat <<-'E'\n\t$x\n\tE\nls", "cat <<-E{$x}; ls"],
    ["cat <<A <<B\na\nA\nb\nB", "cat <<A{a} <<B{b}"],
    ["cat <<E\nno end", "cat <<E{no end}"],
    ["cat <<'E'\nx\\\nE\nid", "cat <<E{x\\}; id"],
    ["cat <<E\nx\\\ny\nz\\\\\nE\nid", "cat <<E{xy\nz\\}; id"],
    ['cat <<< "$x"', "cat <<<?$x{$x}"],
    ["echo $(cat <<E\nx\nE\n)", "echo ?$(...) [cat <<E{x}]"],
    ["!<f a; time <f b; time -p c", "a <f; b <f; c"],
    ["time -o f a", "time -o f a"],
    ["", ""],
    [" \t\r\n ", ""],
  ])("%j", (text, wanted) => {
    expect(shown(readCommandLine(text))).toBe(wanted);
  });
});

describe("what shells read in different ways", () => {
  it.each([
    ["a carriage return before the end of a line is escaped, and the line ends", "echo \\\r\nid", "echo \r; id"],
    [
      "operators of a test are those of the shell where it is unknown",
      "[[ x || id -u || $y\nls ]]",
      "[[ x id -u ?$y ls (id -u) (ls)",
    ],
    ["so does what a test compares", "[[ a > f && b < c ]]", "[[ a f b c >f (b c)"],
    ["in brackets a test is one", "[[ x =~ ^(a|b)$ ]]", "[[ x =~ ^ a b $"],
  ])("%s", (_, text, wanted) => {
    expect(shown(readCommandLine(text))).toBe(wanted);
  });
});

describe("what no shell would read, or nobody should", () => {
  it.each([
    // Each hides a command from one of two readings.
    "cat <<E\r\nx\r\nE\r\nid",
    "a\rb",
    `echo "\${x#'"'}"; id; echo '"' "}"`,
    `echo "\${x:-$'}"; id; echo "'}"`,
    "echo ${ id; }",
    "echo ${| id; }",
    "x='$(id)'; echo ${x@P}",
    "[[ x ; id ]]",
    // Some shell runs `id` in each of these, and another sees only text.
    "cat <<$(E)\nx\n$(E)\nid",
    "cat <<`E`\nx\n`E`\nid",
    "cat <<${E}\nx\n${E}\nid",
    "cat <<$'E'\nx\n$E\nid",
    'cat <<"E\nF"\nx\nE\nF\nid',
    'cat <<-"\tE"\nx\n\tE\nid',
    "cat <<E\nx\nE\\\n\nid",
    "cat <<EF\nE\\\nF\nid",
    "cat <<E\nx\\\nE\n: '\nE\nid #'",
    "cat <<-E\n\\\n\tE\n: '\nE\nid #'",
    "((x '$(id)'))",
    "(((x) '`id`'))",
    "((x # $(id)\n))",
    "((x << 2))\nid",
    "echo $((echo '$(id)'))",
    "echo $'\\' ; id #'",
    "echo $'\\''; echo 'id'",
    "echo $[ 1; id ]",
    "echo ${v:-<(id)}",
    'echo "${v:->(id)}"',
    "echo $['$(id)']",
    "a[ #]=$(id)",
    "a=(['$(id)']=1)",
    "echo ${v['$(id)']}",
    "echo $((${v:-'$(id)'} - 1))",
    "echo $[${v:-'$(id)'}]",
    "echo \"${v:-${w:-'$(id)'}}\"",
    "echo ${v:${w:-'$(id)'}}",
    "echo ${v:'$(id)'}",
    "echo ${v[0]:1:$'`id`'}",
    "'a",
    '"a',
    "`a",
    "$(a",
    "${a",
    "$'a",
    "$((1",
    "a)",
    "( a",
    "a ( b )",
    "a b()",
    "x=1 f()",
    "a=(b",
    "a=(b;)",
    "{ a",
    "if a; fi",
    "do a; done",
    "a; then b",
    "a; }",
    "if a; then b",
    "while a; b; done",
    "while a; do b",
    "for",
    "for ((x) ; do a; done",
    "for x in a; b",
    "case",
    "case x of",
    "case x in a b) c;; esac",
    "case x in ) a;; esac",
    "function",
    "[[ a",
    "a >",
    "a | | b",
    "(a) b",
    ";;",
    "$(cat <<E)\nE",
    "a\0b",
    `${"( ".repeat(100)}a${" )".repeat(100)}`,
    "x ".repeat(commandUnitsMax),
    "`".repeat(2 * 4_000),
  ])("%j", (text) => {
    const found = readCommandLine(text);
    // An even number of backquotes is only a lot of empty substitutions.
    expect(text.startsWith("`") && text.length > 9 ? shown(found).length > 0 : found === undefined).toBe(true);
  });
});

describe("laws", () => {
  const parts = fc.constantFrom(
    ..."a b ; & | && || ( ) { } ' \" ` $ $( ${ $(( )) > < << <<- <<< # \\ \n if then fi for in do done case esac ;; [[ ]] = ~ *".split(
      " ",
    ),
    " ",
    "\n",
    "E",
  );

  it("any text is read or refused, in bounded time", () => {
    const texts = fc.oneof(
      fc.array(parts, { maxLength: 60 }).map((list) => list.join("")),
      fc.array(parts, { maxLength: 60 }).map((list) => list.join(" ")),
      fc.string({ unit: "binary", maxLength: 200 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        readCommandLine(text);
      }),
      { numRuns: 5 * runs },
    );
  });

  it("quoted words come back as they were", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { minLength: 1, maxLength: 6 }), (words) => {
        const given = words.map((word) => word.replaceAll("\0", ""));
        const text = given.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
        const found = readCommandLine(text)?.[0]?.[0];
        expect(found?.words.map((word) => word.text)).toEqual(given);
        expect(found?.words.every((word) => word.exact && !word.glob)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  it("depth and length are bounded whatever opens", () => {
    for (const piece of [
      "$((",
      "`",
      "(",
      "${a:-",
      "$(a",
      "if ",
      "f()",
      "[[ ",
      "$((1+",
      "case a in ",
      "<<a ",
      "a|",
      "{ ",
      "\\`",
      "<(",
      "a=(",
      "$[",
      "${v[",
    ]) {
      const text = piece.repeat(Math.floor(commandUnitsMax / piece.length));
      expect(
        cpuMsOf(() => readCommandLine(text)),
        piece,
      ).toBeLessThan(2_000);
    }
  });
});
