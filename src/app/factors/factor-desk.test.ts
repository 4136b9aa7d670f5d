// Tickets: proved once, for the acts that they were opened for, by the factor that is demanded.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stepAt, codeAt } from "../../adapters/factors/totp.ts";
import { FactorDesk } from "./factor-desk.ts";

let root: string;
let now = 1_800_000_000_000;
let desk: FactorDesk;
let secret: Buffer;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluicegate-desk-"));
  desk = new FactorDesk({ factors: join(root, "factors"), proofs: root }, () => now);
});
afterEach(() => rmSync(root, { recursive: true }));

const code = (): string => codeAt(secret, stepAt(now));

function enrol(): void {
  const { secret: text } = desk.device.begin();
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...text].map((sign) => alphabet.indexOf(sign).toString(2).padStart(5, "0")).join("");
  secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  expect(desk.device.confirm(code())).toMatchObject({ ok: true });
  now += 60_000;
}

const act = (text: string) => ({ text, bound: "", lines: [] });

async function ticket(...acts: readonly string[]): Promise<string> {
  const opened = await desk.open("device", acts.map(act));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value.ticket;
}

const refused = { ok: false, error: expect.stringContaining("needs a code of your device") };

describe("a ticket", async () => {
  it("is not opened for a factor that was never enrolled, and the sentence says how to", async () => {
    expect(await desk.open("device", [act("a")])).toMatchObject({
      ok: false,
      error: expect.stringContaining("`sluicegate factor add device`"),
    });
  });

  it("A9: is good for each of its acts once, and for no other", async () => {
    enrol();
    const name = await ticket("a", "b");
    expect(desk.take([name], "a", "device")).toMatchObject(refused);
    expect(await desk.prove(name, { code: code() })).toMatchObject({ ok: true });
    expect(desk.take([name], "c", "device")).toMatchObject(refused);
    expect(desk.take([name], "a", "device")).toMatchObject({ ok: true });
    expect(desk.take([name], "a", "device")).toMatchObject(refused);
    expect(desk.take(["other", name], "b", "device")).toMatchObject({ ok: true });
    expect(desk.take([name], "b", "device")).toMatchObject(refused);
  });

  it("A9: of a weaker factor is none", async () => {
    enrol();
    const opened = await desk.open("terminal", [act("a")]);
    const name = opened.ok ? opened.value.ticket : "";
    expect(await desk.prove(name, { code: code() })).toMatchObject({ ok: false });
    expect(desk.take([name], "a", "device")).toMatchObject(refused);
  });

  it("is proved once: a second proof neither renews it nor gives its acts back", async () => {
    enrol();
    const name = await ticket("a");
    expect(await desk.prove(name, { code: "1" })).toMatchObject({ ok: false });
    expect(await desk.prove(name, { code: code() })).toMatchObject({ ok: true });
    now += 60_000;
    expect(await desk.prove(name, { code: code() })).toMatchObject({
      ok: false,
      error: expect.stringContaining("is over"),
    });
    expect(await desk.prove("other", { code: code() })).toBeUndefined();
  });

  it("of one code does not prove another ticket", async () => {
    enrol();
    const [mine, other] = [await ticket("a"), await ticket("b")];
    const shown = code();
    expect(await desk.prove(mine, { code: shown })).toMatchObject({ ok: true });
    expect(await desk.prove(other, { code: shown })).toMatchObject({
      ok: false,
      error: expect.stringContaining("used"),
    });
  });
});
