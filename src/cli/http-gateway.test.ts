import { expect, it } from "vitest";
import { isLoopback, listen } from "./http-gateway.ts";

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
