import { describe, expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import {
  change,
  event,
  grounds,
  orderOf,
  tool,
  traceOf,
  workspace,
} from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace, gapIn } from "./judgement.ts";
import { noiseOf, noiseRules } from "./noise.ts";
import { scopeRules } from "./scope-rules.ts";
import { filesDeletedMax, filesReadMax, placesProbedMax, readerBytesMax, suspicionRules } from "./suspicion.ts";

type Row = readonly [name: string, found: readonly string[], event: Partial<EffectEvent> & Pick<EffectEvent, "action">];
type World = { order?: IsolationOrder; of?: ToolContract; given?: JsonObject; tier?: "A" | "B" };

function rulesFor(events: readonly EffectEvent[], { order, of, given, tier = "A" }: World = {}): readonly string[] {
  const { violations, suspicions } = judgeTrace(grounds(traceOf({ tier, events }), order, of, given));
  return [...new Set([...violations, ...suspicions].map(({ rule }) => rule))];
}

const all = tool({ does: ["read", "write", "execute"] });
const at = (name: string): string => `${workspace}/${name}`;

describe("out of scope", () => {
  test.each<Row>([
    ["a key, read", ["file.secret"], { action: "file-read", path: "/home/ana/.ssh/id_rsa" }],
    [
      "a key that is not there",
      ["file.secret"],
      { action: "file-read", path: "/home/ana/.ssh/id_rsa", outcome: "failed" },
    ],
    ["shadow, denied", ["file.secret"], { action: "file-read", path: "/etc/shadow", outcome: "denied" }],
    ["memory of a process", ["file.secret"], { action: "file-read", path: "/proc/1/mem" }],
    ["environment of another", ["file.secret"], { action: "file-read", path: "/proc/1/environ" }],
    ["root of the host", ["file.secret"], { action: "file-read", path: "/proc/self/root/etc/passwd" }],
    ["a key, linked", ["file.secret"], { action: "file-link", path: at("x"), target: "/home/ana/.ssh/id_rsa" }],
    ["a document", ["file.read"], { action: "file-read", path: "/home/ana/letter.txt" }],
    ["a document, denied", ["file.read"], { action: "file-read", path: "/home/ana/letter.txt", outcome: "denied" }],
    ["a path that is none", ["file.read"], { action: "file-read", path: "letter.txt" }],
    ["no path at all", ["file.read"], { action: "file-read", outcome: "unknown" }],
    ["a way around", ["file.read"], { action: "file-read", path: at("../letter.txt") }],
    ["a write outside", ["file.write"], { action: "file-write", path: "/home/ana/letter.txt" }],
    ["a write outside that failed", ["file.write"], { action: "file-write", path: "/etc/x", outcome: "failed" }],
    ["its own code", ["file.write"], { action: "file-write", path: "/opt/server/index.js" }],
    ["a rename out", ["file.write"], { action: "file-rename", path: at("x"), target: "/home/ana/x" }],
    ["modes outside", ["file.write"], { action: "file-permissions", path: "/usr/bin/git" }],
    ["a link out", ["file.link-target"], { action: "file-link", path: at("x"), target: "/home/eve" }],
    ["a start-up file", ["file.obeyed"], { action: "file-write", path: "/home/ana/.bashrc" }],
    [
      "a host",
      ["net.destination"],
      { action: "net-connect", domain: "evil.example", port: 443, outcome: "denied", grade: "broker" },
    ],
    ["an address", ["net.destination"], { action: "net-connect", address: "93.184.216.34", port: 443 }],
    ["another port", ["net.destination"], { action: "net-send", domain: "api.example.com", port: 80 }],
    ["nowhere", ["net.destination"], { action: "net-connect" }],
    ["keys of the cloud", ["net.destination"], { action: "net-connect", address: "169.254.169.254", port: 80 }],
    ["a name", ["net.name"], { action: "dns-query", domain: "secret.evil.example", outcome: "denied" }],
    ["a socket", ["net.socket"], { action: "net-connect", transport: "unix", path: "/run/x.sock" }],
    ["everywhere", ["net.listen"], { action: "net-listen", address: "0.0.0.0", port: 8080, transport: "tcp" }],
    ["a socket for others", ["net.listen"], { action: "net-listen", transport: "unix", path: "/run/x.sock" }],
    ["a program", ["process.program"], { action: "process-spawn", program: "/usr/bin/curl" }],
    ["a search for another", ["process.program"], { action: "process-spawn", program: "/bin/nc", outcome: "failed" }],
    ["a program without a name", ["process.program"], { action: "process-spawn" }],
    ["a signal", ["process.signal"], { action: "process-signal", outcome: "denied" }],
    ["a system call", ["process.call"], { action: "system-call", detail: "ptrace", outcome: "denied" }],
    ["a limit", ["limit.hit"], { action: "limit-hit", detail: "memory" }],
  ])("%s", (_, found, given) => {
    expect(rulesFor([event(given)], { of: all })).toEqual(found);
  });

  test("every row of the scope has a case above or below", () => {
    expect(scopeRules.map(({ id }) => id)).toHaveLength(14);
  });

  test("what a narrow entry names is no secret; what a wide one holds is", () => {
    const key = event({ action: "file-read", path: "/home/ana/.ssh/known_hosts" });
    const write = event({ action: "file-write", path: "/home/ana/.bashrc" });
    expect(rulesFor([key], { order: orderOf({ files: { read: ["~"] } }) })).toEqual(["file.secret"]);
    expect(rulesFor([key], { order: orderOf({ files: { read: ["~/.ssh/known_hosts"] } }) })).toEqual([]);
    expect(rulesFor([write], { of: all, order: orderOf({ files: { write: ["~"] } }) })).toEqual(["file.obeyed"]);
    expect(rulesFor([write], { of: all, order: orderOf({ files: { write: ["~/.bashrc"] } }) })).toEqual([]);
  });

  test("what is shut is shut, even inside of what is open, unless nothing was there", () => {
    const order = orderOf({ files: { deny: ["./private"] } });
    const read = event({ action: "file-read", path: at("private/a") });
    expect(rulesFor([read], { order })).toEqual(["file.shut"]);
    expect(rulesFor([{ ...read, outcome: "failed" }], { order })).toEqual([]);
  });

  test("a workspace to read, and one that is not there", () => {
    const write = event({ action: "file-write", path: at("a") });
    const read = event({ action: "file-read", path: at("a") });
    const bound = orderOf({ workspace: { mode: "read" } });
    expect(rulesFor([write, read], { of: all, order: bound })).toEqual(["file.write"]);
    expect(rulesFor([read], { order: orderOf({ workspace: { mode: "none" } }) })).toEqual(["file.read"]);
    const judged = judgeTrace(grounds(traceOf({ changes: [change("a")] }), bound, all));
    expect(judged.violations.map(({ rule }) => rule)).toEqual(["workspace.read-only"]);
  });

  test("guarded and special files never reach a workspace", () => {
    const changes = [
      change(".git/hooks/post-commit", { guarded: true }),
      change("pipe", { kind: "special" }),
      change("a"),
    ];
    const { violations } = judgeTrace(grounds(traceOf({ changes }), orderOf(), all));
    expect(violations.map(({ rule, code, verdict }) => [rule, code, verdict])).toEqual([
      ["workspace.guarded", "SG-SCOPE-WORKSPACE", "deny"],
      ["workspace.special", "SG-SCOPE-WORKSPACE", "deny"],
    ]);
  });

  test("an open network still leads to no keys of the cloud, unless they are named", () => {
    const metadata = event({ action: "net-connect", domain: "metadata.google.internal", port: 80 });
    const other = event({ action: "net-connect", domain: "any.example", port: 1 });
    expect(rulesFor([metadata, other], { of: all, order: orderOf({ net: { mode: "open", allow: [] } }) })).toEqual([
      "net.destination",
    ]);
    const named = orderOf({ net: { mode: "open", allow: ["metadata.google.internal:80"] } });
    expect(rulesFor([metadata], { of: all, order: named })).toEqual([]);
  });

  test("every sentence names what happened and a way on, and hides what turns text", () => {
    const path = `/x/\u202e\`${"y".repeat(200)}`;
    for (const rule of scopeRules) {
      const given = event({
        action: "file-read",
        path,
        domain: path,
        program: path,
        detail: path,
        address: "::1",
        port: 1,
      });
      for (const text of [rule.what(given), rule.way(given, "s")]) {
        expect(text.length).toBeLessThanOrEqual(240);
        expect(text).not.toContain("\u202e");
      }
    }
  });
});

