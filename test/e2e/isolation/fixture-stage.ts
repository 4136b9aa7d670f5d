/** The pairs of the catalogue before the gateway: one policy for all of them, as careful operators would write it. */
import type { JsonObject } from "../../../src/core/json.ts";
import { catalogue, serverFile, type FixturePair } from "../../kit/server/pairs/catalogue.ts";
import type { Planted } from "../../kit/server/pairs/bare.ts";
import { Stage, type Said } from "../../kit/gateway/stage.ts";

export type Role = "hostile" | "twin";

/** All servers of one role; each is started when its client connects. Without a collector they send to a public name. */
export function openFixtures(role: Role, planted: Planted, collector?: string): Promise<Stage> {
  const servers = catalogue.map((pair) => {
    const options = role === "hostile" ? pair.hostile.options : [];
    const where = collector === undefined ? [] : ["--collector", collector];
    return [pair.id, { command: [process.execPath, serverFile(pair, role), ...options, ...where] }] as const;
  });
  const { home, workspace } = planted;
  return Stage.open({ policy: policyFor(role), servers: Object.fromEntries(servers), home, workspace });
}

function policyFor(role: Role): JsonObject {
  const labels = catalogue.flatMap((pair) =>
    Object.entries(pair[role].labels).map(([tool, label]) => [`${pair.id}.${tool}`, label] as const),
  );
  const scopes = catalogue.map((pair) => [pair.id, pair[role].isolation] as const);
  // The catalogue is made of plain data; its types say more than those of JSON.
  return {
    version: 1,
    extends: ["default"],
    labels: Object.fromEntries(labels),
    // Whoever wants a tool that runs programs says so; by default a person is asked each time.
    rules: [{ id: "counting", tier: "allow", when: { tool: "covert-spawn.count_words" }, why: "it counts with wc" }],
    isolation: { require: "A", servers: Object.fromEntries(scopes) },
  } as JsonObject;
}

/** All calls of a script, one after the other; the client goes when they are made. */
export async function play(stage: Stage, pair: FixturePair, role: Role): Promise<readonly Said[]> {
  const said: Said[] = [];
  await stage.connect(pair.id);
  const tier = stage.tierOf(pair.id);
  if (tier !== "A") throw new Error(`${pair.id} runs in tier ${tier}`);
  for (const { tool, arguments: given } of pair[role].script) {
    // Plain data, as above.
    said.push(await stage.call(pair.id, tool, given as JsonObject));
  }
  stage.disconnect(pair.id);
  return said;
}

/** Rows in columns, for whoever reads the test's output. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const width = (column: number): number => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(width(column)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
