/**
 * SafeMCP's tag protocol. Its closing tag equals its opening tag, and two fifths of the published targets are broken
 * (`<safety|>`, `<safety>..</safety>`, `<|safety>`), so models that were trained on them write broken tags, too. Every
 * spelling is taken for a tag; only exactly one of the three words is a label; several labels mean the strictest.
 */
import type { StateClass } from "../../core/questions/prediction.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { labelTailCharsMax } from "./llm-limits.ts";
import { type Written, isStateClass, stricterClass } from "./llm-verdict.ts";

/** `<|name|>` with any of its marks lost, doubled, spaced or turned into a slash; at least one stands on each side. */
const tag = /(?:<[\s/|]{0,4}|\|)(next_state|safety|filtered_tools)(?:[\s/|]{0,4}>|\|)/gi;

type Part = { readonly name: string; readonly at: number; readonly text: string };

/** Reads an answer in tags, or says why it cannot be read. Linear in its length. */
export function readTags(text: string): Result<Written, string> {
  const parts = partsOf(text);
  const labels = parts.filter((part) => part.name === "safety" && part.at >= text.length - labelTailCharsMax);
  const found = labels.flatMap((part) => labelIn(part.text) ?? []);
  const [first, ...more] = found;
  if (first === undefined) return err("its answer has no label");
  const lists = parts.filter((part) => part.name === "filtered_tools").flatMap((part) => namesIn(part.text) ?? []);
  return ok({
    nextState: parts.find((part) => part.name === "next_state")?.text ?? "",
    reasoning: parts.findLast((part) => part.name === "next_state")?.text ?? "",
    safety: more.reduce(stricterClass, first),
    filtered: lists.length === 0 ? undefined : lists.flatMap((list) => list),
  });
}

/** Each tag with what stands between it and the next one. */
function partsOf(text: string): readonly Part[] {
  const marks = [...text.matchAll(tag)];
  return marks.map((mark, index) => ({
    name: (mark[1] ?? "").toLowerCase(),
    at: mark.index,
    text: text.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? text.length),
  }));
}

/** The label, if the text, or its first line, is exactly one: `safe tools are` and `safe|critical` are none. */
function labelIn(text: string): StateClass | undefined {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  const word = line
    .slice(0, 40)
    .trim()
    .replace(/^["'*`]+|["'*`.]+$/g, "")
    .toLowerCase();
  return line.length <= 40 && isStateClass(word) ? word : undefined;
}

/** A list in JSON, or with the quotes of Python, in an own array so that an empty list differs from none. */
function namesIn(text: string): readonly (readonly string[])[] | undefined {
  const start = text.indexOf("[");
  const end = text.indexOf("]", start);
  if (start < 0 || end < 0) return undefined;
  const inner = text.slice(start + 1, end).trim();
  if (inner === "") return [[]];
  const items = inner.split(",").map((item) => item.trim());
  const name = /^(?:"([^"]*)"|'([^']*)'|([^\s"'[\]{}]+))$/;
  const names = items.map((item) => name.exec(item));
  if (names.some((found) => found === null)) return undefined;
  return [names.map((found) => found?.[1] ?? found?.[2] ?? found?.[3] ?? "")];
}