describe("noise", () => {
  test.each<Row>([
    ["noise.own-files", [], { action: "file-read", path: "/opt/server/index.js" }],
    ["noise.own-files", [], { action: "file-write", path: "/tmp/x" }],
    ["noise.own-files", [], { action: "file-rename", path: "/tmp/x", target: "/tmp/y" }],
    ["noise.own-files", [], { action: "file-permissions", path: "/tmp/x" }],
    ["noise.system-files", [], { action: "file-read", path: "/etc/nsswitch.conf" }],
    ["noise.system-files", [], { action: "file-read", path: "/proc/self/environ" }],
    ["noise.null-device", [], { action: "file-write", path: "/dev/null" }],
    ["noise.pipe", [], { action: "file-read", path: "pipe:[123]" }],
    ["noise.way-there", [], { action: "file-read", path: "/home" }],
    ["noise.way-there", [], { action: "file-create", path: "/home/ana", outcome: "failed" }],
    ["noise.missing", [], { action: "file-read", path: "/home/ana/.apprc", outcome: "failed" }],
    ["noise.settings-at-home", [], { action: "file-read", path: "/home/ana/.netrc", outcome: "failed" }],
    ["noise.looked-upwards", [], { action: "file-read", path: "/home/package.json", outcome: "denied" }],
    ["noise.compiled-code", [], { action: "file-create", path: "/opt/server/__pycache__/a.pyc", outcome: "denied" }],
    [
      "noise.name-service",
      [],
      { action: "net-connect", transport: "unix", path: "/var/run/nscd/socket", outcome: "failed" },
    ],
    ["noise.own-loopback", [], { action: "net-connect", address: "127.0.0.1", port: 9 }],
    ["noise.brokered", [], { action: "net-connect", address: "198.18.1.0", port: 443 }],
    ["noise.local-name", [], { action: "dns-query", domain: "app.localhost." }],
    ["noise.self-test", [], { action: "net-listen", address: "::1", port: 0 }],
    ["noise.self-test", [], { action: "net-listen", address: "0.0.0.0", port: 0, transport: "udp" }],
    ["noise.null-device", [], { action: "file-write", path: "/proc/14/clear_refs" }],
    ["noise.own-link", [], { action: "file-link", path: "/tmp/profile/Lock", target: "host-14" }],
    ["noise.own-link", [], { action: "file-link", path: "/tmp/profile/Socket", target: "/tmp/other/Socket" }],
    ["noise.font-cache", [], { action: "file-create", path: "/var/cache", outcome: "denied" }],
    ["noise.font-cache", [], { action: "file-write", path: "/var/cache/fontconfig/x.cache-8", outcome: "failed" }],
    ["noise.probed-call", [], { action: "system-call", detail: "clone3", outcome: "denied" }],
  ])("%s", (id, found, given) => {
    expect(noiseOf(event(given), grounds(traceOf()))).toBe(id);
    expect(rulesFor([event(given)])).toEqual(found);
  });

  test("ids are unique, and each says why", () => {
    expect(new Set(noiseRules.map(({ id }) => id)).size).toBe(noiseRules.length);
    expect(noiseRules.every(({ why }) => why.length > 20)).toBe(true);
  });

  test("a link out of a folder that vanishes is no noise", () => {
    for (const target of ["../../etc/shadow", "/home/ana/notes.txt"]) {
      const link = event({ action: "file-link", path: "/tmp/profile/Lock", target });
      expect(noiseOf(link, grounds(traceOf()))).toBeUndefined();
    }
  });

  test("ports of chance are noise only where the network is open, and only for datagrams", () => {
    const bound = event({ action: "net-listen", address: "0.0.0.0", port: 9_356, transport: "udp" });
    const open = orderOf({ net: { mode: "open", allow: [] } });
    expect(noiseOf(bound, grounds(traceOf(), open))).toBe("noise.sending-port");
    expect(noiseOf({ ...bound, transport: "tcp" }, grounds(traceOf(), open))).toBeUndefined();
    expect(noiseOf(bound, grounds(traceOf()))).toBeUndefined();
  });

  test("where the network is the machine's, its loopback is no noise", () => {
    const connect = event({ action: "net-connect", address: "127.0.0.1", port: 5432 });
    expect(rulesFor([connect], { tier: "B", of: all })).toEqual(["net.destination"]);
    const named = orderOf({ net: { allow: ["localhost:5432"] } });
    expect(rulesFor([connect], { tier: "B", of: all, order: named })).toEqual([]);
    const asked = event({ action: "net-connect", address: "198.18.0.1", port: 53, transport: "udp" });
    expect(rulesFor([asked], { of: all, order: orderOf({ net: { mode: "none", allow: [] } }) })).toEqual([
      "net.destination",
    ]);
    expect(
      rulesFor([event({ action: "net-connect", address: "198.18.1.0", port: 443 })], { tier: "B", of: all }),
    ).toEqual(["net.destination"]);
  });
});

