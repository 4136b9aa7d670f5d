/**
 * Subcommands of git that only read a repository, under its own configuration. That may name programs too (pagers, text
 * filters, monitors), so no option that sets configuration or chooses another repository is here: `-c`, `-C`,
 * `--git-dir`, `--exec-path`, `--config-env`. Nor is one that writes a file or runs a program: `--output`, `--ext-diff`,
 * `--textconv`, `--open-files-in-pager`, `--show-signature`.
 */
import type { Listing } from "./listing.ts";

const diffFlags =
  "p patch raw stat numstat shortstat summary name-only name-status minimal patience histogram no-color no-renames no-ext-diff " +
  "no-textconv no-prefix w b ignore-all-space ignore-space-change ignore-blank-lines check full-index binary text a R z " +
  "function-context W exit-code no-patch s";
const diffOptional =
  "U stat color color-words word-diff abbrev find-renames M C diff-filter unified ignore-submodules diff-algorithm dirstat";
const logFlags =
  `${diffFlags} oneline graph decorate no-decorate all branches tags remotes follow merges no-merges first-parent reverse ` +
  "abbrev-commit topo-order date-order author-date-order cherry-pick left-right boundary full-history simplify-merges i g walk-reflogs " +
  "regexp-ignore-case all-match invert-grep extended-regexp E fixed-strings F clear-decorations relative-date count no-notes";
const logValued = "n max-count skip since after until before author committer grep S G L";
const logOptional = `${diffOptional} decorate date pretty format branches tags remotes encoding since after until before author grep max-count skip`;

/** `%G?` runs the program that checks signatures; so do, of references, `%(signature)` and the order by it. */
const signature = /%G/;
const signatureOfRef = /%G|%\(\s*\*?signature|^-?\*?signature(?::|$)/i;
const log: Listing = { flags: logFlags, valued: logValued, optional: logOptional, numbers: true, never: signature };
const sorted = "sort contains no-contains points-at";

const subcommands: { readonly [name: string]: Listing } = {
  annotate: { flags: "l e w", valued: "L" },
  blame: { flags: "l e f n s t w c p porcelain line-porcelain show-email", valued: "L", optional: "M C date abbrev" },
  branch: {
    flags: "a r v l i list all remotes verbose show-current ignore-case no-color no-column",
    valued: sorted,
    optional: `${sorted} merged no-merged color format abbrev`,
    operandsWith: "l list merged no-merged contains no-contains points-at",
    never: signatureOfRef,
  },
  "cat-file": { flags: "p t s e", needs: "p t s e" },
  "check-ignore": { flags: "v n q z no-index" },
  config: {
    flags:
      "global local system show-origin show-scope name-only null z bool int path get get-all get-regexp list l includes no-includes",
    valued: "type",
    optional: "type",
    needs: "get get-all get-regexp list l",
    operands: 1,
  },
  "count-objects": { flags: "v H verbose human-readable" },
  describe: {
    flags: "all tags long always first-parent contains exact-match",
    valued: "match exclude candidates",
    optional: "abbrev match exclude candidates dirty",
  },
  diff: { flags: `${diffFlags} cached staged merge-base`, valued: "S G", optional: diffOptional },
  "diff-tree": { flags: `${diffFlags} r t root no-commit-id m c cc`, valued: "S G", optional: diffOptional },
  "for-each-ref": {
    valued: "sort count format contains points-at",
    optional: "sort count format contains merged no-merged points-at",
    never: signatureOfRef,
  },
  grep: {
    flags:
      "n i l L c w h H v E F G P p W I a z q ignore-case line-number files-with-matches count word-regexp extended-regexp " +
      "fixed-strings perl-regexp heading break untracked cached no-index recursive r all-match and or not show-function only-matching o",
    valued: "e A B C m",
    optional: "max-depth color max-count",
    numbers: true,
  },
  log,
  "ls-files": {
    flags:
      "c o m d s i t v z u k cached others modified deleted stage ignored exclude-standard full-name directory eol unmerged killed error-unmatch",
    valued: "x X exclude",
    optional: "exclude abbrev",
  },
  "ls-tree": { flags: "r t l d z name-only name-status long full-name full-tree", optional: "abbrev" },
  "merge-base": { flags: "a all is-ancestor octopus independent fork-point" },
  "name-rev": { flags: "tags name-only always all no-undefined" },
  reflog: { bare: true, subcommands: { show: log, list: {}, exists: {} } },
  remote: { bare: true, flags: "v verbose", subcommands: { "get-url": { flags: "push all" } } },
  "rev-list": {
    ...log,
    flags: `${logFlags} objects parents children use-bitmap-index disk-usage`,
    valued: `${logValued}`,
  },
  "rev-parse": {
    flags:
      "show-toplevel show-prefix show-cdup abbrev-ref verify short quiet q all branches tags remotes symbolic symbolic-full-name " +
      "is-inside-work-tree is-inside-git-dir is-bare-repository git-dir git-common-dir absolute-git-dir show-object-format",
    optional: "abbrev-ref short",
  },
  shortlog: {
    flags: "s n e c summary numbered email all no-merges merges",
    valued: "since until group",
    optional: "since until group format",
    never: signature,
  },
  show: log,
  "show-branch": { flags: "a r list all remotes current topo-order sha1-name no-name" },
  "show-ref": { flags: "head heads tags branches d dereference s hash verify q quiet", optional: "hash abbrev" },
  stash: { subcommands: { list: log, show: { flags: diffFlags, optional: diffOptional } } },
  status: {
    flags: "s b v z short branch long verbose show-stash ahead-behind no-ahead-behind renames no-renames",
    optional: "porcelain untracked-files ignored ignore-submodules column u",
  },
  tag: {
    flags: "l n i list ignore-case no-column",
    valued: sorted,
    optional: `${sorted} n merged no-merged format column color`,
    operandsWith: "l list merged no-merged contains no-contains points-at",
    never: signatureOfRef,
  },
  version: { flags: "build-options" },
  whatchanged: log,
  worktree: { subcommands: { list: { flags: "v z porcelain verbose" } } },
};

/** What stands before the subcommand only keeps git from starting a pager or taking a lock. */
export const git: Listing = {
  flags: "version no-pager P no-optional-locks literal-pathspecs no-replace-objects",
  subcommands,
};
