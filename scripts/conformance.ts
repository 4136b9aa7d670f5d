import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { allowAllPolicy, startHttpFixture, startHttpRelay } from "../test/kit/server/run-fixture.ts";
import { createSandbox, startGateway } from "../test/kit/gateway/run-gateway.ts";
import { differences, runSuite, scoredFailures, type Difference, type SuiteRun } from "./conformance-run.ts";

/**
 * Runs the conformance suite against our fixture, directly and through the gateway with an allow-all policy.
 * Exit 0: every scored scenario passes directly and both runs have the same (scenario, check, status) triples, those on record in test/golden (written with SLUICEGATE_GOLDEN=write).
 */
const { values } = parseArgs({
  options: {
    requirements: { type: "string", multiple: true, default: ["2025-11-25", "2026-07-28"] },
    "direct-only": { type: "boolean", default: false },
    // A raw relay in the gateway's place shows that the comparison itself is sound.
    "through-relay": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

type Outcome = {
  readonly requirements: string;
  readonly scenarios: number;
  readonly checks: number;
  readonly failing: readonly string[];
  readonly differences: readonly Difference[];
  /** Triples that are on record and were not seen, or the other way round. */
  readonly unlike: readonly string[];
};

/** A check on record but not in the run has a minus, a check in the run alone a plus. */
function comparedWithRecord(requirements: string, { triples }: SuiteRun): readonly string[] {
  const file = new URL(`../test/golden/conformance-${requirements}.txt`, import.meta.url);
  const seen = [...triples].toSorted();
  if (process.env["SLUICEGATE_GOLDEN"] === "write") writeFileSync(file, `${seen.join("\n")}\n`);
  const known = new Set(readFileSync(file, "utf8").trimEnd().split("\n"));
  const lost = [...known].filter((triple) => !triples.has(triple)).map((triple) => `-${triple}`);
  return [...lost, ...seen.filter((triple) => !known.has(triple)).map((triple) => `+${triple}`)];
}

async function runDirect(requirements: string): Promise<SuiteRun> {
  const fixture = await startHttpFixture();
  try {
    return await runSuite(fixture.url, requirements);
  } finally {
    await fixture.stop();
  }
}

async function runGuarded(requirements: string): Promise<SuiteRun> {
  const sandbox = await createSandbox();
  const fixture = await startHttpFixture();
  try {
    const gateway = values["through-relay"]
      ? await startHttpRelay(fixture.url)
      : await startGateway(fixture.url, sandbox, { policy: allowAllPolicy });
    try {
      return await runSuite(gateway.url, requirements);
    } finally {
      await gateway.stop();
    }
  } finally {
    await fixture.stop();
    await sandbox.remove();
  }
}

async function compare(requirements: string): Promise<Outcome> {
  const direct = await runDirect(requirements);
  const failing = scoredFailures(direct);
  const counts = {
    requirements,
    scenarios: direct.scenarios.size,
    checks: direct.triples.size,
    failing,
    unlike: comparedWithRecord(requirements, direct),
  };
  if (values["direct-only"]) return { ...counts, differences: [] };
  return { ...counts, differences: differences(direct, await runGuarded(requirements)) };
}

function print(outcome: Outcome): void {
  const { requirements, scenarios, checks, failing, unlike } = outcome;
  console.log(`${requirements}: ${scenarios} scenarios, ${checks} (scenario, check, status) triples direct`);
  for (const scenario of failing) console.log(`  scored scenario fails directly: ${scenario}`);
  for (const triple of unlike) console.log(`  not as on record: ${triple}`);
  if (values["direct-only"]) return;
  if (outcome.differences.length === 0) console.log("  no difference between direct and through the gateway");
  else console.table(outcome.differences);
}

const outcomes: Outcome[] = [];
for (const requirements of values.requirements) outcomes.push(await compare(requirements));
const good = outcomes.every(
  ({ failing, unlike, differences: found }) => failing.length === 0 && unlike.length === 0 && found.length === 0,
);
if (values.json) console.log(JSON.stringify({ ok: good, runs: outcomes }));
else for (const outcome of outcomes) print(outcome);
process.exitCode = good ? 0 : 1;
