// The gateway's password: only its hash is kept, and guesses are slowed down.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FactorFiles } from "./factor-files.ts";
import { PasswordFactor } from "./password.ts";

let folder: string;
let now = 1_800_000_000_000;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "sluicegate-password-")), "factors");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const open = (): PasswordFactor => new PasswordFactor(new FactorFiles(folder), () => now);
const good = "correct horse Å";

it("A9: holds for its own text alone, in whichever form a keyboard writes it", async () => {
  expect(open().enrolled()).toBe(false);
  expect(await open().check(good)).toMatchObject({ ok: false });
  now += 3_600_000;
  expect(await open().set(good)).toMatchObject({ ok: true });
  expect(await open().check(good)).toMatchObject({ ok: true });
  expect(await open().check(good.normalize("NFD"))).toMatchObject({ ok: true });
  for (const other of ["", `${good} `])
    expect(await open().check(other)).toMatchObject({ ok: false, error: "The password is not right." });
  expect(await open().check(good)).toMatchObject({ ok: true });
});

it("A9: waits longer after wrong ones, also where many come at once", async () => {
  await open().set(good);
  const many = await Promise.all(Array.from({ length: 20 }, (_, at) => open().check(`guess number ${at}`)));
  expect(many.filter((one) => !one.ok && one.error === "The password is not right.")).toHaveLength(3);
  expect(await open().check(good)).toMatchObject({ error: expect.stringContaining("next try") });
  now += 60_000;
  expect(await open().check(good)).toMatchObject({ ok: true });
});

it("A9: is not in any file, and not short", async () => {
  for (const short of ["", "elevenchars", "x".repeat(1_025)])
    expect(await open().set(short)).toMatchObject({ ok: false, error: expect.stringContaining("at least 12") });
  await open().set(good);
  for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes("horse")).toBe(false);
  expect(open().remove()).toBe(true);
  expect(open().enrolled()).toBe(false);
});

it("fails closed on a file that is damaged", async () => {
  await open().set(good);
  writeFileSync(join(folder, "password.json"), "x".repeat(90));
  expect(open().enrolled()).toBe(true);
  expect(await open().check(good)).toMatchObject({ ok: false, error: expect.stringContaining("cannot be read") });
});
