import { describe, expect, it } from "vitest";
import { commandWords } from "./command-words.ts";

const words = (text: string): readonly string[] | undefined =>
  commandWords(text)
    ?.flat()
    .map((word) => word.text);

describe("the words of a command line", () => {
  it.each([
    ["s\\luicegate app'ro've x", ["sluicegate", "approve", "x"]],
    ["a=sluicegate; $a approve", ["a=sluicegate", "sluicegate", "approve"]],
    ["cat {a,b}", ["cat", "a", "b"]],
    ["echo x > 'a b'", ["echo", "x", "a b", "a", "b"]],
    ["x $(y z)", ["x", "$(...)", "y", "z"]],
    ["if a; then b; fi", ["a", "b"]],
    ["bash -c 'sluicegate approve x'", ["bash", "-c", "sluicegate approve x", "sluicegate", "approve", "x"]],
    ["cat <<E\nhello there\nE", ["cat", "E", "hello there\n", "hello", "there"]],
    ["bash -c '('", ["bash", "-c", "("]],
    ["a+=1 b", ["a+=1", "b"]],
  ])("%s", (text, found) => {
    expect(words(text)).toEqual(expect.arrayContaining(found));
  });

  it("says which words are patterns", () => {
    expect(commandWords("cat a* 'b*'")).toEqual([
      [
        { text: "cat", glob: false },
        { text: "a*", glob: true },
        { text: "b*", glob: false },
      ],
    ]);
  });

  it("gives nothing for what no shell reads, and for too much", () => {
    expect(words("echo 'x")).toBeUndefined();
    expect(words(`x ${"{a,b}".repeat(8)}`)).toBeUndefined();
    expect(words("a ".repeat(4_100))).toBeUndefined();
    expect(words(`if x; then ${"{a,b}".repeat(8)}; fi`)).toBeUndefined();
    expect(words(`x=${"{a,b}".repeat(8)} echo`)).toBeUndefined();
    expect(words(`x > ${"{a,b}".repeat(8)}`)).toBeUndefined();
  });

  it("reads texts in texts as deep as it may", () => {
    expect(words(`a "b 'c d'"`)).toContain("d");
    expect(words(`bash -c "${"x ".repeat(2_100)}" "${"y ".repeat(2_100)}"`)).toBeUndefined();
  });
});
