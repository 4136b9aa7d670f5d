import { expect, test } from "vitest";
import type { EffectEvent } from "../../../core/isolation/effect-trace.ts";
import { EventBag } from "./collapse.ts";

const places = { home: "/home/ana", workspace: ["/project"], code: ["/opt/server", "/usr"], scratch: ["/tmp"] };

type Part = Partial<EffectEvent> & Pick<EffectEvent, "action">;

/** What is kept of many events that a server chooses, and of one that it wants to hide behind them. */
function keptOf(flood: (index: number) => Part, bad: Part, before = 2_000): boolean {
  const bag = new EventBag(places);
  const plain = { outcome: "success", grade: "hint", phase: "call", count: 1 } as const;
  const parts = [...Array.from({ length: before }, (_, index) => flood(index)), bad];
  for (const [sequence, part] of parts.entries()) bag.add({ sequence, at: sequence, ...plain, ...part });
  const { events, dropped } = bag.collapsed();
  expect(events.reduce((sum, { count }) => sum + count, dropped)).toBe(before + 1);
  return events.some(({ sequence }) => sequence === before);
}

const spawn = (program: string, commandLine = program): Part => ({ action: "process-spawn", program, commandLine });

test("attack: a program hides behind many starts of another one with other arguments", () => {
  expect(keptOf((n) => spawn("/usr/bin/git", `git log ${n}`), spawn("/usr/bin/curl"))).toBe(true);
});

test("attack: a program hides behind many programs that the server brought along", () => {
  expect(keptOf((n) => spawn(`/opt/server/bin/${n}`), spawn("/usr/bin/curl"))).toBe(true);
});

test("attack: a write hides behind writes into folders that vanish", () => {
  const bad = { action: "file-write", path: "/home/ana/out/report" } as const;
  expect(keptOf((n) => ({ action: "file-write", path: `/tmp/${n}/x` }), bad)).toBe(true);
  expect(keptOf((n) => ({ action: "file-write", path: `/project/${n}/x` }), bad)).toBe(true);
  const rename = { action: "file-rename", path: "/tmp/a", target: "/home/ana/out/b" } as const;
  expect(keptOf((n) => ({ action: "file-rename", path: `/tmp/${n}`, target: `/tmp/${n}b` }), rename)).toBe(true);
});

test("attack: looking for a key hides behind looking for many that nobody has", () => {
  const flood = (n: number): Part => ({ action: "file-read", outcome: "failed", path: `/x${n}/.ssh/id_rsa` });
  expect(keptOf(flood, { action: "file-read", outcome: "failed", path: "/home/ana/.ssh/id_rsa" })).toBe(true);
  expect(keptOf(flood, { action: "file-read", outcome: "failed", path: "/etc/shadow" })).toBe(true);
});

test("attack: a connection hides behind connections to itself, or to many ports of one host", () => {
  const connect = (more: Partial<EffectEvent>): Part => ({ action: "net-connect", transport: "tcp", ...more });
  const bad = connect({ domain: "api.example.com", port: 443, grade: "broker" });
  expect(keptOf((n) => connect({ address: `127.0.${n >> 8}.${n & 255}`, port: n }), bad)).toBe(true);
  expect(keptOf((n) => connect({ address: `198.18.${n >> 8}.${n & 255}`, port: n }), bad)).toBe(true);
  expect(keptOf((n) => connect({ domain: "b.example.com", port: n + 1, grade: "broker" }), bad)).toBe(true);
  expect(keptOf((n) => connect({ address: `::1`, port: n }), bad)).toBe(true);
});

test("attack: a refused call hides behind another one", () => {
  const call = (detail: string, process: number): Part => ({
    action: "system-call",
    outcome: "denied",
    detail,
    commandLine: String(process),
  });
  expect(keptOf((n) => call("clone3", n), call("ptrace", 1))).toBe(true);
});

test("what says nothing about anybody is kept as long as there is room", () => {
  expect(keptOf(() => ({ action: "process-signal" }), { action: "net-listen", transport: "unix" }, 10)).toBe(true);
});
