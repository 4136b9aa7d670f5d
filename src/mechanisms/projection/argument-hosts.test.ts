import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Role } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { exactly, trustOf } from "../../core/label.ts";
import { argument, contract, lattice, nothing, option } from "../../../test/kit/policy/scene.ts";
import { orderOf } from "../../../test/kit/isolation/projection-scene.ts";
import { argumentHostsMax, namedHosts, publicDestination, textsIn, trustedHosts } from "./argument-hosts.ts";
import { destinationsOf } from "./call-scope.ts";

const numRuns = Number(process.env.SLUICEGATE_RUNS ?? 200);
const untrusted = trustOf(lattice, lattice.top);

function hosts(value: Json, role: Role = "destination", label = nothing): readonly string[] {
  const of = contract("t", { arguments: new Map([["url", argument(role, false)]]) });
  return trustedHosts(option(of, { url: exactly(label) }), { url: value }, lattice);
}

/** Hosts that a judge is offered for these values of an argument of a role. */
function offered(value: Json, role: Role = "content"): readonly string[] {
  const of = contract("t", { arguments: new Map([["text", argument(role, false)]]) });
  return namedHosts({ contract: of }, { text: value });
}

test.each([
  ["https://docs.example.org/a?b", "docs.example.org:443"],
  ["http://docs.example.org", "docs.example.org:80"],
  ["wss://docs.example.org:8443/x", "docs.example.org:8443"],
  ["docs.example.org", "docs.example.org:443"],
  ["docs.example.org:8080", "docs.example.org:8080"],
  ["DOCS.Example.ORG.", "docs.example.org:443"],
  ["https://bücher.example.org", "xn--bcher-kva.example.org:443"],
  ["http://127.0.0.1/", undefined],
  ["http://0x7f.1/", undefined],
  ["http://2130706433/", undefined],
  ["http://[::1]/", undefined],
  ["http://169.254.169.254/latest", undefined],
  ["http://localhost:3000", undefined],
  ["http://app.localhost", undefined],
  ["http://router.lan", undefined],
  ["http://metadata.google.internal", undefined],
  ["http://intranet", undefined],
  ["https://good.example.org@evil.example.org/", undefined],
  ["https://good.example.org\\@evil.example.org/", undefined],
  ["file:///etc/passwd", undefined],
  ["gopher://docs.example.org", undefined],
  ["https://", undefined],
  ["see docs.example.org", undefined],
  [`https://${"a".repeat(9_000)}.example.org`, undefined],
])("%s is %s", (text, expected) => {
  expect(publicDestination(text)).toBe(expected);
});

describe("hosts that a call may reach by its own arguments", () => {
  test("only those of destination arguments that nobody untrusted can have chosen", () => {
    expect(hosts("https://docs.example.org")).toEqual(["docs.example.org:443"]);
    expect(hosts({ many: ["https://a.example.org", ["http://b.example.org"]], number: 1 })).toEqual([
      "a.example.org:443",
      "b.example.org:80",
    ]);
    expect(hosts("https://docs.example.org", "query")).toEqual([]);
    expect(hosts("https://docs.example.org", "content")).toEqual([]);
    expect(hosts("https://docs.example.org", "destination", untrusted)).toEqual([]);
    const of = contract("t", { arguments: new Map([["url", argument("destination", false)]]) });
    expect(trustedHosts(option(of), { url: "https://docs.example.org" }, lattice)).toEqual([]);
  });

  test("no more than a call needs", () => {
    expect(hosts(Array.from({ length: 99 }, (_, index) => `https://h${index}.example.org`))).toHaveLength(
      argumentHostsMax,
    );
    expect(offered(Array.from({ length: 99 }, (_, index) => `h${index}.example.org`))).toHaveLength(argumentHostsMax);
    expect(textsIn(Array.from({ length: 999 }, () => "x"))).toHaveLength(256);
    let deep: Json = "https://docs.example.org";
    for (let depth = 0; depth < 20; depth += 1) deep = [deep];
    expect(textsIn(deep)).toEqual([]);
  });

  test("and only where the policy lets the server reach anything, and the tool may", () => {
    const of = contract("t", {
      does: ["read.external"],
      arguments: new Map([["url", argument("destination", false)]]),
    });
    const call = { option: option(of, { url: exactly(nothing) }), arguments: { url: "https://docs.example.org" } };
    expect(destinationsOf(orderOf(), call, lattice)).toEqual(["docs.example.org:443"]);
    expect(destinationsOf(orderOf({ net: { mode: "none", allow: [] } }), call, lattice)).toEqual([]);
    const local = {
      ...call,
      option: { ...call.option, contract: { ...of, effects: { must: [], may: ["read.local"] } } },
    };
    expect(destinationsOf(orderOf(), local, lattice)).toEqual([]);
  });

  test("attack: arguments that are long to search are searched up to a bound", () => {
    const long = Array.from({ length: 8 }, () => "-".repeat(8_192));
    expect(offered([...long, "docs.example.org"])).toEqual([]);
    expect(offered([...long.slice(1), "docs.example.org"])).toEqual(["docs.example.org:443"]);
  });

  test.each([
    ["report.md"],
    ["read docs/report.md and src/main.rs:12, then run deploy.sh"],
    ["archive.tar.gz", "a.b.py", "Makefile.mk", "photo.zip"],
    ["ana@corp.example.org, ftp.example.org(1)"],
    ["./data.example.org ~/x.example.org ..\\data.example.org $HOME.example.org"],
    ["file://data.example.org/x"],
    ["README.MD", "Report.Md"],
  ])("D26: file names, paths, mail addresses and calls are no hosts: %j", (...texts) => {
    expect(offered(texts)).toEqual([]);
  });

  test("D26: a URL is a host whatever its name ends in, and a bare host in a sentence is one", () => {
    expect(offered("see https://report.md/x, WSS://live.rs and (docs.example.org) or b.example.org:8443.")).toEqual([
      "report.md:443",
      "live.rs:443",
      "docs.example.org:443",
      "b.example.org:8443",
    ]);
    expect(offered("postgres://db.example.org:5432/x")).toEqual(["db.example.org:5432"]);
    expect(offered("https://a.example.org/docs/b.example.org?u=c.example.org")).toEqual([
      "a.example.org:443",
      "c.example.org:443",
    ]);
  });

  test("D26: an argument that is a path names files, and URLs only where it says so", () => {
    expect(offered("backup.example.org", "path")).toEqual([]);
    expect(offered("https://backup.example.org", "path")).toEqual(["backup.example.org:443"]);
  });

  test("D26: nor does a trusted destination open a host where a file is named", () => {
    expect(hosts("report.md")).toEqual([]);
    expect(hosts("https://report.md")).toEqual(["report.md:443"]);
  });

  test("attack: a name that ends like a number is a spelling of an address, or nobody's", () => {
    for (const text of ["0.0a", "https://10.0.0x1", "1.2.3.0b", "http://a.1e3/", "0._", "a.-b"]) {
      expect([publicDestination(text), ...offered(text)].filter((one) => one !== undefined)).toEqual([]);
    }
  });

  test("law: whatever a text holds, no address and no bare name comes of it", () => {
    const texts = fc.oneof(
      fc.webUrl(),
      fc.ipV4(),
      fc.ipV6().map((address) => `http://[${address}]/`),
      fc.domain(),
      fc.string(),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const found of [publicDestination(text), ...offered(text)]) {
          if (found !== undefined) expect(found).toMatch(/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.[a-z][a-z0-9-]*:[0-9]+$/);
        }
      }),
      { numRuns },
    );
  });
});
