import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandbox, gatewayMissing, type Sandbox } from "../kit/gateway/run-gateway.ts";
import type { ClientKind } from "../kit/client/connection.ts";
import type { Outcomes } from "../kit/client/operations.ts";
import { outcomesOf, type TransportKind } from "../kit/client/reach.ts";
import { sdkV1 } from "../kit/client/sdk-v1.ts";
import { sdkV2Legacy, sdkV2Modern } from "../kit/client/sdk-v2.ts";

const operationsMsMax = 60_000;
const transports: readonly TransportKind[] = ["stdio", "http"];
const clients: readonly ClientKind[] = [sdkV1, sdkV2Legacy, sdkV2Modern];
const combinations = clients.flatMap((client) =>
  transports.map((transport) => ({ name: client.name, client, transport })),
);

/** Members that only one era has on the wire; some clients hand them to their caller. */
const eraMembers = new Set(["_meta", "resultType", "ttlMs", "cacheScope"]);

/** What is left of a value when the marks of an era are taken away. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !eraMembers.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, timeless(member)]));
}

let sandbox: Sandbox;
const missing = process.env["CI"] === undefined ? gatewayMissing() : undefined;

beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(async () => {
  await sandbox.remove();
});

const other = { legacy: "modern", modern: "legacy" } as const;

test.each(combinations)(
  "$name over $transport cannot reach a server of the other era directly",
  async ({ client, transport }) => {
    const across = outcomesOf(client, transport, "direct", { sandbox, fixture: { era: other[client.era] } });
    await expect(across).rejects.toThrow();
  },
  operationsMsMax,
);

describe.skipIf(missing !== undefined)("through the gateway", () => {
  test.each(combinations)(
    "$name over $transport reaches a server of the other era",
    { timeout: operationsMsMax },
    async ({ client, transport }) => {
      const same: Outcomes = await outcomesOf(client, transport, "direct", { sandbox, fixture: { era: client.era } });
      const across = await outcomesOf(client, transport, "gateway", { sandbox, fixture: { era: other[client.era] } });
      for (const [name, outcome] of Object.entries(same))
        expect(timeless(across[name]), name).toEqual(timeless(outcome));
    },
  );
});
