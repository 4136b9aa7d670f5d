// A workspace is copied by the gateway, with its rights, while others who may write there swap files and folders for links.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isWithin } from "../../src/core/isolation/scope-patterns.ts";
import { prepareWorkspace } from "../../src/adapters/workspace/prepare.ts";

const top = mkdtempSync(join(tmpdir(), "sluicegate-copied-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const copies = 60;
const filesPerFolder = 20;
const scope = { mode: "overlay", commit: "allow", per: "call", quotaMb: 16 } as const;

/** Swaps the file `plain` and the folder `inner` for links to the outside, and back, until it is ended. */
const swapper = `const fs = require("node:fs");
const [folder, outside] = process.argv.slice(1);
process.chdir(folder);
for (;;) for (const [name, target] of [["plain", outside + "/secret"], ["inner", outside]]) {
  fs.symlinkSync(target, name + "-next");
  fs.renameSync(name, name + "-kept"); fs.renameSync(name + "-next", name);
  fs.unlinkSync(name); fs.renameSync(name + "-kept", name);
}`;

test("no link that is swapped in while a workspace is copied leads out of it", async () => {
  const [folder, outside, stateFolder] = ["work", "outside", "state"].map((name) => join(top, name)) as [
    string,
    string,
    string,
  ]; // three names give three paths
  for (const one of [folder, outside, stateFolder, join(folder, "inner")]) mkdirSync(one);
  for (let index = 0; index < filesPerFolder; index++) {
    writeFileSync(join(folder, "inner", `f${index}`), "own");
    writeFileSync(join(outside, `f${index}`), "secret");
  }
  writeFileSync(join(outside, "secret"), "secret");
  writeFileSync(join(folder, "plain"), "own");
  const child = spawn(process.execPath, ["-e", swapper, folder, outside], { stdio: "ignore" });
  try {
    await once(child, "spawn");
    const found = new Set<string>();
    for (let index = 0; index < copies; index++) {
      // One that is interrupted by a swap fails with a sentence, which is no harm.
      const prepared = await prepareWorkspace({ folder, scope, stateFolder, how: "copy" });
      if (!prepared.ok) continue;
      const { source } = prepared.value.bind;
      for (const name of readdirSync(source, { recursive: true, withFileTypes: true })) {
        // A link may well be copied as a link: what it leads to is no part of the copy.
        if (name.isFile() && isWithin(realpathSync(name.parentPath), realpathSync(source)))
          found.add(readFileSync(join(name.parentPath, name.name), "utf8"));
      }
      await prepared.value.abandon();
    }
    expect([...found].filter((text) => text !== "own")).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});
