/** Programs of an installed package of npm, as its manifest names them. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isPlainObject } from "../../core/json.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { printable } from "../net/printable.ts";
import { boundedText } from "./bounded-text.ts";

const manifestBytesMax = 4 * 1024 * 1024;

/** Programs that the manifest of a package names, as paths relative to `folder`, each an ordinary file of the package. */
export function programsOf(folder: string, name: string): Result<Readonly<Record<string, string>>, string> {
  const root = join(folder, "node_modules", name);
  const text = boundedText(join(root, "package.json"), manifestBytesMax);
  const value: unknown = text === undefined ? undefined : attempt(() => JSON.parse(text) as unknown, undefined);
  const bin = isPlainObject(value) ? value["bin"] : undefined;
  const unscoped = name.slice(name.indexOf("/") + 1);
  const named: [string, unknown][] =
    typeof bin === "string" ? [[unscoped, bin]] : isPlainObject(bin) ? Object.entries(bin).slice(0, 256) : [];
  const found: Record<string, string> = {};
  for (const [program, path] of named) {
    if (typeof path !== "string") continue;
    const place = attempt(() => realpathSync(join(root, path)), undefined);
    const own = attempt(() => realpathSync(root), root);
    if (place === undefined || !isWithin(place, own)) {
      return err(
        `\`${printable(name, 60)}\` names a program \`${printable(program, 40)}\` that is not a file of its own, so it is not started. Report it to its author.`,
      );
    }
    found[program] = join("node_modules", name, path);
  }
  return ok(found);
}

/** The program that `npx NAME` runs: the only one, or the one with the name of the package. */
export function mainProgram(name: string, programs: Readonly<Record<string, string>>): string | undefined {
  const unscoped = name.slice(name.indexOf("/") + 1);
  const names = Object.keys(programs);
  const files = new Set(Object.values(programs));
  return names.includes(unscoped) ? unscoped : files.size === 1 ? names[0] : undefined;
}
