// Builds what is published: `src` as JavaScript in `dist`. Nothing is bundled; `.ts` specifiers become `.js`.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
const built = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
process.exitCode = built.status ?? 1;
