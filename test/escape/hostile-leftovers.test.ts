// What a gateway left in the folder that everybody may write to may have been replaced by others before the next one.
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { recover } from "../../src/adapters/workspace/commit/recover.ts";

const root = process.getuid?.() === 0;
const nobody = 65_534;
/** Beyond the largest pid of Linux: nobody bears it. */
const deadPid = 2 ** 22 + 1;

test.skipIf(!root)(`a folder of others is not swept${root ? "" : " (needs root)"}`, async () => {
  const [own, foreign] = [0, 1].map(() => mkdtempSync(join(tmpdir(), "sluicegate-"))) as [string, string]; // two of two
  const state = mkdtempSync(join(tmpdir(), "leftovers-state-"));
  try {
    mkdirSync(join(state, "projections"));
    for (const one of [own, foreign]) {
      writeFileSync(join(one, "kept"), "");
      writeFileSync(join(state, "projections", basename(one)), `${deadPid}\nlong ago\n${one}`);
    }
    chownSync(foreign, nobody, nobody);
    await recover(state);
    expect([own, foreign].map((one) => existsSync(one))).toEqual([false, true]);
  } finally {
    for (const one of [own, foreign, state]) rmSync(one, { recursive: true, force: true });
  }
});
