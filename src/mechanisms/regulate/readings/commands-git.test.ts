// Calls of git that do more than read.
import { describe, expect, it } from "vitest";
import { commandFault, lines } from "../../../../test/kit/readings/readings.ts";

describe("git: what only reads", () => {
  it.each(
    lines(String.raw`
      git status
      git status --porcelain=v1 --untracked-files=no
      git log --oneline -5
      git log --since=2.days --author ann -p -- src/main.c
      git --no-pager diff HEAD~1 -- src
      git diff --cached --stat
      git show HEAD:README.md
      git blame -L 10,20 main.c
      git branch -a
      git branch --list 'v*'
      git tag -l
      git tag --list --sort=-creatordate
      git remote -v
      git remote get-url origin
      git rev-parse --abbrev-ref HEAD
      git ls-files | wc -l
      git stash list
      git worktree list
      git config --get user.name
      git for-each-ref --format='%(refname)'
      git --version
      git log -p | grep -c x
      ls && git status
      cat x; git diff
    `),
  )("%s", (text) => {
    expect(commandFault("git", text)).toBeUndefined();
    // A shell may be told its folder, and with it another repository.
    expect(commandFault("shell", text)).toBe("it runs git");
  });
});

describe("git: what does more than read", () => {
  it.each(
    lines(String.raw`
      git -c core.pager=evil log
      git -c alias.x='!rm x' x
      git -c core.sshCommand=evil fetch
      git -c diff.external=evil diff
      git --config-env=core.pager=X log
      git -C /tmp/evil status
      git --git-dir=/tmp/evil status
      git --git-dir /tmp/evil status
      git --work-tree=/tmp log
      git --exec-path=/tmp log
      git --namespace=x log
      git -p log
      git --paginate log
      cd /tmp/evil && git status
      git log --output=out
      git log --output out
      git log --outp=out
      git diff --output=out
      git log -U --output=out
      git diff -U --output=out
      git show --output=out
      git diff --ext-diff
      git log --ext-diff -p
      git diff --textconv
      git show --textconv HEAD:x
      git log --show-signature
      git log --format=%G?
      git log --pretty=format:%h%GS
      git for-each-ref --format=%GK
      git grep -O x
      git grep -Oless x
      git grep --open-files-in-pager=evil x
      git cat-file --textconv HEAD:x
      git cat-file --filters HEAD:x
      git cat-file --batch
      git clone ext::sh
      git clone https://example.com/x
      git fetch ext::sh%20-c%20x
      git fetch --upload-pack=evil origin
      git ls-remote --upload-pack=evil .
      git ls-remote origin
      git pull
      git push
      git push --receive-pack=evil
      git remote add x ext::sh
      git remote set-url origin x
      git remote update
      git remote show origin
      git archive HEAD
      git archive --remote=x --exec=evil HEAD
      git bundle create x HEAD
      git add .
      git commit -m x
      git checkout main
      git switch main
      git restore .
      git reset --hard
      git clean -fd
      git stash
      git stash pop
      git stash drop
      git branch new
      git branch -D old
      git branch -m a b
      git branch --set-upstream-to=x
      git branch --edit-description
      git tag v1
      git tag -d v1
      git tag -a v1 -m x
      git config user.name x
      git config --add a.b c
      git config --unset user.name
      git config --get user.name --edit
      git config -e
      git rebase -x 'rm x' main
      git rebase main
      git bisect run rm x
      git filter-branch --tree-filter x
      git submodule foreach rm
      git submodule update
      git worktree add x
      git gc
      git reflog expire --all
      git reflog delete x
      git notes add
      git hook run pre-commit
      git maintenance run
      git daemon
      git instaweb
      git difftool
      git mergetool
      git send-email x
      git credential fill
      git x
      git
    `),
  )("%s", (text) => {
    expect(commandFault("git", text)).toBeTypeOf("string");
    expect(commandFault("shell", text)).toBeTypeOf("string");
  });

  it("its arguments alone are read as its own", () => {
    expect(commandFault("git", "log --oneline -3")).toBeUndefined();
    expect(commandFault("git", "status | sh")).toBe("it runs sh");
    expect(commandFault("git", "push")).toBe("it runs git push");
    expect(commandFault("git", "reflog")).toBeUndefined();
    expect(commandFault("git", "remote")).toBeUndefined();
  });
});

describe("signatures", () => {
  it.each(
    lines(`
      for-each-ref --sort=signature
      for-each-ref --sort=-signature:key
      for-each-ref '--format=%(signature)'
      for-each-ref '--format=%(*signature:grade)'
      branch --sort=signature
      branch -l --sort signature
      tag -l --sort=*signature
      tag -l '--format=%( signature)'
    `),
  )("attack: git %s runs the program that checks them", (text) => {
    expect(commandFault("git", text)).toBeTypeOf("string");
  });

  it("no attack: references that are called so", () => {
    expect(commandFault("git", "log -- signature.c")).toBeUndefined();
    expect(commandFault("git", "branch -l signature-work")).toBeUndefined();
    expect(commandFault("git", "tag -l --sort=creatordate")).toBeUndefined();
  });
});
