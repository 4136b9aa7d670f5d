/** Programs that a project has installed itself: `npx` takes those before it asks a registry. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../attempt.ts";
import type { ProcessTarget } from "../process/launch.ts";
import { type FetchCommand, isProgram } from "./fetch-command.ts";
import { mainProgram, programsOf } from "./npm-programs.ts";
import { npmPackage } from "./package-spec.ts";
import { projectFolder } from "./settings-files.ts";

/** Runners that look into the project first; `dlx` never does. */
const looksAround = new Set(["npx", "npm exec", "npm x", "bunx", "bun x"]);

/** Absolute path of the program; undefined where the package has to come from a registry. */
export function localProgram(target: ProcessTarget, command: FetchCommand): string | undefined {
  const [text = "", ...more] = command.packages;
  const spec = npmPackage(text);
  const plain = command.program === undefined && more.length === 0 && command.registry === undefined;
  if (!looksAround.has(command.runner) || !plain || spec === undefined || spec.wanted !== "") return undefined;
  const project = projectFolder(target.workingDirectory);
  if (project === undefined) return undefined;
  const { name } = spec;
  const linked = join(project, "node_modules", ".bin", name);
  if (isProgram(name) && existsSync(linked)) return attempt(() => realpathSync(linked), undefined);
  const programs = programsOf(project, name);
  const main = programs.ok ? mainProgram(name, programs.value) : undefined;
  return programs.ok && main !== undefined ? join(project, programs.value[main] ?? "") : undefined;
}