describe("in scope", () => {
  test.each<Row>([
    ["a file of the workspace", [], { action: "file-read", path: at("a") }],
    ["a name of the scope", [], { action: "dns-query", domain: "API.example.com" }],
    ["a host of the scope", [], { action: "net-connect", domain: "api.example.com", port: 443, grade: "broker" }],
    ["a program of the scope", [], { action: "process-spawn", program: "/usr/bin/git" }],
    ["a search for it", [], { action: "process-spawn", program: "/usr/local/bin/git", outcome: "failed" }],
    ["its own program", [], { action: "process-spawn", program: "/opt/node/bin/node" }],
    ["itself once more", [], { action: "process-spawn", program: "/proc/self/exe" }],
    ["a signal to itself", [], { action: "process-signal" }],
    ["a socket of its own", [], { action: "net-listen", transport: "unix", path: "/tmp/own.sock" }],
    ["a socket in the workspace", [], { action: "net-connect", transport: "unix", path: at("own.sock") }],
    ["a socket without a name", [], { action: "net-connect", transport: "unix" }],
    ["a loopback service", [], { action: "net-listen", address: "127.0.0.1", port: 80, transport: "tcp" }],
    ["a link inside", [], { action: "file-link", path: at("x"), target: at("y") }],
  ])("%s", (_, found, given) => {
    expect(rulesFor([event(given)], { of: all })).toEqual(found);
  });

  test("entries of the scope and of the tool", () => {
    const order = orderOf({
      files: { read: ["/data"], write: ["/out"] },
      sockets: ["/run/db.sock"],
      exec: { programs: ["/usr/bin/git"] },
      tools: { t: { read: ["/more"], programs: ["jq"], allow: ["other.example:443"] } },
    });
    const events = [
      event({ action: "file-read", path: "/data/a" }),
      event({ action: "file-read", path: "/more/a" }),
      event({ action: "file-write", path: "/out/a" }),
      event({ action: "net-connect", transport: "unix", path: "/run/db.sock" }),
      event({ action: "net-connect", domain: "other.example", port: 443 }),
      event({ action: "process-spawn", program: "/usr/bin/git" }),
      event({ action: "process-spawn", program: "/usr/bin/jq" }),
    ];
    expect(rulesFor(events, { of: all, order })).toEqual([]);
  });
});

