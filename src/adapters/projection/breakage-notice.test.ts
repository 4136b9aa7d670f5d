import { describe, expect, test } from "vitest";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { withBreakage } from "./breakage-notice.ts";
import type { Broker, Launched, MissedIn, Sighting, Tracer } from "./parts.ts";

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

/** An isolated server whose scope names these files and hosts. */
function orderOf(server: string, read: readonly string[] = [], allow: readonly string[] = []): IsolationOrder {
  // Only these parts are looked at.
  const scope = { files: { read, write: [] }, net: { allow } } as unknown as IsolationOrder["scope"];
  return { server, mode: "where-possible", require: "none", scope, digest: "" };
}

test("by default each host that is refused is told once, with the whole line that opens it", () => {
  const told: string[] = [];
  const order = orderOf("docs");
  const seen: readonly Sighting[] = [
    refused("docs.example"),
    refused("docs.example"),
    { at: 1, action: "net-connect", outcome: "denied", grade: "broker", address: "192.0.2.1", port: 80 },
    { at: 1, action: "net-connect", outcome: "success", grade: "broker", domain: "fine.example", port: 443 },
    refused("sk-proj-4f9ab2cd8ef1gh7ij3kl6mn0pq5rs9tu.example"),
    { at: 1, action: "limit-hit", outcome: "denied", grade: "broker" },
    ...Array.from({ length: 9 }, (_, index) => refused(`h${index}.example`)),
  ];
  const { broker } = withBreakage(launchedWith(seen), order, { notice: (text) => void told.push(text) });
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
  const order = orderOf("s");
  const { broker } = withBreakage(launched, order, { notice: () => undefined });
  broker?.grant("1", []);
  broker?.revoke("1");
  broker?.close();
  expect([broker?.failure, broker?.nameUnheard?.("a", 1)]).toEqual(["broken", "name"]);
  expect((launched as unknown as { readonly calls: readonly string[] }).calls).toEqual([
    "grant 1",
    "revoke 1",
    "close",
  ]);
  expect(withBreakage(launched, { ...order, mode: "auto" }, { notice: () => undefined })).toBe(launched);
  expect(withBreakage(launched, order, {})).toBe(launched);
  expect(withBreakage({ ...launched, broker: undefined }, order, { notice: () => undefined }).broker).toBeUndefined();
});

describe("files that a server misses", () => {
  const tried = (part: Partial<Sighting>): Sighting => ({
    at: 1,
    action: "file-write",
    outcome: "failed",
    grade: "hint",
    path: "/data/x.tmp",
    ...part,
  });
  const looked: MissedIn[] = [];
  const missedFile = (missed: MissedIn) => {
    looked.push(missed);
    const { path = "", action, target } = missed.seen;
    if (path.startsWith("/own")) return { path, kind: "own-code" } as const;
    if (path.startsWith("/noise")) return undefined;
    const entry = action === "file-read" ? path : "/data";
    return { path: target ?? path, kind: action === "file-read" ? "read" : "write", entry } as const;
  };

  function toldOf(sightings: readonly Sighting[], order = orderOf("notes")): readonly string[] {
    looked.length = 0;
    const told: string[] = [];
    const tracer: Tracer = { drain: () => sightings, lost: 3, failure: "gone", close: () => void told.push("closed") };
    // Only the tracer is looked at.
    const launched = { tracer, places: {} } as unknown as Launched;
    const heard = withBreakage(launched, order, { notice: (text) => void told.push(text), missedFile }).tracer;
    expect(heard?.drain(true)).toBe(sightings);
    expect([heard?.lost, heard?.failure]).toEqual([3, "gone"]);
    heard?.close();
    expect(told.pop()).toBe("closed");
    return told;
  }

  test("are told with the line that opens them, a folder once, and what succeeded is not looked at", () => {
    const told = toldOf([
      tried({}),
      tried({ path: "/data/y.tmp" }),
      tried({ path: "/data/z", outcome: "success" }),
      tried({ action: "file-read", path: "/srv/in.txt", outcome: "denied" }),
      tried({ action: "file-read", path: "/srv/in.txt" }),
      tried({ action: "file-read", path: "/noise" }),
    ]);
    expect(told).toEqual([
      'Server `notes` could not write `/data/x.tmp`, which its projection does not have. If it needs that, add to your policy: isolation: {backend: where-possible, servers: {notes: {files: {write: ["/data"]}}}}',
      'Server `notes` could not read `/srv/in.txt`, which its projection does not have. If it needs that, add to your policy: isolation: {backend: where-possible, servers: {notes: {files: {read: ["/srv/in.txt"], write: ["/data"]}}}}',
    ]);
    expect(looked.map(({ seen }) => seen.path)).toEqual(["/data/x.tmp", "/data/y.tmp", "/srv/in.txt", "/noise"]);
  });

  test("the line keeps what the scope names already; its own code has a way of its own; both are bounded", () => {
    const order = orderOf("notes", ["/srv/old"], ["a.example:443"]);
    const [read = "", own = ""] = toldOf(
      [tried({ action: "file-read", path: "/srv/new" }), tried({ path: "/own/d" })],
      order,
    );
    expect(read).toContain('{notes: {files: {read: ["/srv/old", "/srv/new"]}}}');
    expect(own).toMatch(/could not write `\/own\/d`, since its own code is read-only: .*`files: \{write: \[...\]\}`/);
    const many = Array.from({ length: 2_000 }, (_, index) => tried({ action: "file-read", path: `/srv/${index}` }));
    expect(toldOf(many)).toHaveLength(4);
    const noise = Array.from({ length: 2_000 }, (_, index) => tried({ path: `/noise${index}` }));
    expect(toldOf([...noise, tried({})])).toEqual([]);
    expect(looked).toHaveLength(1_024);
  });

  test("hosts and files of one server make one line", () => {
    const told: string[] = [];
    const tracer = { drain: () => [tried({})] } as unknown as Tracer;
    const launched = { ...launchedWith([refused("docs.example")]), tracer };
    const heard = withBreakage(launched, orderOf("s"), { notice: (text) => void told.push(text), missedFile });
    heard.broker?.drain();
    heard.tracer?.drain();
    expect(told[1]).toContain('{s: {net: {allow: ["docs.example"]}, files: {write: ["/data"]}}}');
    expect(withBreakage(launched, orderOf("s"), { notice: () => undefined }).tracer).toBe(tracer);
  });
});
