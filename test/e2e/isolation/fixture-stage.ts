/** The pairs of the catalogue before the gateway: one policy for all of them, as careful operators would write it. */
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../../src/core/json.ts";
import { catalogue, serverFile, type FixturePair } from "../../kit/server/pairs/catalogue.ts";
import type { Planted } from "../../kit/server/pairs/bare.ts";
import { Stage, type Said } from "../../kit/gateway/stage.ts";

export type Role = "hostile" | "twin";

export type Fixtures = {
  readonly planted: Planted;
  /** Without one they send to a public name. */
  readonly collector?: string;
  readonly pairs?: readonly FixturePair[];
};

/** Servers of one role, and beside them a desk of the user; each is started when its client connects. */
export function openFixtures(role: Role, { planted, collector, pairs = catalogue }: Fixtures): Promise<Stage> {
  const servers = pairs.map((pair) => {
    const options = role === "hostile" ? pair.hostile.options : [];
    const where = collector === undefined ? [] : ["--collector", collector];
    return [pair.id, { command: [process.execPath, serverFile(pair, role), ...options, ...where] }] as const;
  });
  const { home, workspace } = planted;
  const all = { ...Object.fromEntries(servers), desk: { command: [process.execPath, deskFile] } };
  return Stage.open({ policy: policyFor(role, pairs), servers: all, home, workspace });
}

const deskFile = fileURLToPath(new URL("desk-server.ts", import.meta.url));

/** What the user's own server does: it holds a key, sends and pays. */
const done = { output: { confidentiality: "public", trust: "trusted" } };
const desk: JsonObject = {
  "desk.read_key": { effects: ["read.local"], output: { confidentiality: "private", trust: "trusted" } },
  "desk.send_mail": { effects: ["write.external.send"], args: { to: "recipient", body: "content" }, ...done },
  "desk.pay": { effects: ["write.external.pay"], args: { iban: "recipient", amount: "amount" }, ...done },
};

function policyFor(role: Role, pairs: readonly FixturePair[]): JsonObject {
  const labels = pairs.flatMap((pair) =>
    Object.entries(pair[role].labels).map(([tool, label]) => [`${pair.id}.${tool}`, label] as const),
  );
  const scopes = pairs.map((pair) => [pair.id, pair[role].isolation] as const);
  // The catalogue is made of plain data; its types say more than those of JSON.
  return {
    version: 1,
    extends: ["default"],
    labels: { ...Object.fromEntries(labels), ...desk },
    // Whoever wants a tool that runs programs says so; by default a person is asked each time.
    rules: [{ id: "counting", tier: "allow", when: { tool: "covert-spawn.count_words" }, why: "it counts with wc" }],
    isolation: { require: "A", servers: { ...Object.fromEntries(scopes), desk: {} } },
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
