import { expect, test } from "vitest";
import type { Broker, Sighting, Tracer } from "../parts.ts";
import { drainParts } from "./sightings.ts";

const connect = { action: "net-connect", outcome: "failed", grade: "hint", at: 1 } as const;

function drained(seen: readonly Sighting[], nameUnheard?: Broker["nameUnheard"]): readonly Sighting[] {
  const closes = { failure: undefined, close: () => undefined };
  const tracer: Tracer = { ...closes, drain: () => seen, lost: 0 };
  const plain: Broker = { ...closes, grant: () => undefined, revoke: () => undefined, drain: () => [] };
  const broker = nameUnheard === undefined ? plain : { ...plain, nameUnheard };
  return drainParts({ tracer, broker, limits: undefined }, false);
}

test("C21: a connection that the broker never hears of is told by the name that its address stands for", () => {
  const name = (address: string, port: number): string | undefined =>
    address === "198.18.1.0" && port !== 443 ? "api.example.com" : undefined;
  const seen: readonly Sighting[] = [
    { ...connect, address: "198.18.1.0", port: 8080 },
    { ...connect, address: "198.18.1.0", port: 443 },
    { ...connect, action: "net-send", address: "198.18.1.0", port: 25 },
    { ...connect, address: "203.0.113.1", port: 8080 },
    { ...connect, address: "198.18.1.0", port: 8080, domain: "other.example.com" },
    { ...connect, address: "198.18.1.0" },
    { ...connect, action: "file-read", path: "/a" },
  ];
  expect(drained(seen, name).map(({ domain }) => domain)).toEqual([
    "api.example.com",
    undefined,
    "api.example.com",
    undefined,
    "other.example.com",
    undefined,
    undefined,
  ]);
  expect(drained(seen)).toBe(seen);
  const reads: readonly Sighting[] = [{ ...connect, action: "file-read", path: "/a" }];
  expect(drained(reads, name)).toBe(reads);
});