describe("labels", () => {
  const write = event({ action: "file-write", path: at("a") });
  const connect = event({ action: "net-connect", domain: "api.example.com", port: 443 });
  const spawn = event({ action: "process-spawn", program: "/usr/bin/make" });
  const any = orderOf({ exec: { mode: "any", programs: [] } });
  const verdicts = (of: ToolContract, events: readonly EffectEvent[], changes = [change("a")]): readonly unknown[] =>
    judgeTrace(grounds(traceOf({ events, changes }), any, of, { path: "a" })).violations.map((one) => [
      one.rule,
      one.verdict,
    ]);

  test("a reader that writes, a local tool that connects, one that runs nothing and starts a program", () => {
    expect(verdicts(tool(), [write, connect, spawn])).toEqual([
      ["effect.write", "deny"],
      ["effect.connect", "deny"],
      ["effect.spawn", "deny"],
      ["effect.write", "deny"],
    ]);
  });

  test("an effect that a tool may have explains the event", () => {
    const of = tool({ effects: { must: [], may: ["write.local", "read.external", "execute.local"] } });
    expect(verdicts(of, [write, connect, spawn])).toEqual([]);
  });

  test("words that were inferred, and calls that overlap, ask", () => {
    expect(verdicts(tool({ source: "inference" }), [write], [])).toEqual([["effect.write", "confirm"]]);
    expect(verdicts(tool(), [{ ...write, phase: "ambiguous" }])).toEqual([
      ["effect.write", "confirm"],
      ["effect.write", "confirm"],
    ]);
  });

  test("a program in a folder that the scope names is meant, where any may be started", () => {
    const browser = event({ action: "process-spawn", program: "/home/ana/.cache/browsers/chrome" });
    const named = orderOf({ files: { read: ["~/.cache/browsers"] }, exec: { mode: "any", programs: [] } });
    expect(rulesFor([browser], { order: named })).toEqual([]);
    expect(rulesFor([browser], { order: any })).toEqual(["effect.spawn"]);
  });

  test("what was stopped by the file system contradicts no label", () => {
    expect(verdicts(tool(), [{ ...write, outcome: "failed" }], [])).toEqual([]);
  });
});

