// Builds what is published: `src` as JavaScript in `dist`. Nothing is bundled; `.ts` specifiers become `.js`. The shipped
// packs are written as JSON besides: every start reads all of them, and reading YAML takes many times as long.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
const built = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
process.exitCode = built.status ?? 1;

const packs = join(root, "packs");
mkdirSync(join(root, "dist", "packs"), { recursive: true });
for (const file of readdirSync(packs).filter((name) => name.endsWith(".yaml"))) {
  const document: unknown = parse(readFileSync(join(packs, file), "utf8"));
  writeFileSync(join(root, "dist", "packs", `${basename(file, ".yaml")}.json`), JSON.stringify(document));
}
