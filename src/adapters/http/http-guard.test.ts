import fc from "fast-check";
import { expect, test } from "vitest";
import { accepted, bearerToken, endpointOf, hostName, refuseForeign, repeatedField } from "./http-guard.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const none = { hosts: [], origins: [] };

test("law: no host but loopback and the configured ones passes, with or without a port", () => {
  const label = fc.stringMatching(/^[a-z0-9-]{1,10}$/);
  const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
  fc.assert(
    fc.property(host, fc.option(fc.nat(65_535)), (name, port) => {
      const whole = port === null ? name : `${name}:${port}`;
      const own = name === "localhost" || name === "127.0.0.1";
      expect(refuseForeign(whole, undefined, none) === undefined).toBe(own);
      expect(refuseForeign(whole, undefined, { hosts: [name], origins: [] })).toBeUndefined();
    }),
    { numRuns: runs },
  );
});

test("what is no host name is none", () => {
  expect(hostName("[::1]:80")).toBe("[::1]");
  for (const host of [undefined, "", "a b", "a:b", "::1", "a/b", "a@b", "localhost:", "localhost, evil"]) {
    expect(hostName(host)).toBeUndefined();
  }
});

test("forms of answer: wildcards, weights and none at all", () => {
  expect(accepted(undefined)).toEqual({ json: true, stream: true, streamFirst: false });
  expect(accepted("*/*")).toEqual({ json: true, stream: true, streamFirst: false });
  expect(accepted("Application/JSON; charset=utf-8")).toEqual({ json: true, stream: false, streamFirst: false });
  expect(accepted("text/*, application/json;q=0")).toEqual({ json: false, stream: true, streamFirst: true });
  expect(accepted("text/html")).toEqual({ json: false, stream: false, streamFirst: false });
  expect(accepted("application/json, text/event-stream")).toMatchObject({ streamFirst: false });
  expect(accepted("text/event-stream, application/json")).toMatchObject({ streamFirst: true });
});

test("endpoints are matched exactly", () => {
  expect(endpointOf("/mcp")).toEqual({ kind: "mcp", server: undefined, runToken: undefined });
  expect(endpointOf("/r/t/s/n/mcp")).toEqual({ kind: "mcp", server: "n", runToken: "t" });
  for (const path of [
    "/mcp/",
    "/s//mcp",
    "/s/a/b/mcp",
    "/s/%61/mcp",
    "/r/t/r/u/mcp",
    "//mcp",
    "/s/../mcp/x",
    "/healthz",
  ]) {
    expect(endpointOf(path)).toEqual({ kind: "other", path });
  }
});

test("bearer tokens", () => {
  expect(bearerToken("bearer abc.DEF=")).toBe("abc.DEF=");
  for (const header of [undefined, "Basic abc", "Bearer", "Bearer a b", "Bearer a, Bearer b"]) {
    expect(bearerToken(header)).toBeUndefined();
  }
});

test("a field that decides something is there once, in whatever letters", () => {
  expect(repeatedField(["Host", "a", "HOST", "b"])).toBe("host");
  for (const name of ["Origin", "Authorization", "Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version"]) {
    expect(repeatedField(["host", "a", name, "1", name.toLowerCase(), "1"])).toBe(name.toLowerCase());
  }
  expect(repeatedField(["host", "a", "accept", "x", "accept", "y", "x-host", "b"])).toBeUndefined();
  expect(repeatedField(["x", "host", "host", "a"])).toBeUndefined();
});
