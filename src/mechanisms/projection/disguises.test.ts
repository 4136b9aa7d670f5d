/** Spellings and places under which an act could pass for another one. */
import { describe, expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { event, grounds, orderOf, tool, traceOf, workspace } from "../../../test/kit/isolation/projection-scene.ts";
import type { Grounds } from "./grounds.ts";
import { judgeTrace } from "./judgement.ts";

type Part = Partial<EffectEvent> & Pick<EffectEvent, "action">;

const everything = tool({ does: ["read.local", "write.local", "read.external", "execute.local"] });

function judged(parts: readonly Part[], order = orderOf(), of = everything): Grounds {
  return grounds(traceOf({ events: parts.map(event) }), order, of);
}

const rules = (parts: readonly Part[], order = orderOf(), of = everything): readonly string[] =>
  judgeTrace(judged(parts, order, of)).violations.map(({ rule, verdict }) => `${rule} ${verdict}`);

describe("attack: the machine's own loopback, asked of the broker, is not the server's", () => {
  const reach = (part: Partial<EffectEvent>): Part => ({ action: "net-connect", grade: "broker", port: 22, ...part });
  test.each([
    ["a name for it", { domain: "localhost", outcome: "denied" }],
    ["a name below it", { domain: "db.localhost", outcome: "denied" }],
    ["its address", { address: "127.0.0.1", outcome: "denied" }],
    ["a foreign name that leads there", { domain: "evil.example", address: "127.0.0.1", outcome: "denied" }],
    ["another spelling", { domain: "LOCALHOST.", outcome: "denied" }],
    ["an IPv4 address inside IPv6", { address: "::ffff:127.0.0.1", outcome: "denied" }],
  ] as const)("%s", (_, part) => {
    expect(rules([reach(part)])).toEqual(["net.destination deny"]);
  });

  test("while its own one, seen by the tracer, is nobody else's", () => {
    expect(rules([reach({ address: "127.0.0.1", grade: "hint" })])).toEqual([]);
    const granted = orderOf({ net: { mode: "list", allow: ["localhost:22"] } });
    expect(rules([reach({ domain: "localhost" })], granted)).toEqual([]);
  });
});

describe("attack: a link with a target that climbs leads where it leads", () => {
  const link = (target: string): readonly string[] =>
    rules([{ action: "file-link", path: `${workspace}/a/link`, target }]);
  test.each(["../../../../mnt/x", "../../../bob/x", "/mnt/x"])("%s", (target) => {
    expect(link(target)).toEqual(["file.link-target deny"]);
  });
  test("to a key is a key", () => {
    expect(link("../../.ssh/id_rsa")).toEqual(["file.secret deny"]);
  });
  test.each(["../b", "b", "../../work/c", "/usr/bin/env"])("%s is let be", (target) => {
    expect(link(target)).toEqual([]);
  });
});

describe("attack: a way through a place that is noise leads where it leads", () => {
  test.each([
    ["file.read", { action: "file-read", outcome: "denied", path: "/mnt/node_modules/../private.txt" }],
    ["file.secret", { action: "file-read", outcome: "failed", path: "/home/ada/.config/git/../../.ssh/id_rsa" }],
    ["file.write", { action: "file-write", outcome: "denied", path: "/var/cache/fontconfig/../../../opt/x" }],
    ["file.write", { action: "file-rename", outcome: "denied", path: "/var/cache/fontconfig/x", target: "/opt/x" }],
    [
      "net.socket",
      { action: "net-connect", transport: "unix", outcome: "denied", path: "/run/systemd/resolve/../../x.sock" },
    ],
    ["net.socket", { action: "net-connect", transport: "unix", outcome: "denied", path: "/mnt/sss/pipes/x.sock" }],
  ] as const)("%s: %o", (rule, part) => {
    expect(rules([part])).toEqual([`${rule} deny`]);
  });

  test("a call that may have been made is no mere try", () => {
    expect(rules([{ action: "system-call", detail: "io_uring_setup", outcome: "unknown" }])).toEqual([
      "process.call deny",
    ]);
    expect(rules([{ action: "system-call", detail: "io_uring_setup", outcome: "denied" }])).toEqual([]);
  });
});

describe("attack: a program is not the one that the scope names because it is called so", () => {
  test("planted in a folder that the server writes", () => {
    expect(rules([{ action: "process-spawn", program: "/tmp/git" }])).toEqual(["process.program deny"]);
  });
  test("while looking along the path, and what is named by its place, are let be", () => {
    expect(rules([{ action: "process-spawn", program: "/tmp/git", outcome: "failed" }])).toEqual([]);
    const named = orderOf({ exec: { mode: "list", programs: ["/tmp/git"] } });
    expect(rules([{ action: "process-spawn", program: "/tmp/git" }], named)).toEqual([]);
    expect(rules([{ action: "process-spawn", program: "/usr/bin/git" }])).toEqual([]);
  });
});

describe("attack: a file is no pipe because it is called so", () => {
  test.each([`${workspace}/../../../memfd:x/../home/bob/x`, "/memfd:/../mnt/x", "/memfd:x/../mnt/x"])("%s", (path) => {
    expect(rules([{ action: "file-read", path }])).toEqual(["file.read deny"]);
  });
  test("and a link out of one is a write", () => {
    expect(rules([{ action: "file-rename", path: "/memfd:x", target: "/srv/x" }])).toEqual(["file.write deny"]);
  });
});

describe("overlapping calls", () => {
  const granted = orderOf({
    tools: { other: { allow: ["b.example.com:443"], read: ["/srv/b"], write: ["/srv/out"], programs: ["rg"] } },
  });
  const during = (phase: EffectEvent["phase"], part: Part): readonly string[] => rules([{ phase, ...part }], granted);
  const acts: readonly Part[] = [
    { action: "net-connect", domain: "b.example.com", port: 443, grade: "broker" },
    { action: "file-read", path: "/srv/b/x" },
    { action: "file-write", path: "/srv/out/x" },
    { action: "process-spawn", program: "/usr/bin/rg" },
  ];

  test("what the scope of another tool explains is asked about, since it may have been that one's", () => {
    for (const act of acts) expect(during("ambiguous", act)).toEqual([expect.stringMatching(/ confirm$/)]);
  });

  test("alone, a call that does what only another tool may is out of scope; so is what no tool may", () => {
    for (const act of acts) expect(during("call", act)).toEqual([expect.stringMatching(/ deny$/)]);
    expect(during("ambiguous", { action: "file-read", path: "/srv/c" })).toEqual(["file.read deny"]);
  });
});
