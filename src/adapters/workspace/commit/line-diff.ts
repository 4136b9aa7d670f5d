/**
 * Differences of two texts by lines: Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1, 1986),
 * with the number of edits bounded, since the time grows with it and a server chooses the text.
 */
import { diffContextLines, diffEditsMax, diffLinesMax } from "../workspace-limits.ts";

export type DiffLine = { readonly kind: "same" | "removed" | "added"; readonly text: string };

/** All lines of both texts in order, or undefined where they differ in too much to be shown. */
export function diffLines(before: string, after: string): readonly DiffLine[] | undefined {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  if (old.length > diffLinesMax || fresh.length > diffLinesMax) return undefined;
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = shortest(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  if (middle === undefined) return undefined;
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)];
}

/** The text in unified form: hunks with their line numbers and the lines around each change. */
export function unified(lines: readonly DiffLine[]): readonly string[] {
  const near = nearChange(lines);
  const out: string[] = [];
  let [old, fresh] = [1, 1];
  for (let at = 0; at < lines.length; at += 1) {
    if (near[at] !== 1) {
      [old, fresh] = [old + 1, fresh + 1];
      continue;
    }
    let end = at;
    while (end < lines.length && near[end] === 1) end += 1;
    const hunk = lines.slice(at, end);
    const olds = hunk.filter((line) => line.kind !== "added").length;
    const news = hunk.filter((line) => line.kind !== "removed").length;
    out.push(`@@ -${olds === 0 ? old - 1 : old},${olds} +${news === 0 ? fresh - 1 : fresh},${news} @@`);
    for (const line of hunk) out.push(`${marks[line.kind]}${line.text}`);
    [old, fresh, at] = [old + olds, fresh + news, end - 1];
  }
  return out;
}

const marks: Readonly<Record<DiffLine["kind"], string>> = { same: " ", removed: "-", added: "+" };

/** 1 for each line that is a change, or so near to one that it is shown with it. */
function nearChange(lines: readonly DiffLine[]): Uint8Array {
  const near = new Uint8Array(lines.length);
  for (const [at, line] of lines.entries()) {
    if (line.kind === "same") continue;
    near.fill(1, Math.max(0, at - diffContextLines), at + diffContextLines + 1);
  }
  return near;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The furthest point on each diagonal after each number of edits, then the way back through them. */
function shortest(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] | undefined {
  const most = Math.min(old.length + fresh.length, diffEditsMax);
  const reach = new Int32Array(2 * most + 3);
  const history: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    history.push(reach.slice(most + 1 - edits - 1, most + 1 + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = most + 1 + diagonal;
      const down = diagonal === -edits || (diagonal !== edits && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0));
      let x = down ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0) + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
      reach[at] = x;
      if (x >= old.length && x - diagonal >= fresh.length) return wayBack(old, fresh, history);
    }
  }
  return undefined;
}

function wayBack(
  old: readonly string[],
  fresh: readonly string[],
  history: readonly Int32Array[],
): readonly DiffLine[] {
  const out: DiffLine[] = [];
  let [x, y] = [old.length, fresh.length];
  for (let edits = history.length - 1; edits >= 0; edits -= 1) {
    const reach = history[edits] ?? new Int32Array();
    const at = (diagonal: number): number => reach[diagonal + edits + 1] ?? 0;
    const diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const fromX = edits === 0 ? 0 : at(down ? diagonal + 1 : diagonal - 1);
    const fromY = edits === 0 ? 0 : fromX - (down ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0 && old[x - 1] === fresh[y - 1]) {
      x -= 1;
      y -= 1;
      out.push({ kind: "same", text: old[x] ?? "" });
    }
    if (edits === 0) break;
    if (down) out.push({ kind: "added", text: fresh[fromY] ?? "" });
    else out.push({ kind: "removed", text: old[fromX] ?? "" });
    [x, y] = [fromX, fromY];
  }
  return out.reverse();
}
