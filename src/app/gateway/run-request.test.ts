import { describe, expect, test } from "vitest";
import { localPrincipal } from "./http-identity.ts";
import { readRunRequest, runRequestBytesMax } from "./run-request.ts";

const read = (value: unknown): ReturnType<typeof readRunRequest> =>
  readRunRequest(new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)));

describe("POST /runs", () => {
  test("takes nothing, or what the design names", () => {
    expect(read("")).toEqual({ ok: true, value: {} });
    const whole = { principal: "user:ann@corp.example", parent: "run-1", instruction: "Tidy up.", ttl: 3600 };
    const { ttl: _seconds, ...rest } = whole;
    expect(read(whole)).toEqual({ ok: true, value: { ...rest, idleMs: 3_600_000 } });
    expect(read({ principal: localPrincipal }).ok).toBe(true);
    expect(read({ ttl: 60 }).ok && read({ ttl: 30 * 86_400 }).ok).toBe(true);
  });

  const bad: readonly (readonly [string, string, unknown])[] = [
    ["SG-RUNS-BODY", "body", "{"],
    ["SG-RUNS-BODY", "body", "\xff"],
    ["SG-RUNS-BODY", "body", []],
    ["SG-RUNS-BODY", "body", '"instruction"'],
    ["SG-RUNS-BODY", "body", "null"],
    ["SG-RUNS-BODY", "body", " ".repeat(runRequestBytesMax + 1)],
    ["SG-RUNS-KEY", "principle", { principle: "ann" }],
    ["SG-RUNS-KEY", "a?b", { "a\nb": 1 }],
    ["SG-RUNS-PRINCIPAL", "principal", { principal: 1 }],
    ["SG-RUNS-PRINCIPAL", "principal", { principal: "" }],
    ["SG-RUNS-PRINCIPAL", "principal", { principal: "a".repeat(129) }],
    ["SG-RUNS-PRINCIPAL", "principal", { principal: "os:4711" }],
    // These belong to users whom their credentials name, and to keys of runs.
    ["SG-RUNS-PRINCIPAL", "principal", { principal: `${localPrincipal}/credentials:00` }],
    ["SG-RUNS-PRINCIPAL", "principal", { principal: "ann/any" }],
    ["SG-RUNS-PARENT", "parent", { parent: 1 }],
    ["SG-RUNS-PARENT", "parent", { parent: null }],
    ["SG-RUNS-INSTRUCTION", "instruction", { instruction: ["x"] }],
    ["SG-RUNS-TTL", "ttl", { ttl: 59 }],
    ["SG-RUNS-TTL", "ttl", { ttl: 30 * 86_400 + 1 }],
    ["SG-RUNS-TTL", "ttl", { ttl: 90.5 }],
    ["SG-RUNS-TTL", "ttl", { ttl: "8h" }],
    ["SG-RUNS-TTL", "ttl", '{"ttl": 1e400}'],
  ];
  test.each(bad)("%s at %s", (code, place, value) => {
    const refused = read(value);
    expect(refused).toMatchObject({ ok: false, error: { code, place } });
    expect(refused.ok ? 999 : refused.error.sentence.length).toBeLessThanOrEqual(240);
  });
});
