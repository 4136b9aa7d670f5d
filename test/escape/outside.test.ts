// The attempts themselves work: with no projection around them an ordinary user reaches most of what lies outside, and
// root the rest. A suite whose attempts fail everywhere would prove nothing about what holds them.
import { accessSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attemptBare, genuine } from "./bare.ts";
import { attempts } from "./attempts.ts";
import { loadNative } from "./native.ts";
import { plantWorld, type User, type World } from "./world.ts";

const nobody = 65_534;
const systemAdministrator = 1n << 21n;

const root = process.getuid?.() === 0;
const linux = process.platform === "linux";
const capabilities = linux ? /CapEff:\s*([0-9a-f]+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] : undefined;
const mighty = root && (BigInt(`0x${capabilities ?? "0"}`) & systemAdministrator) !== 0n;
const native = (await loadNative()) !== undefined;

/** Whether another user could run the attempts from where they lie. */
function readableByAll(): boolean {
  if (!root) return false;
  try {
    accessSync(import.meta.dirname);
    return true;
  } catch {
    return false;
  }
}

const callers: { readonly name: string; readonly user: User; readonly asRoot: boolean; readonly runs: boolean }[] = [
  root
    ? { name: "an ordinary user", user: { uid: nobody }, asRoot: false, runs: readableByAll() }
    : { name: "an ordinary user", user: undefined, asRoot: false, runs: linux },
  { name: "root", user: undefined, asRoot: true, runs: mighty },
];

for (const caller of callers) {
  describe.skipIf(!linux || !caller.runs)(`without a projection, as ${caller.name}`, () => {
    let world: World;
    beforeAll(async () => {
      world = await plantWorld(caller.user, "bare");
    });
    afterAll(async () => {
      await world.remove();
    });

    test.each(attempts)("$number $title", async (attempt) => {
      const line = await attemptBare(world, caller.user, attempt.number);
      const changes = await world.changes("ended");
      const arrived = attempt.judge === "world" ? changes.length > 0 : line.reached;
      expect(genuine(line, world)).toBe(true);
      if (attempt.needs.includes("koffi") && !native) {
        expect(line.cannot).toBe(true);
        return;
      }
      const told = `${line.detail} ${changes.join()}`;
      if (attempt.bare === "anyone" || (attempt.bare === "root" && caller.asRoot)) expect(arrived, told).toBe(true);
      if (attempt.bare === "root" && !caller.asRoot) expect(arrived, told).toBe(false);
    });

    test("and everything is put back", async () => {
      expect(await world.changes("ended")).toEqual([]);
    });
  });
}

test("the attempts are numbered as the list that they come from", () => {
  expect(attempts.map((attempt) => attempt.number)).toEqual(Array.from({ length: 47 }, (_, index) => index + 1));
});
