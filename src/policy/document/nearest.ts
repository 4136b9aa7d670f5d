/** The legal word nearest to a mistyped one, for remedies such as "did you mean `confirm`?". */

/** Words longer than this are not compared: distance is quadratic in length. */
const comparedUnitsMax = 64;

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + cost,
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, (before[column - 2] ?? 0) + 1);
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** The nearest legal word, unless even that needs more than a third of its letters changed. */
export function nearestWord(word: string, legal: readonly string[]): string | undefined {
  if (word.length === 0 || word.length > comparedUnitsMax) return undefined;
  const folded = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of legal) {
    if (candidate.length > comparedUnitsMax) continue;
    const distance = editDistance(folded, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  const allowed = Math.max(1, Math.floor(Math.max(word.length, best?.length ?? 0) / 3));
  return bestDistance <= allowed ? best : undefined;
}

/** Remedy that names the nearest word, or lists the legal ones; `none` is what to do where there is no legal one. */
export function suggestion(word: string, legal: readonly string[], none = "remove it"): string {
  const nearest = nearestWord(word, legal);
  if (nearest !== undefined) return `did you mean \`${nearest}\`?`;
  if (legal.length === 0) return none;
  const shown = legal.slice(0, 16).map((candidate) => `\`${candidate}\``);
  return `use ${shown.join(", ")}${legal.length > shown.length ? " ..." : ""}`;
}
