// The code of a device: enrolled by a code, each code once, and guesses slowed down.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DeviceFactor } from "./device.ts";
import { FactorFiles } from "./factor-files.ts";
import { base32, codeAt, stepAt } from "./totp.ts";

let folder: string;
let now = 1_800_000_000_000;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "sluicegate-factors-")), "factors");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const open = (): DeviceFactor => new DeviceFactor(new FactorFiles(folder), () => now);
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const bytesOf = (text: string): Buffer => {
  const bits = [...text].map((sign) => alphabet.indexOf(sign).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** An enrolled device, and the code that it shows so many steps from now. */
function enrolled(): (steps?: number) => string {
  const device = open();
  const { secret } = device.begin();
  const bytes = bytesOf(secret);
  expect(base32(bytes)).toBe(secret);
  expect(device.confirm(codeAt(bytes, stepAt(now)))).toEqual({ ok: true, value: undefined });
  now += 60_000;
  return (steps = 0) => codeAt(bytes, stepAt(now) + steps);
}

const wrong = { ok: false, error: expect.stringContaining("not the one") };
const used = { ok: false, error: expect.stringContaining("used already") };

describe("a device", () => {
  it("counts once a code of it was seen, also for the next process", () => {
    const device = open();
    device.begin();
    expect(device.confirm("000000")).toMatchObject(wrong);
    expect(open().enrolled()).toBe(false);
    expect(open().check("000000")).toMatchObject({ ok: false, error: expect.stringContaining("factor add device") });
    const code = enrolled();
    expect(open().enrolled()).toBe(true);
    expect(open().check(code())).toEqual({ ok: true, value: undefined });
  });

  it("A9: gives each code once, also over a restart, and no earlier one after it", () => {
    const code = enrolled();
    expect(open().check(code(1))).toMatchObject({ ok: true });
    expect(open().check(code(1))).toMatchObject(used);
    expect(open().check(code())).toMatchObject(used);
    expect(open().check(code(-1))).toMatchObject(used);
    now += 60_000;
    expect(open().check(code())).toMatchObject({ ok: true });
  });

  it("A9: does not take the code that enrolled it for a consent", () => {
    const device = open();
    const bytes = bytesOf(device.begin().secret);
    const code = codeAt(bytes, stepAt(now));
    expect(device.confirm(code)).toMatchObject({ ok: true });
    expect(device.check(code)).toMatchObject(used);
  });

  it("A9: waits longer after each wrong code, over restarts and a clock that is set back", () => {
    const code = enrolled();
    const bad = (): string => (code() === "000000" ? "000001" : "000000");
    for (let tries = 0; tries < 3; tries += 1) expect(open().check(bad())).toMatchObject(wrong);
    const waits = { ok: false, error: expect.stringContaining("the next try counts in 1 min") };
    expect(open().check(code())).toMatchObject(waits);
    now -= 3_600_000;
    expect(open().check(code())).toMatchObject(waits);
    now += 60_000 - 1;
    expect(open().check(code())).toMatchObject(waits);
    now += 1;
    expect(open().check(bad())).toMatchObject(wrong);
    expect(open().check(code())).toMatchObject({ error: expect.stringContaining("in 2 min") });
    // The codes of the hour before are not good any more.
    now += 3_600_000;
    expect(open().check(code())).toMatchObject({ ok: true });
    expect(open().check(bad())).toMatchObject(wrong);
  });

  it("asks at most once a day in the end", () => {
    enrolled();
    writeFileSync(join(folder, "device-tries"), JSON.stringify({ failures: 10_000, lastWallMs: now }));
    expect(open().check("000000")).toMatchObject({ error: expect.stringContaining("in 1440 min") });
  });

  it("keeps its secret private, and leaves nothing of it when it is removed", () => {
    enrolled();
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    expect(readFileSync(join(folder, "device.json"), "latin1")).not.toMatch(/secret/);
    expect(open().remove()).toBe(true);
    expect(open().remove()).toBe(false);
    expect(readdirSync(folder)).toEqual(["seal.key"]);
  });

  it.each([
    ["of another key", () => rmSync(join(folder, "seal.key"))],
    ["that is changed", () => writeFileSync(join(folder, "device.json"), "x".repeat(80), { mode: 0o600 })],
    ["that is cut", () => writeFileSync(join(folder, "device.json"), "")],
    ["that is huge", () => writeFileSync(join(folder, "device.json"), "x".repeat(70_000))],
    ["with a short key", () => writeFileSync(join(folder, "seal.key"), "short", { mode: 0o600 })],
  ])("fails closed on an enrolment %s", (_name, damage) => {
    const code = enrolled();
    damage();
    expect(open().enrolled()).toBe(true);
    expect(open().check(code())).toMatchObject({ ok: false });
  });
});
