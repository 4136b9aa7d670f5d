/** The result of `bench isolation` as text. */
import { table } from "../../../app/state/sentences.ts";
import type { CallRow, IsolationBench, PlainRow } from "./run.ts";

const titles: Readonly<Record<PlainRow["kind"], string>> = {
  start: "from the command to the first list",
  memory: "memory of its own, all processes of the server",
  throughput: "reads with 32 in flight",
  operations: "operations on files, in one call",
  commit: "files written in one call and taken over",
};

export function isolationText({ rows, tiers, skipped }: IsolationBench): string {
  const calls = rows.filter((row): row is CallRow => row.kind === "call");
  const callTable = table([
    ["call", "variant", "p50 ms", "added p50 ms", "added p95 ms", "n"],
    ...calls.map((row) => [
      row.tool,
      row.variant,
      row.p50Ms.toFixed(3),
      signed(row.addedP50Ms, 3),
      signed(row.addedP95Ms, 3),
      String(row.n),
    ]),
  ]);
  const plain = rows.filter((row): row is PlainRow => row.kind !== "call");
  const plainTable = table([
    ["what", "variant", "value", "against bare", "n"],
    ...plain.map((row) => [
      titles[row.kind],
      row.variant,
      `${row.value.toFixed(1)} ${row.unit}`,
      signed(row.againstBare, 1),
      String(row.n),
    ]),
  ]);
  const how = Object.entries(tiers).map(([name, tier]) => `${name}: tier ${tier}`);
  return [callTable, plainTable, how.join(", "), ...skipped.map((one) => `skipped: ${one}`)].join("\n\n");
}

function signed(value: number, digits: number): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(digits)}`;
}
