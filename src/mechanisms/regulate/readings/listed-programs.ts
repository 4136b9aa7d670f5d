/**
 * Programs that only read, with the options and operands with which they do. A program, subcommand or option that is not
 * here counts as the worst case: an entry is added only with a look into the program's manual for what writes, runs
 * another program, or talks to a network.
 */
import type { Listing } from "./listing.ts";

const text: Listing = {
  flags: "A b e E n s t T u v number number-nonblank squeeze-blank show-all show-ends show-tabs",
};
const lines: Listing = { flags: "q v z quiet silent verbose", valued: "n c lines bytes", numbers: true };
const sums: Listing = { flags: "b t z binary text tag zero" };
const matches: Listing = {
  flags:
    "r R i v n l L c o w x h H E F G P s q a I z Z recursive ignore-case no-ignore-case invert-match line-number " +
    "files-with-matches files-without-match count only-matching word-regexp line-regexp no-filename with-filename " +
    "extended-regexp fixed-strings basic-regexp perl-regexp no-messages quiet silent text null",
  valued: "e A B C m regexp include exclude exclude-dir max-count after-context before-context context",
  optional: "color colour",
  numbers: true,
};

/** Programs of a POSIX system that work on local files. */
export const localPrograms: { readonly [program: string]: Listing } = {
  basename: { flags: "a z", valued: "s" },
  cat: text,
  cksum: {},
  cmp: { flags: "s l b", valued: "n i", operands: 2 },
  column: { flags: "t x", valued: "s" },
  comm: { flags: "1 2 3" },
  cut: { flags: "s z", valued: "d f c b", optional: "output-delimiter" },
  date: { flags: "u utc R", optional: "I iso-8601", operands: /^\+/ },
  df: { flags: "a h H i k l P T human-readable inodes portability print-type" },
  diff: {
    flags:
      "u r q i w b B y N a s brief recursive new-file ignore-case ignore-all-space side-by-side report-identical-files",
    valued: "U C W",
    optional: "unified context color",
    operands: 2,
  },
  dirname: { flags: "z" },
  du: { flags: "a b c h k l m s x summarize human-readable all total apparent-size", valued: "d max-depth exclude t" },
  echo: { flags: "n e E" },
  egrep: matches,
  expand: { valued: "t" },
  false: {},
  fgrep: matches,
  file: { flags: "b i L h mime mime-type mime-encoding brief dereference no-dereference" },
  find: {
    oneDash: true,
    flags:
      "o a L H P or and not print print0 ls prune empty depth xdev mount readable writable executable daystart noleaf true false",
    valued:
      "name iname path ipath wholename regex iregex type size mtime mmin atime amin ctime cmin newer maxdepth mindepth perm " +
      "user group links inum printf",
  },
  fold: { flags: "b s", valued: "w" },
  free: { flags: "b k m g h t w" },
  grep: matches,
  groups: { operands: 1 },
  head: lines,
  id: { flags: "u g G n r z", operands: 1 },
  jq: {
    flags: "r c M S s n e j a raw-output compact-output sort-keys slurp null-input exit-status",
    never: /(?:^|\W)env\b/i,
  },
  ls: {
    flags:
      "a A b B c C d f F g G h H i k l L m n N o p q Q r R s S t u U v x X Z 1 all almost-all author escape directory " +
      "full-time group-directories-first human-readable inode kibibytes no-group numeric-uid-gid recursive reverse si size",
    valued: "I w T ignore width tabsize",
    optional: "color classify hyperlink indicator-style format sort time time-style block-size",
  },
  md5sum: sums,
  nl: { flags: "p", valued: "b f h i l n s v w" },
  nproc: { flags: "all" },
  paste: { flags: "s z", valued: "d" },
  printf: {},
  ps: { flags: "A a d e f F l L w x u j h", valued: "o p U", operands: /^[afuxljwh]+$/ },
  pwd: { flags: "L P" },
  readlink: { flags: "f e m n z" },
  realpath: { flags: "e m s z L P q" },
  rev: {},
  // Only lines by number: other commands of sed write files and run programs.
  sed: { flags: "n", needs: "n", first: /^\d{1,9}(?:,(?:\d{1,9}|\$))?p$/ },
  seq: { flags: "w", valued: "s f", operands: 3 },
  sha1sum: sums,
  sha256sum: sums,
  sha512sum: sums,
  sort: { flags: "b d f g h i M n r R s u V c C m z", valued: "k t" },
  stat: { flags: "L f t", valued: "c format", optional: "printf" },
  strings: { flags: "a", valued: "n t" },
  tac: {},
  tail: lines,
  tr: { flags: "c C d s t", operands: 2 },
  // In `-Lo 2 FILE` it takes the `2` for `-L`, and the file for `-o`, which writes it.
  tree: { flags: "a d f i s h p u g D r t", valued: "L I P", apart: true },
  true: {},
  tty: {},
  uname: { flags: "a s n r v m p i o" },
  // A second operand is the file that it writes.
  uniq: { flags: "c d D u i z", valued: "f s w", operands: 1 },
  uptime: { flags: "p s" },
  wc: { flags: "c m l w L bytes chars lines words max-line-length" },
  which: { flags: "a" },
  whoami: {},
};
