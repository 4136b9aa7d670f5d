/** What a climb came to, in words: its budget, how far it came, and the best of what was left. */
import { escapeForDisplay } from "../../../gateway/decision/display-text.ts";
import { table } from "../../../app/state/sentences.ts";
import { slotsOf } from "./climb-texts.ts";
import type { ClimbOptions, ClimbRow, Standing } from "./climb.ts";

const survivorsShownMax = 8;
const survivorCharactersMax = 300;

/** Counts over all starts; `found` by the detectors at the start, `lost` those of them that the climb got past. */
export type ClimbSums = {
  readonly starts: number;
  readonly evaluations: number;
  readonly foundBefore: number;
  readonly foundAfter: number;
  readonly deniedBefore: number;
  readonly deniedAfter: number;
  readonly acceptedAfter: number;
  readonly families: Readonly<Record<string, { readonly before: number; readonly after: number }>>;
};

export function climbSums(rows: readonly ClimbRow[]): ClimbSums {
  const count = (of: (row: ClimbRow) => boolean): number => rows.filter(of).length;
  const names = [...new Set(rows.flatMap(({ before, after }) => [...before.families, ...after.families]))].toSorted();
  const has = (family: string, at: (row: ClimbRow) => Standing): number =>
    count((row) => at(row).families.includes(family));
  return {
    starts: rows.length,
    evaluations: rows.reduce((sum, row) => sum + row.evaluations, 0),
    foundBefore: count(({ before }) => before.verdict !== "allow"),
    foundAfter: count(({ after }) => after.verdict !== "allow"),
    deniedBefore: count(({ before }) => before.verdict === "deny"),
    deniedAfter: count(({ after }) => after.verdict === "deny"),
    acceptedAfter: count(({ after }) => after.verdict === "allow" && after.accepted),
    families: Object.fromEntries(
      names.map((family) => [
        family,
        { before: has(family, ({ before }) => before), after: has(family, ({ after }) => after) },
      ]),
    ),
  };
}

export function climbText(rows: readonly ClimbRow[], { seed, budget }: ClimbOptions): string {
  const sums = climbSums(rows);
  const lines = Object.entries(sums.families).map(([family, { before, after }]) => [family, `${before}`, `${after}`]);
  const survivors = rows
    .filter(({ before, after }) => before.verdict !== "allow" && after.verdict === "allow")
    .toSorted((one, other) => other.before.score - other.after.score - (one.before.score - one.after.score));
  const shown = survivors.slice(0, survivorsShownMax).map(({ entry, before, moves, survivor }) => {
    const text = slotsOf(survivor).map(({ place, text: said }) => `${place.argument ?? "description"}: ${said}`);
    const words = escapeForDisplay(text.join(" | ")).slice(0, survivorCharactersMax);
    return `  ${escapeForDisplay(entry)} (was ${before.families.join(", ")}; ${moves.join(", ")})\n    ${words}`;
  });
  return [
    `${sums.starts} hostile entries, ${budget} tries each, seed ${seed}: ${sums.evaluations} tries.`,
    `Found by the detectors: ${sums.foundBefore} at the start, ${sums.foundAfter} after the climb; refused ${sums.deniedBefore} and ${sums.deniedAfter}.`,
    `Not found, and proposed by the card as a plain read that one key accepts: ${sums.acceptedAfter}.`,
    "",
    table([["family", "at the start", "after the climb"], ...lines]),
    "",
    ...(shown.length === 0 ? ["Nothing that was found at the start got past."] : ["The best survivors:", ...shown]),
    "",
    "A survivor is not a harm: what a tool returns stays untrusted, and sinks go by flow and rules whatever a list says.",
  ].join("\n");
}
