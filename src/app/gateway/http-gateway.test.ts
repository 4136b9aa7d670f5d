import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { configOf } from "./config.ts";
import { isLoopback, listen, openGateway } from "./http-gateway.ts";

it.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["localhost", true],
  ["::1", true],
  ["0:0:0:0:0:0:0:1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["::ffff:10.0.0.1", false],
  ["10.0.0.1", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example", false],
])("%s is loopback: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

it("does not listen where others could act as the user", async () => {
  // Neither composition nor configuration is looked at before the address is.
  const place = { host: "0.0.0.0", port: 0 };
  const listening = await listen({} as never, {} as never, { ...place, control: { token: "", file: "" } });
  expect(listening).toEqual({ ok: false, error: expect.stringContaining("Use 127.0.0.1") });
  expect(listening.ok ? "" : listening.error).toHaveLength(Math.min(240, listening.ok ? 0 : listening.error.length));
});

it("`tag` of a configuration meets the `match` of its policies, for clients and for minted runs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sg-tag-"));
  const at = (name: string): string => join(folder, name);
  writeFileSync(at("all.yaml"), "version: 1\nextends: [default]\n");
  writeFileSync(at("work.yaml"), "version: 1\nextends: [default]\nmatch: {tag: work}\n");
  const value = { version: 1, servers: { a: { command: "x" } }, policy: ["all.yaml", "work.yaml"], tag: "work" };
  const config = configOf(value, at("sluicegate.yaml"));
  if (!config.ok) throw new Error(config.error.sentence);
  const opened = await openGateway(config.value, at("home"), () => undefined);
  if (!opened.ok) throw new Error(opened.error);
  const { gateway, policies, close } = opened.value;
  expect(policies.select({ principal: "p", client: "c", tag: undefined }).source).toBe(at("work.yaml"));
  expect((await gateway.beginRun({ principal: "p", urlBase: "http://x" })).ok).toBe(true);
  expect([...gateway.runs.all()].map((live) => live.policy.source)).toEqual([at("work.yaml")]);
  await close();
  rmSync(folder, { recursive: true });
});
