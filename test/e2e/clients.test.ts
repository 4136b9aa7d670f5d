import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandbox, gatewayMissing, type Sandbox } from "../kit/gateway/run-gateway.ts";
import type { ClientKind } from "../kit/client/connection.ts";
import type { Outcomes } from "../kit/client/operations.ts";
import { outcomesOf, type TransportKind, type Way } from "../kit/client/reach.ts";
import { sdkV1 } from "../kit/client/sdk-v1.ts";
import { sdkV2Auto, sdkV2Legacy, sdkV2Modern } from "../kit/client/sdk-v2.ts";

const operationsMsMax = 60_000;
const clients: readonly ClientKind[] = [sdkV1, sdkV2Legacy, sdkV2Modern, sdkV2Auto];
const transports: readonly TransportKind[] = ["stdio", "http"];
const combinations = clients.flatMap((client) =>
  transports.map((transport) => ({ name: client.name, client, transport })),
);

let sandbox: Sandbox;
const missing = process.env["CI"] === undefined ? gatewayMissing() : undefined;

beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(async () => {
  await sandbox.remove();
});

type Combination = (typeof combinations)[number];
const brought = new Map<Combination, Promise<Outcomes>>();

/** What the operations bring without anything between; run once, however many compare with it. */
function directly(combination: Combination): Promise<Outcomes> {
  const known =
    brought.get(combination) ?? outcomesOf(combination.client, combination.transport, "direct", { sandbox });
  brought.set(combination, known);
  return known;
}

/** Operations that are meant to fail, and how the official clients show it. */
const failing = new Set(["call of an unknown tool"]);

test.each(combinations)(
  "$name over $transport: everything works directly",
  { timeout: operationsMsMax },
  async (combination) => {
    const outcomes = await directly(combination);
    for (const [name, outcome] of Object.entries(outcomes)) {
      if (!failing.has(name)) expect(outcome, name).toHaveProperty("ok");
    }
    expect(outcomes["call cancelled"]).toEqual({ ok: { call: "given up", reached: true } });
    expect(outcomes["subscribe"]).toMatchObject({ ok: { heard: true } });
    expect(outcomes["call with progress"]).toMatchObject({
      ok: { seen: [{ progress: 0 }, { progress: 50 }, { progress: 100 }] },
    });
  },
);

function compareThrough(way: Way): void {
  test.each(combinations)("$name over $transport: as directly", { timeout: operationsMsMax }, async (combination) => {
    const direct = await directly(combination);
    const through = await outcomesOf(combination.client, combination.transport, way, { sandbox });
    // One by one: a megabyte of text hides what else differs.
    for (const [name, outcome] of Object.entries(direct)) expect(through[name], name).toEqual(outcome);
  });
}

describe("through a raw relay", () => compareThrough("relay"));
describe.skipIf(missing !== undefined)("through the gateway", () => compareThrough("gateway"));
