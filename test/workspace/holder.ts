/**
 * Stands for a launcher and its server: makes the mounts it is told, then edits the workspace as lines of JSON say, and
 * answers each with one line. Run inside of `unshare -Urm` for an overlay, bare for a copy.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { MountStep } from "../../src/adapters/projection/parts.ts";
import { type Edit, applyEdits } from "./edits.ts";

// Both are made by the kit.
const mounts = JSON.parse(process.argv[2] ?? "[]") as readonly MountStep[];
const root = process.argv[3] ?? "";

for (const step of mounts) {
  if (step.kind === "folder") mkdirSync(step.target);
  if (step.kind === "tmpfs") mount("tmpfs", `size=${step.sizeMb}m`, step.target);
  if (step.kind === "overlay") {
    mount("overlay", `userxattr,lowerdir=${step.lower},upperdir=${step.upper},workdir=${step.work}`, step.target);
  }
}

function mount(type: string, options: string, target: string): void {
  execFileSync("mount", ["-t", type, "-o", options, type, target], { stdio: ["ignore", "ignore", "inherit"] });
}

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  applyEdits(root, JSON.parse(line) as readonly Edit[]);
  process.stdout.write("done\n");
}
