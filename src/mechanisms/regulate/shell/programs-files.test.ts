import { expect, test } from "vitest";
import { everyEffect } from "../../../core/effect.ts";
import { effectsOfCommand } from "./effects.ts";

/** Effects, then what is read `<`, written `>` and talked to `@`, then flags. */
test.each([
  ["ls -la src", "read.local", "<src", ""],
  ["cat a b", "read.local", "<a <b", ""],
  ["tac --pager=less x", "execute.local read.local", "<x", ""],
  ["grep -rn otter src", "read.local", "<src", ""],
  ["grep -f words.txt src", "read.local", "<src <words.txt", ""],
  ["rg --pre cat x", "execute.local read.local", "<x", ""],
  ["jq .a x.json", "read.local", "<x.json", ""],
  ["sort -o out in", "read.local write.local", "<in >out", ""],
  ["tail -n 5 log", "read.local", "<log", ""],
  ["touch a", "write.local", ">a", ""],
  ["tee a b", "write.local", ">a >b", ""],
  ["cp a b dir", "read.local write.local", "<a <b >dir >dir/a >dir/b", ""],
  ["cp -t dir a", "read.local write.local", "<a >dir >dir/a", ""],
  [
    "cp authorized_keys ~/.ssh/",
    "read.local read.local.credential write.local write.local.credential write.local.grant",
    "<authorized_keys >~/.ssh/ >~/.ssh//authorized_keys",
    "credential rights",
  ],
  ["mv a", "write.local", ">a", ""],
  ["cp", "write.local", "", ""],
  ["rm a", "write.local write.local.delete", ">a", ""],
  ["rm -rf -- a", "write.local write.local.delete", ">a", "deletes-folder"],
  ["shred -n 3 a", "write.local write.local.delete", ">a", ""],
  ["unlink a", "write.local write.local.delete", ">a", ""],
  ["dd if=a of=b bs=1", "read.local write.local", "<a >b", ""],
  ["dd", "read.local", "", ""],
  ["sed -n 3p a", "read.local", "<a", ""],
  ["sed s/a/b/g a", "read.local", "<a", ""],
  ["sed -i s/a/b/ a", "read.local write.local", ">a", ""],
  ["sed -e s/a/b/ -e p a", "read.local", "<a", ""],
  ["sed 'w /tmp/x' a", "execute.local read.local", "<a", ""],
  ["sed -f s.sed a", "execute.local read.local", "<a", ""],
  ["awk '{print $1}' a", "read.local", "<a", ""],
  ["awk '{print > \"x\"}' a", "execute.local read.local", "<a", ""],
  ["awk -f p.awk a", "execute.local read.local", "<a <p.awk", ""],
  ["find . -name x", "read.local", "", ""],
  ["find . -delete", "read.local write.local.delete", "", "deletes-folder"],
  ["find . -fprint out", "read.local write.local", ">out", ""],
  ["find . -exec rm {} \\;", "read.local write.local write.local.delete", ">{}", ""],
  ["find . -exec", "read.local", "", ""],
  ["tar xf a.tar -C out", "read.local write.local", ">out", ""],
  ["tar cf - --to-command=sh a", "execute.local read.local write.local", "", ""],
  ["zip -I x a", "execute.local read.local write.local", "", ""],
  ["nano ~/.bashrc", "execute.local read.local write.local write.local.config", ">~/.bashrc", "persistence"],
  ["echo hi > out.txt", "read.local write.local", ">out.txt", ""],
  ["echo x > /dev/null", "read.local", "", ""],
  ["wc < in", "read.local", "<in", ""],
  ["cat <> both", "read.local write.local", "<both >both", ""],
  ["ls 2>&1 >&-", "read.local", "", ""],
  ["printf x >| f", "read.local write.local", ">f", ""],
])("%s", (command, effects, named, flags) => {
  const found = effectsOfCommand(command);
  expect(found.effects).toEqual(effects === "everything" ? everyEffect.toSorted() : effects.split(" ").filter(Boolean));
  const places = [
    ...found.reads.map((path) => `<${path}`),
    ...found.writes.map((path) => `>${path}`),
    ...found.destinations.map((host) => `@${host}`),
  ];
  expect(places.join(" ")).toBe(named);
  expect(found.flags.join(" ")).toBe(flags);
  expect(found.parsed).toBe(!flags.includes("unreadable"));
});
