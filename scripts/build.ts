// Builds the published form: `src` as JavaScript in `dist`. Nothing is bundled; `.ts` specifiers become `.js`. The
// shipped packs are written as JSON besides: every start reads all of them, and reading YAML takes many times as long.
// Types go along for the one module that other programs import, the policy builder. A folder to build into may be
// named.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "..");
const named = process.argv[2];
const target = resolve(named ?? join(root, "dist"));
// A folder named by the caller is not cleared.
if (named === undefined) rmSync(target, { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
for (const project of ["tsconfig.build.json", "tsconfig.types.json"]) {
  const words = [compiler, "-p", project, "--outDir", target];
  const built = spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" });
  if (built.status !== 0) process.exitCode = built.status ?? 1;
}

const packs = join(root, "packs");
mkdirSync(join(target, "packs"), { recursive: true });
for (const file of readdirSync(packs).filter((name) => name.endsWith(".yaml"))) {
  const document: unknown = parse(readFileSync(join(packs, file), "utf8"));
  writeFileSync(join(target, "packs", `${basename(file, ".yaml")}.json`), JSON.stringify(document));
}
