/** The source files for mutation testing: their list, the mutable ones, and their importers. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { parseSync } from "oxc-parser";

/** Folders whose code decides and nothing else: it runs without a platform, so that a mutant costs a second. */
export const pureFolders = ["src/core", "src/wire", "src/policy", "src/proof", "src/mechanisms"] as const;

export function sourcesIn(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(root, path);
    return path.endsWith(".ts") && !path.endsWith(".d.ts") ? [path] : [];
  });
}

/** A file of types alone runs nothing, so there is nothing to change in it. */
export function runsSomething(code: string): boolean {
  return parseSync("code.ts", code).program.body.some((statement) => {
    if (statement.type === "ExportNamedDeclaration") return statement.exportKind !== "type";
    return !["ImportDeclaration", "TSTypeAliasDeclaration", "TSInterfaceDeclaration"].includes(statement.type);
  });
}

/** Files by the files that import them; paths are relative to the root of the repository. */
export type Importers = ReadonlyMap<string, readonly string[]>;

/** All code and tests: a test of a mechanism may reach it through the command that puts the parts together. */
export function importersIn(root: string): Importers {
  const importers = new Map<string, string[]>();
  for (const file of ["src", "test"].flatMap((folder) => sourcesIn(root, folder))) {
    const { module } = parseSync(file, readFileSync(join(root, file), "utf8"));
    for (const { moduleRequest } of module.staticImports) {
      if (!moduleRequest.value.startsWith(".")) continue;
      const imported = join(dirname(file), moduleRequest.value);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}
