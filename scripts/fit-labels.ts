/**
 * Writes the weights of `src/oracles/labels/weights.ts` from the hand labels of the seen servers:
 * `node scripts/fit-labels.ts DATA LISTS`, where DATA is the evaluation data and LISTS a folder of saved lists
 * `SERVER.json`, as for `sluicegate bench labels`.
 * The same labels and lists give the same file.
 */
import { writeFileSync } from "node:fs";
import { readHands } from "../src/lab/bench/labels/hand-labelled.ts";
import { type Table, train } from "../src/lab/bench/labels/train.ts";

const [data, lists] = process.argv.slice(2);
const hands = readHands({ data, lists });
if (!hands.ok) throw new Error(hands.error);
const seen = hands.value.servers.filter((server) => server.seen);
const { deeds, roles, calibration } = train(seen);

/** Weights that move a score by less than this are left out. */
const least = 0.05;

function textOf(table: Table): string {
  const rows = Object.entries(table).map(([name, weights]) => {
    const kept = Object.entries(weights).filter(([, weight]) => Math.abs(weight) >= least);
    const pairs = kept
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([sign, weight]) => `${sign}:${weight.toFixed(2)}`);
    return `  ${JSON.stringify(name)}:\n    ${JSON.stringify(pairs.join(" "))},`;
  });
  return `{\n${rows.join("\n")}\n}`;
}

const pairs = Object.entries(calibration).map(
  ([kind, pair]) => `  ${JSON.stringify(kind)}: [${pair.map((one) => one.toFixed(3)).join(", ")}],`,
);
const text = `/**
 * Log-odds of signs, by question and by role: written by \`scripts/fit-labels.ts\`, never by hand. ${seen.length} servers of
 * \`scenarios/labels\`, ${seen.reduce((sum, { tools }) => sum + tools.length, 0)} tools.
 */
export const deedWeights: { readonly [question: string]: string } = ${textOf(deeds)};

export const roleWeights: { readonly [role: string]: string } = ${textOf(roles)};

/** Slope and shift of log-odds, by case, that make scores of held-out servers the shares of facts that are right. */
export const calibration: { readonly [name: string]: readonly [number, number] } = {
${pairs.join("\n")}
};
`;
writeFileSync(new URL("../src/oracles/labels/weights.ts", import.meta.url), text);
process.stdout.write(`${seen.length} servers, ${text.length} characters\n${pairs.join("\n")}\n`);