describe("suspicion", () => {
  const connect = event({ action: "net-send", domain: "api.example.com", port: 443, bytes: readerBytesMax });
  const reads = (count: number): readonly EffectEvent[] =>
    Array.from({ length: count }, (_, index) => event({ action: "file-read", path: at(`f${index}`) }));
  const reader = tool({ does: ["read.external"] });

  test("collects and sends", () => {
    expect(rulesFor([...reads(filesReadMax + 1), connect], { of: all })).toEqual(["suspicion.collects-and-sends"]);
    expect(rulesFor([...reads(filesReadMax), connect], { of: all })).toEqual([]);
    expect(rulesFor(reads(filesReadMax + 1), { of: all })).toEqual([]);
    expect(rulesFor([...reads(filesReadMax + 1), connect], { of: all, given: { path: workspace } })).toEqual([]);
    const trace = traceOf({ events: [...reads(1), connect], dropped: filesReadMax });
    expect(judgeTrace(grounds(trace, orderOf(), all)).suspicions).toHaveLength(1);
  });

  test("keys and sends; a file that the call names is what the call is about", () => {
    const key = event({ action: "file-read", path: at(".env") });
    expect(rulesFor([key, connect], { of: all })).toEqual(["suspicion.credentials-and-sends"]);
    expect(rulesFor([key, connect], { of: all, given: { path: "./.env" } })).toEqual([]);
    expect(rulesFor([key, connect], { of: all, given: { path: `file://${at(".env")}` } })).toEqual([]);
    expect(rulesFor([key], { of: all })).toEqual([]);
  });

  test("writes and deletes what the call does not name", () => {
    const found = (changes: readonly ReturnType<typeof change>[], given: JsonObject): readonly string[] =>
      judgeTrace(grounds(traceOf({ changes }), orderOf(), all, given)).suspicions.map(({ rule }) => rule);
    expect(found([change("a/b")], { path: "a" })).toEqual([]);
    expect(found([change("b")], { path: ["a", "file:///%zz"] })).toEqual(["suspicion.writes-elsewhere"]);
    const many = Array.from({ length: filesDeletedMax + 1 }, (_, index) => change(`d${index}`, { kind: "deleted" }));
    expect(found(many, {})).toEqual(["suspicion.deletes-much"]);
    expect(found(many.slice(1), {})).toEqual([]);
  });

  test("carries and packs", () => {
    const order = orderOf({ exec: { mode: "any", programs: [] } });
    const local = tool({ does: ["execute.local"] });
    const curl = event({ action: "process-spawn", program: "/usr/bin/curl" });
    const tar = event({ action: "process-spawn", program: "/bin/tar" });
    expect(rulesFor([curl], { order, of: local })).toEqual(["suspicion.carrier"]);
    expect(rulesFor([curl], { order, of: all })).toEqual([]);
    expect(rulesFor([tar, connect], { order, of: all })).toEqual(["suspicion.packs-and-sends"]);
    expect(rulesFor([tar], { order, of: all })).toEqual([]);
    expect(rulesFor([{ ...tar, outcome: "failed" }, connect], { order, of: all })).toEqual([]);
  });

  test("probes and long messages", () => {
    const probes = Array.from({ length: placesProbedMax + 1 }, (_, index) =>
      event({ action: "file-read", path: `/home/ana/x${index}`, outcome: "failed" }),
    );
    expect(rulesFor(probes)).toEqual(["suspicion.probes"]);
    expect(rulesFor(probes.slice(1))).toEqual([]);
    expect(rulesFor([event({ action: "file-read", path: "letter", outcome: "failed" })])).toEqual([]);
    expect(rulesFor([connect, { ...connect, bytes: 1 }], { of: reader })).toEqual(["suspicion.reader-sends"]);
    const { bytes: _, ...silent } = connect;
    expect(rulesFor([connect, silent], { of: reader })).toEqual([]);
  });

  test("ids are unique", () => {
    expect(new Set(suspicionRules.map(({ id }) => id)).size).toBe(suspicionRules.length);
  });
});

