import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { ok } from "../../core/result.ts";
import type { ReadingText } from "../../policy/sections/readings.ts";
import { AcceptedReadings } from "./accepted-readings.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { CardFiles } from "./card-files.ts";

afterEach(() => void vi.useRealTimers());

const made = (): CardFiles => new CardFiles(mkdtempSync(join(tmpdir(), "sg-read-")));
const reading = (server: string): ReadingText => ({
  server,
  tool: "look",
  digest: "a".repeat(64),
  label: { effects: "read.local" },
  until: "2999-01-01",
});
const record = (answer: ServerAnswer["answer"], flagged?: string): ServerAnswer => {
  const one = { answer, at: "2026-01-01T00:00:00.000Z", by: "os:1", tools: {} };
  return flagged === undefined ? one : { ...one, flagged };
};
const holds = (files: CardFiles, servers: Readonly<Record<string, ServerAnswer>>, ...readings: readonly string[]) =>
  files.change(() => ok({ readings: readings.map(reading), servers: new Map(Object.entries(servers)) }));
const counting = ({ source }: AcceptedReadings) => (source?.document.readings ?? []).map(({ server }) => server);

it("reads the files once for what is on record and for what counts", async () => {
  const files = made();
  await holds(files, { s: record("accepted") }, "s");
  const read = vi.spyOn(files, "read");
  expect(counting(new AcceptedReadings(files, () => undefined))).toEqual(["s"]);
  expect(read).toHaveBeenCalledTimes(1);
});

it("knows what was refused or found even where the readings cannot be read, at a start and while it runs", async () => {
  const files = made();
  const servers = { a: record("accepted"), b: record("accepted", "it left its scope"), c: record("isolated") };
  await holds(files, servers, "a", "b");
  const told: string[] = [];
  const running = new AcceptedReadings(files, (text) => void told.push(text));
  writeFileSync(files.accepted, "{");
  expect(running.refresh()).toBe(false);
  expect(counting(running)).toEqual(["a"]);
  const record2 = { a: record("refused"), b: record("accepted"), c: record("accepted"), d: record("refused") };
  writeFileSync(files.answers, JSON.stringify({ version: 1, servers: record2 }));
  expect(running.refresh()).toBe(true);
  expect(counting(running)).toEqual([]);
  const answers = Object.fromEntries([...running.state.servers].map(([name, one]) => [name, one.answer]));
  // What the file gives counts when both files can be read again.
  expect(answers).toEqual({ a: "refused", b: "accepted", c: "isolated", d: "refused" });
  expect(running.state.servers.get("b")?.flagged).toBe("it left its scope");
  const started = new AcceptedReadings(files, (text) => void told.push(text));
  expect(started.fault).toMatch(/accepted\.json/);
  expect(counting(started)).toEqual([]);
  expect([...started.state.servers.keys()]).toEqual(["a", "d"]);
  writeFileSync(files.answers, "{");
  expect(running.refresh()).toBe(false);
  expect(told).toHaveLength(2);
});

it("takes readings off the record whose last day is over, so that a clock that is set back brings none back", async () => {
  const files = made();
  const until = { ...reading("old"), until: "2026-01-01" };
  await files.change(() => ok({ readings: [until, reading("s")], servers: new Map() }));
  const readings = new AcceptedReadings(files, () => undefined);
  expect(await readings.endDays("2026-01-01")).toBe(false);
  expect(await readings.endDays("2026-01-02")).toBe(true);
  expect(files.read()).toMatchObject({ value: { readings: [reading("s")] } });
  expect(counting(readings)).toEqual(["s"]);
});

it("closes hosts whose last day is over, and opens none where the readings cannot be read", async () => {
  const files = made();
  const hosts = (...allow: readonly string[]) => ({ allow: [...allow], until: "2999-01-01", workspace: false });
  const ended = { ...record("accepted"), hosts: { ...hosts("old.example"), until: "2026-01-01" } };
  await holds(files, { app: { ...record("accepted"), hosts: hosts("a.example", "b.example") }, ended });
  const told: string[] = [];
  const readings = new AcceptedReadings(files, (text) => void told.push(text));
  expect(await readings.endDays("2026-01-02")).toBe(true);
  expect(told).toEqual([expect.stringMatching(/days are over.*`ended`.*hosts/)]);
  expect(readings.state.servers.get("ended")).toEqual(record("accepted"));
  expect(readings.state.servers.get("app")).toHaveProperty("hosts");
  writeFileSync(files.accepted, "{");
  const open = { ...record("isolated"), hosts: hosts("b.example", "c.example") };
  const servers = { app: open, other: { ...record("isolated"), hosts: hosts("d.example") } };
  writeFileSync(files.answers, JSON.stringify({ version: 1, servers }));
  readings.refresh();
  expect(readings.state.servers.get("app")).toMatchObject({ answer: "isolated", hosts: { allow: ["b.example"] } });
  expect(readings.state.servers.get("other")).toEqual(record("isolated"));
  writeFileSync(files.answers, JSON.stringify({ version: 1, servers: { app: record("accepted") } }));
  readings.refresh();
  expect(readings.state.servers.get("app")).not.toHaveProperty("hosts");
});

it("takes a folder that leads nowhere, or that others can write, for an error with a way on", async () => {
  const files = made();
  const folder = dirname(files.accepted);
  symlinkSync(folder, folder);
  expect(files.read()).toMatchObject({
    ok: false,
    error: expect.stringMatching(/cannot be read \(its links.*remove it/),
  });
  expect(new AcceptedReadings(files, () => undefined).fault).toMatch(/its links lead in a circle/);
  rmSync(folder);
  await holds(files, { s: record("accepted") }, "s");
  chmodSync(folder, 0o770);
  expect(files.read()).toMatchObject({ ok: false, error: expect.stringMatching(/cards is not a folder.*chmod 700/) });
});

it.each(["throws", "fails later"])("looks at the files now and then where watching them %s", async (when) => {
  const files = made();
  await holds(files, {});
  const told: string[] = [];
  const readings = new AcceptedReadings(files, (text) => void told.push(text));
  vi.useFakeTimers();
  const cause = Object.assign(new Error("no"), { code: "EMFILE" });
  const failing: Parameters<AcceptedReadings["watch"]>[0] = () => {
    if (when === "throws") throw cause;
    const on = (_name: string, fail: (cause: unknown) => void): void => (fail(cause), fail(cause));
    return { on, close: () => undefined } as never;
  };
  readings.watch(failing);
  expect(told).toEqual([expect.stringMatching(/count here within 5 seconds.*\(EMFILE\)/)]);
  await holds(files, { s: record("refused") });
  expect(readings.state.servers.has("s")).toBe(false);
  vi.advanceTimersByTime(5_000);
  expect(readings.state.servers.has("s")).toBe(true);
  readings.close();
  await holds(files, {});
  vi.advanceTimersByTime(10_000);
  expect(readings.state.servers.has("s")).toBe(true);
});
