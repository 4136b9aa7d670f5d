import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { repositoryFolder } from "../test/kit/server/run-fixture.ts";

/**
 * Builds what users run: stripping types at every start costs time and tens of megabytes that they never pay. The
 * launcher takes the built form where it exists, so one that was not there before is removed when this process ends.
 */
export function buildForm(): void {
  const folder = join(repositoryFolder, "dist");
  if (!existsSync(folder)) process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const built = spawnSync(process.execPath, [join(repositoryFolder, "scripts", "build.ts")], { stdio: "inherit" });
  if (built.status !== 0) throw new Error("the published form cannot be built: fix the type errors above");
}
