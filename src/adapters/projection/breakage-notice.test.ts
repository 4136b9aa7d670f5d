import { expect, test } from "vitest";
import { withBreakage } from "./breakage-notice.ts";
import type { Broker, Launched, Sighting } from "./parts.ts";

const refused = (domain: string): Sighting => ({
  at: 1,
  action: "dns-query",
  outcome: "denied",
  grade: "broker",
  domain,
});

function launchedWith(sightings: readonly Sighting[]): Launched {
  const calls: string[] = [];
  const broker: Broker = {
    grant: (call) => void calls.push(`grant ${call}`),
    revoke: (call) => void calls.push(`revoke ${call}`),
    nameUnheard: () => "name",
    drain: () => sightings,
    failure: "broken",
    close: () => void calls.push("close"),
  };
  // Only the broker is looked at.
  return { broker, calls } as unknown as Launched;
}

test("by default each host that is refused is told once, with the whole line that opens it", () => {
  const told: string[] = [];
  const order = { mode: "where-possible", server: "docs" } as const;
  const seen: readonly Sighting[] = [
    refused("docs.example"),
    refused("docs.example"),
    { at: 1, action: "net-connect", outcome: "denied", grade: "broker", address: "192.0.2.1", port: 80 },
    { at: 1, action: "net-connect", outcome: "success", grade: "broker", domain: "fine.example", port: 443 },
    { at: 1, action: "limit-hit", outcome: "denied", grade: "broker" },
    ...Array.from({ length: 9 }, (_, index) => refused(`h${index}.example`)),
  ];
  const { broker } = withBreakage(launchedWith(seen), order, (text) => void told.push(text));
  expect(broker?.drain()).toBe(seen);
  broker?.drain();
  expect(told).toHaveLength(6);
  expect(told[0]).toBe(
    'Server `docs` wanted `docs.example`, which is closed to it. If it needs that, add to your policy: isolation: {backend: where-possible, servers: {docs: {net: {allow: ["docs.example"]}}}}',
  );
  expect(told[1]).toContain("192.0.2.1");
});

test("the broker stays what it is, and what a policy closes itself is not told of", () => {
  const launched = launchedWith([refused("x.example")]);
  const order = { mode: "where-possible", server: "s" } as const;
  const { broker } = withBreakage(launched, order, () => undefined);
  broker?.grant("1", []);
  broker?.revoke("1");
  broker?.close();
  expect([broker?.failure, broker?.nameUnheard?.("a", 1)]).toEqual(["broken", "name"]);
  expect((launched as unknown as { readonly calls: readonly string[] }).calls).toEqual([
    "grant 1",
    "revoke 1",
    "close",
  ]);
  expect(withBreakage(launched, { ...order, mode: "auto" }, () => undefined)).toBe(launched);
  expect(withBreakage(launched, order, undefined)).toBe(launched);
  expect(withBreakage({ ...launched, broker: undefined }, order, () => undefined).broker).toBeUndefined();
});
