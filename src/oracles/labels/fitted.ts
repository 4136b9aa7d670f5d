/** The fitted weights, read from their text once. Anything else than a number there is a fault of the build. */
import { calibration, deedWeights, roleWeights } from "./weights.ts";

type Table = ReadonlyMap<string, ReadonlyMap<string, number>>;

function read(rows: { readonly [name: string]: string }): Table {
  return new Map(
    Object.entries(rows).map(([name, text]) => [
      name,
      new Map(
        text.split(" ").map((pair): [string, number] => {
          const at = pair.lastIndexOf(":");
          return [pair.slice(0, at), Number(pair.slice(at + 1))];
        }),
      ),
    ]),
  );
}

/** A case that no label showed: never above any threshold. */
const never = [0, 0] as const;

/** A score as the share of true facts among those with such a score, on servers that were held out. */
function calibrated(kind: string, probability: number): number {
  const bounded = Math.min(1 - 1e-6, Math.max(1e-6, probability));
  const [slope, shift] = Object.hasOwn(calibration, kind) ? (calibration[kind] ?? never) : never;
  return 1 / (1 + Math.exp(-(slope * Math.log(bounded / (1 - bounded)) + shift)));
}

export const fitted = { deeds: read(deedWeights), roles: read(roleWeights), calibrated };
