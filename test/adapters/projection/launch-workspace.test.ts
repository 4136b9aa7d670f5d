// Working directories as clients choose them: behind links, too wide, missing. Each is shown rightly or told about.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { launchWorkspace } from "../../../src/adapters/projection/launch/workspace.ts";
import { probeSupport, serviceUserDefault } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import { defaultTransportLimits } from "../../../src/adapters/net/net-limits.ts";
import { runLaunch, scopeOf } from "../../kit/isolation/launch-case.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "sluicegate-place-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
for (const name of ["home", "state", "state/inner", "project"]) mkdirSync(join(base, name), { mode: 0o755 });
symlinkSync(join(base, "project"), join(base, "link"));
symlinkSync(base, join(base, "up"));
symlinkSync(join(base, "home"), join(base, "home-link"));
writeFileSync(join(base, "file"), "");

const scope = scopeOf({ command: "x", args: [], workspace: "", home: "", stateFolder: "", scope: { mode: "read" } });
const support = await probeSupport();
const choice = tierOf(support, scope);

async function seen(folder: string) {
  const order = { server: "s", mode: "auto", require: "none", scope, digest: "d" } as const;
  const target = { kind: "stdio", command: "x", args: [], env: {}, workingDirectory: folder } as const;
  const places = { home: join(base, "home"), stateFolder: join(base, "state"), workspace: [folder] };
  const user = { user: "u", serviceUser: serviceUserDefault };
  const found = await launchWorkspace({
    target,
    order,
    ...places,
    ...user,
    limits: defaultTransportLimits,
    support,
    choice,
  });
  if (!found.ok) return found.error;
  return found.value.prepared === undefined ? found.value.notes.join(" ") : found.value.folders;
}

describe("a working directory", () => {
  test("has all names that lead to it", async () => {
    const project = join(base, "project");
    expect(await seen(project)).toEqual([project]);
    expect(await seen(join(base, "link"))).toEqual([project, join(base, "link")]);
    expect(await seen(join(base, "up/project"))).toEqual([project, join(base, "up/project")]);
  });

  test.each([
    "/",
    "/tmp",
    "/home",
    join(base, "home"),
    join(base, "home-link"),
    base,
    join(base, "up"),
    join(base, "state"),
  ])("that is too wide is none, and that is said: %s", async (folder) => {
    expect(await seen(folder)).toContain("sees no workspace");
  });

  test("in the state of the gateway is none", async () => {
    expect(await seen(join(base, "state/inner"))).toContain("which no server may see");
  });

  test("that is missing or no folder is told about in a sentence", async () => {
    expect(await seen(join(base, "none"))).toMatch(/cannot be opened .*start in a folder that you may read/);
    expect(await seen(join(base, "file"))).toMatch(/is not a folder: start in one/);
  });
});

if (choice.tier !== "A") console.log(`skipped: this machine gives tier ${choice.tier}, not A`);

describe.skipIf(choice.tier !== "A")("a server behind a link (needs tier A)", () => {
  test.each([true, false])(
    "finds its workspace under both names, and what it writes is seen (learned: %s)",
    (learn) => {
      const outcome = runLaunch(
        {
          command: process.execPath,
          args: [
            "-e",
            `const fs = require("fs"); fs.writeFileSync("a", "1"); fs.writeFileSync(${JSON.stringify(join(base, "project/b"))}, "2");
           console.log(process.cwd(), fs.readFileSync(${JSON.stringify(join(base, "link/b"))}, "utf8"))`,
          ],
          workspace: join(base, "link"),
          home: join(base, "home"),
          stateFolder: join(base, "state"),
          order: learn ? "learn" : "auto",
        },
        "self",
      );
      expect(outcome.error).toBeUndefined();
      expect(outcome.output.trim()).toBe(`${join(base, "link")} 2`);
      expect(outcome.changes).toEqual(["added a", "added b"]);
    },
  );
});
