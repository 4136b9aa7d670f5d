import { expect, test } from "vitest";
import { orderOf } from "../../../test/kit/isolation/projection-scene.ts";
import { hostsMax, networkOf, whyNoHost, whyNoHosts } from "./card-hosts.ts";

const closed = orderOf({ net: { mode: "none", allow: [] } }, "where-possible");
const open = orderOf({ net: { mode: "list", allow: ["a.example:443"] } }, "where-possible");

test("a card offers what its server wanted, but for what no card opens and what it opened", () => {
  const wanted = [
    "a.example",
    "B.example",
    "metadata.google.internal",
    "*.com",
    "c.example:8443",
    "sk-proj-4f9ab2cd8ef1gh7ij3kl6mn0pq5rs9tu.example",
  ];
  expect(networkOf("s", closed, wanted, [])).toEqual({
    wants: ["a.example", "B.example", "c.example:8443"],
    opened: [],
    decided: undefined,
  });
  expect(networkOf("s", open, wanted, ["a.example:443", "b.example"])).toMatchObject({
    wants: ["c.example:8443"],
    opened: ["a.example:443", "b.example"],
  });
});

test("it decides nothing where the policy, a pack or no isolation does", () => {
  expect(networkOf("s", undefined, ["a.example"], []).decided).toMatch(/does not isolate it/);
  expect(networkOf("s", { ...closed, mode: "off" }, [], []).decided).toMatch(/`off`/);
  expect(networkOf("s", { ...closed, mode: "learn" }, [], []).decided).toMatch(/`learn`/);
  expect(networkOf("s", { ...closed, mode: "auto" }, ["a.example"], []).decided).toMatch(/isolation\.servers\.s/);
  expect(networkOf("s", open, ["b.example"], [])).toMatchObject({
    wants: [],
    decided: expect.stringMatching(/a pack/),
  });
});

test("hosts are named, few, and no wildcard for all, key store or address without a port", () => {
  const network = networkOf("s", closed, [], []);
  expect(whyNoHosts(network, ["api.example.com", "*.b.example.com:8443", "192.0.2.7:443"])).toBeUndefined();
  expect(whyNoHosts(network, [])).toMatch(/^Name the hosts/);
  expect(
    whyNoHosts(
      network,
      Array.from({ length: hostsMax + 1 }, (_, index) => `h${index}.example`),
    ),
  ).toMatch(/at most/);
  for (const bad of ["*", "*.com", "https://a.example/", "a b", "169.254.169.254:80", "metadata.google.internal", ""])
    expect(whyNoHosts(network, ["a.example", bad]), bad).toMatch(/\.$/);
  expect(whyNoHosts(networkOf("s", { ...closed, mode: "auto" }, [], []), ["a.example"])).toMatch(/^Your policy/);
  expect(whyNoHost("x\u001b[31m`")).not.toContain("\u001b");
});