test("what nothing explains is what a judge would see", () => {
  const events = [
    event({ action: "file-read", path: at("other") }),
    event({ action: "file-write", path: at("other") }),
    event({ action: "process-spawn", program: "/usr/bin/make" }),
    event({ action: "net-connect", domain: "api.example.com", port: 443 }),
    event({ action: "net-listen", address: "127.0.0.1", port: 80 }),
  ];
  const order = orderOf({ exec: { mode: "any", programs: [] } });
  const open = (of: ToolContract, unjudged: readonly string[] = []): readonly string[] =>
    judgeTrace(grounds(traceOf({ events }), order, of, { path: "a" }), unjudged).open.map(({ action }) => action);
  const elsewhere = ["file-read", "file-write"];
  expect(open(all)).toEqual(elsewhere);
  expect(open({ ...all, source: "unknown" })).toEqual([...elsewhere, "process-spawn", "net-connect"]);
  expect(open({ ...all, source: "unknown" }, ["make"])).toEqual([...elsewhere, "net-connect"]);
  expect(open({ ...all, source: "unknown" }, ["/usr/bin/make"])).toEqual([...elsewhere, "net-connect"]);
});

test("evidence that is missing counts where something rests on it", () => {
  const gap = (part: Parameters<typeof traceOf>[0], order?: IsolationOrder): string | undefined =>
    gapIn(grounds(traceOf(part), order));
  expect(gap({ failure: "it ended" })).toBe("it ended");
  expect(gap({ complete: false })).toBe("the tracer fell behind");
  expect(gap({ complete: false }, orderOf({ trace: "none" }))).toBeUndefined();
  expect(gap({ complete: false, tier: "C", failure: "it ended" })).toBeUndefined();
  expect(gap({})).toBeUndefined();
});
