import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "./kit/client/child.ts";
import { repositoryFolder } from "./kit/server/run-fixture.ts";
import { gatewayMissing } from "./kit/gateway/run-gateway.ts";

const suiteMsMax = 180_000;

async function conformance(...flags: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const child = startChild([process.execPath, join(repositoryFolder, "scripts", "conformance.ts"), ...flags]);
  let output = "";
  child.process.stdout?.setEncoding("utf8");
  child.process.stdout?.on("data", (chunk: string) => (output += chunk));
  const [code]: readonly unknown[] = await once(child.process, "close");
  return { code, output: output + child.stderr() };
}

// Where a run must prove something, a missing gateway is a failure and not a reason to skip.
const reason = process.env["CI"] === undefined ? gatewayMissing() : undefined;

test("every scored server scenario passes directly", { timeout: suiteMsMax }, async () => {
  expect(await conformance("--direct-only")).toMatchObject({ code: 0 });
});

test("conformance is the same directly and through the gateway", { timeout: suiteMsMax }, async ({ skip }) => {
  if (reason !== undefined) return skip(reason);
  const { code, output } = await conformance();
  expect(output).toContain("no difference");
  expect(code, output).toBe(0);
});
