/** Version control: hooks, settings and pointers to repositories. */
import type { ObeyedKind } from "./row.ts";

export const versionControl: readonly ObeyedKind[] = [
  {
    id: "git-hook",
    why: "git runs it on commit, checkout or merge",
    rows: [
      ["https://git-scm.com/docs/githooks", ".git/hooks/ *.git/hooks/ .githooks/ .git-hooks/"],
      ["https://git-scm.com/docs/gitrepository-layout", ".git/modules/ .git/worktrees/"],
      ["https://typicode.github.io/husky/", ".husky/ .huskyrc .huskyrc.js .huskyrc.json"],
      ["https://pre-commit.com/", ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml"],
      [
        "https://lefthook.dev/configuration/",
        "lefthook.yml lefthook.yaml lefthook.toml lefthook.json lefthook-local.* .lefthook.* .lefthook-local.* .lefthook/ .lefthook-local/ .config/lefthook.*",
      ],
      ["https://github.com/sds/overcommit", ".overcommit.yml .overcommit/"],
      ["https://github.com/toplenboren/simple-git-hooks", "simple-git-hooks.* .simple-git-hooks.*"],
      ["https://github.com/captainhook-git/captainhook", "captainhook.json captainhook.config.json"],
      ["https://github.com/phpro/grumphp", "grumphp.yml grumphp.yaml grumphp.yml.dist"],
      ["https://github.com/lint-staged/lint-staged", ".lintstagedrc .lintstagedrc.* lint-staged.config.*"],
      ["https://commitlint.js.org/reference/configuration.html", ".commitlintrc.* commitlint.config.*"],
      ["https://hk.jdx.dev/configuration.html", "hk.pkl .hk.pkl hk.local.pkl .config/hk.pkl"],
      ["https://github.com/rhysd/cargo-husky", ".cargo-husky/"],
      ["https://github.com/swellaby/rusty-hook", ".rusty-hook.toml rusty-hook.toml"],
    ],
  },
  {
    id: "git-config",
    why: "git takes commands to run from it",
    rows: [
      [
        "https://git-scm.com/docs/git-config",
        ".git/config .git/config.worktree *.git/config *.git/config.worktree .gitconfig .config/git/",
      ],
      [
        "https://git-scm.com/docs/gitrepository-layout",
        ".git/commondir .git/gitdir *.git/commondir .git/objects/info/alternates *.git/objects/info/alternates",
      ],
      ["https://git-scm.com/docs/gitattributes", ".git/info/attributes *.git/info/attributes"],
    ],
  },
  {
    id: "vcs-config",
    why: "version control takes commands to run from it",
    rows: [
      [
        "https://www.mercurial-scm.org/doc/hgrc.5.html",
        ".hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .hg/requires .hgrc mercurial.ini .config/hg/ .hgsub .hg-autohooks/",
      ],
      ["https://sapling-scm.com/docs/introduction/", ".sl/config .sl/hgrc .sl/sharedpath .sl/requires .slconfig"],
      ["https://jj-vcs.github.io/jj/latest/config/", ".jj/ .jjconfig.toml .config/jj/"],
      [
        "https://svnbook.red-bean.com/en/1.8/svn.advanced.confarea.html",
        ".subversion/ .svn/entries .svn/format .svn/wc.db",
      ],
      ["https://darcs.net/Using/Configuration", "_darcs/prefs/defaults .darcs/defaults"],
      ["https://fossil-scm.org/home/doc/trunk/www/settings.wiki", ".fossil-settings/ .fslckout _fossil_ .fossil"],
      ["https://pijul.org/manual/configuration.html", ".pijul/config .config/pijul/"],
      [
        "https://documentation.breezy-vcs.org/",
        ".bzr/branch/branch.conf .bzr/branch/location .bazaar/ .config/breezy/",
      ],
      ["https://gerrit.googlesource.com/git-repo/+/HEAD/docs/repo-hooks.md", ".repo/"],
    ],
  },
];
