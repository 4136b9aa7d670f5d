// What the engine says of random policies, said again by a solver that shares nothing with it. One process is fed all
// questions: for proofs those that make an invariant a proof, for refutations the unrolled system.
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Explored } from "../../../src/proof/prove/fixpoint.ts";
import { type Answer, type SolverText, hornOf, smtlibOf } from "../../../src/proof/exports/smtlib.ts";
import { decideCore, makeProver } from "../../../src/proof/prove/prove.ts";
import { coreOf, documents, hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

/** Proofs that are confirmed, and as many refutations. */
const modelsMin = process.env["SLUICEGATE_FULL"] === "1" ? 1_000 : 50;
/** Policies tried for each of them. */
const policiesPerModelMax = 20;
const solverMsMax = 240_000;
const answerBytesMax = 64 * 1024 * 1024;

const missing =
  spawnSync("z3", ["--version"]).status === 0 ? undefined : "z3 is not installed (Debian: apt-get install z3)";

type Named = { readonly explored: Explored; readonly policy: string };
type Models = { readonly proved: readonly Named[]; readonly refuted: readonly Named[] };

/** Models of random policies with all their rules and with none, at the upper ends and at both. */
function randomModels(): Models {
  const proved: Named[] = [];
  const refuted: Named[] = [];
  const batch = 2 * modelsMin;
  const seed = fc.readConfigureGlobal().seed ?? Math.floor(Math.random() * 2 ** 31);
  for (let tried = 0; tried < modelsMin * policiesPerModelMax; tried += batch) {
    for (const { document, tools } of fc.sample(documents, { seed: seed + tried, numRuns: batch })) {
      const subject = subjectOf(document, tools);
      if (subject === undefined) continue;
      const prover = makeProver(subject);
      for (const core of [coreOf(subject), []]) {
        for (const ends of [["hi"], ["lo", "hi"]] as const) {
          const found = decideCore(prover, hazardId, core, ends);
          if (!found.ok) continue;
          const named = { explored: found.value, policy: JSON.stringify({ core, ends, document }) };
          if (found.value.distance !== undefined) refuted.push(named);
          // A hazard that nothing can bring about is no test of an invariant.
          else if (found.value.layers.at(-1) !== 0) proved.push(named);
        }
      }
    }
    if (proved.length >= modelsMin && refuted.length >= modelsMin) break;
  }
  return { proved: proved.slice(0, modelsMin), refuted: refuted.slice(0, modelsMin) };
}

/** Answers to each text, from one process; each text is a problem of its own, its questions share what it declares. */
function answers(texts: readonly SolverText[]): readonly (readonly string[])[] {
  const mark = "---- end of a problem ----";
  const input = texts.map(({ text }) => `${text}\n(echo "${mark}")\n(reset)\n`).join("");
  const asked = spawnSync("z3", ["-in"], { input, encoding: "utf8", timeout: solverMsMax, maxBuffer: answerBytesMax });
  expect(asked.error).toBeUndefined();
  const found: string[][] = [[]];
  for (const line of asked.stdout.split("\n")) {
    if (line === mark) found.push([]);
    else if (line !== "") found.at(-1)?.push(line);
  }
  return found.slice(0, -1);
}

function disagreements(models: readonly Named[], write: (explored: Explored) => SolverText): readonly string[] {
  const texts = models.map(({ explored }) => write(explored));
  const said = answers(texts);
  expect(said).toHaveLength(texts.length);
  return models.flatMap(({ policy }, index) => {
    const [wanted, got] = [texts[index]?.expected.join(" "), said[index]?.join(" ")];
    return wanted === got ? [] : [`wanted ${wanted}, got ${got}: ${policy}`];
  });
}

describe.skipIf(missing !== undefined)(
  `z3 on random policies${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    const { proved, refuted } = missing === undefined ? randomModels() : { proved: [], refuted: [] };

    it("finds as many proofs and refutations as it is meant to confirm", () => {
      expect([proved.length, refuted.length]).toEqual([modelsMin, modelsMin]);
    });

    it("confirms every proof: the start, no bad move, no way out", { timeout: solverMsMax }, () => {
      expect(disagreements(proved, smtlibOf)).toEqual([]);
    });

    it("confirms every refutation, and that no shorter one exists", { timeout: solverMsMax }, () => {
      expect(disagreements(refuted, smtlibOf)).toEqual([]);
    });

    it("decides the same without our invariant", { timeout: solverMsMax }, () => {
      const some = [...proved.slice(0, modelsMin / 2), ...refuted.slice(0, modelsMin / 2)];
      expect(disagreements(some, hornOf)).toEqual([]);
    });

    it("refuses an invariant from which something bad is not excluded", { timeout: solverMsMax }, () => {
      // States in which a move is bad count as safe: the second question has an answer then.
      const forged = proved.map(({ explored }) => smtlibOf({ ...explored, layers: [0] }));
      for (const said of answers(forged)) expect(said).toContain("sat" satisfies Answer);
    });

    it("refuses an invariant that a move leaves", { timeout: solverMsMax }, () => {
      const deep = proved.filter(({ explored }) => explored.layers.length > 1);
      expect(deep.length).toBeGreaterThan(0);
      for (const said of answers(
        deep.map(({ explored }) => smtlibOf({ ...explored, layers: explored.layers.slice(0, -1) })),
      )) {
        expect(said.filter((line) => line === "sat" || line === "unsat")).toEqual(["unsat", "unsat", "sat"]);
      }
    });
  },
);
