import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogKeys } from "../../gateway/ports/store.ts";
import { readLogMemory } from "./log-memory.ts";
import { openKeys } from "./sealing.ts";

const dayMs = 86_400_000;
const noon = 20_000 * dayMs + dayMs / 2;
let folder: string;
const keyFolder = (): string => join(folder, "keys");

function open(): LogKeys {
  const keys = openKeys(keyFolder());
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-keys-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("keys of the log", () => {
  it("opens what was sealed, in another process too, and never elsewhere than where it belongs", () => {
    const text = "arguments with ümläuts \u0000 and 🙂";
    const sealed = open().seal("run-1", text, "record 1 1", noon);
    const keys = open();
    expect(keys.open("run-1", sealed, "record 1 1")).toEqual({ ok: true, value: text });
    expect(keys.open("run-1", sealed, "record 1 2")).toEqual({ ok: false, error: "damaged" });
    expect(keys.open("run-2", sealed, "record 1 1")).toEqual({ ok: false, error: "damaged" });
    expect(keys.open("run-1", sealed.subarray(0, 20), "record 1 1")).toEqual({ ok: false, error: "damaged" });
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(keys.open("run-1", changed, "record 1 1").ok).toBe(false);
    }
  });

  it("never seals the same text alike, over more texts than one pool of chance", () => {
    const keys = open();
    const seen = new Set(
      Array.from({ length: 3_000 }, () => Buffer.from(keys.seal("r", "t", "b", noon)).toString("hex")),
    );
    expect(seen.size).toBe(3_000);
  });

  it("forgets whole days: what was sealed before cannot be opened by anybody", () => {
    const keys = open();
    const old = keys.seal("run-1", "old", "b", noon - 2 * dayMs);
    const fresh = keys.seal("run-1", "fresh", "b", noon);
    expect(keys.readable(old)).toBe(true);
    expect(keys.destroyBefore(noon)).toBe(1);
    expect(keys.readable(old)).toBe(false);
    expect(keys.open("run-1", old, "b")).toEqual({ ok: false, error: "missing-key" });
    expect(keys.open("run-1", fresh, "b")).toEqual({ ok: true, value: "fresh" });
    expect(open().open("run-1", old, "b")).toEqual({ ok: false, error: "missing-key" });
    expect(readdirSync(keyFolder()).filter((name) => name.startsWith("day-"))).toHaveLength(1);
  });

  it("destroys the keys of all other days where one cannot be destroyed, and says that one is left", () => {
    const keys = open();
    const old = [3, 2].map((days) => keys.seal("run-1", "old", "b", noon - days * dayMs));
    mkdirSync(join(keyFolder(), "day-1999-01-01.key"));
    expect(() => keys.destroyBefore(noon)).toThrow("EISDIR");
    for (const sealed of old) {
      expect(keys.open("run-1", sealed, "b")).toEqual({ ok: false, error: "missing-key" });
      expect(open().open("run-1", sealed, "b")).toEqual({ ok: false, error: "missing-key" });
    }
  });

  it("signs so that its own key verifies, and knows no other", () => {
    const keys = open();
    const signature = keys.sign("head");
    expect(open().verify(keys.signer, "head", signature)).toBe(true);
    expect(keys.verify(keys.signer, "other", signature)).toBe(false);
    expect(keys.verify("somebody", "head", signature)).toBeUndefined();
  });

  it("gives digests that depend on this installation", () => {
    const keys = open();
    expect(keys.keyedDigest("hunter2")).toBe(open().keyedDigest("hunter2"));
    expect(keys.keyedDigest("hunter2")).not.toBe(keys.hash("hunter2").slice(0, 32));
    rmSync(keyFolder(), { recursive: true });
    expect(open().keyedDigest("hunter2")).not.toBe(keys.keyedDigest("hunter2"));
  });

  it.runIf(process.platform !== "win32")("keeps keys private, and refuses keys that are not", () => {
    open().seal("r", "t", "b", noon);
    for (const name of readdirSync(keyFolder())) expect(statSync(join(keyFolder(), name)).mode & 0o777).toBe(0o600);
    chmodSync(join(keyFolder(), "provenance.key"), 0o644);
    expect(openKeys(keyFolder())).toMatchObject({ ok: false, error: expect.stringContaining("chmod 600") });
    chmodSync(join(keyFolder(), "provenance.key"), 0o600);
    chmodSync(keyFolder(), 0o750);
    expect(openKeys(keyFolder())).toMatchObject({ ok: false, error: expect.stringContaining("chmod 700") });
  });

  it.runIf(process.platform !== "win32")(
    "C21: a pipe in the place of a key or of the head is refused and not waited for",
    () => {
      const keys = open();
      const sealed = keys.seal("r", "t", "b", noon);
      const [day = ""] = readdirSync(keyFolder()).filter((name) => name.startsWith("day-"));
      for (const name of ["provenance.key", "signing.pem", day, "log-head.json"]) {
        rmSync(join(keyFolder(), name), { force: true });
        expect(spawnSync("mkfifo", ["-m", "600", join(keyFolder(), name)]).status).toBe(0);
      }
      expect(readLogMemory(keyFolder(), keys)).toMatchObject({ ok: false });
      expect(openKeys(keyFolder())).toMatchObject({ ok: false, error: expect.stringContaining("is no file") });
      for (const name of ["provenance.key", "signing.pem"]) rmSync(join(keyFolder(), name));
      expect(open().open("r", sealed, "b")).toEqual({ ok: false, error: "missing-key" });
    },
  );

  it("says what to do about a damaged signing key, and leaves it alone", () => {
    open();
    const pem = join(keyFolder(), "signing.pem");
    writeFileSync(pem, "not a key");
    expect(openKeys(keyFolder())).toMatchObject({ ok: false, error: expect.stringContaining("is damaged") });
    expect(readFileSync(pem, "utf8")).toBe("not a key");
  });

  it("refuses to seal without a whole key of the day", () => {
    const keys = open();
    writeFileSync(join(keyFolder(), "day-2024-10-04.key"), "short", { mode: 0o600 });
    expect(() => keys.seal("r", "t", "b", noon)).toThrow();
  });

  it("names a folder that cannot be made", () => {
    writeFileSync(join(folder, "file"), "");
    expect(openKeys(join(folder, "file", "keys"))).toMatchObject({ ok: false, error: expect.stringContaining(folder) });
  });
});
