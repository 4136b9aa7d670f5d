// The imports of every source file, types included, as the tests of the house read them.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";

export const root = resolve(import.meta.dirname, "../..");
export const source = join(root, "src");

/** One import: the importing file, and the specifier as written. Files are relative to `src`. */
export type Import = { readonly from: string; readonly specifier: string };

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.endsWith(".d.ts") ? [path] : [];
  });
}

function importsOf(path: string): Import[] {
  const text = readFileSync(path, "utf8");
  const parsed = parseSync(path, text);
  const from = relative(source, path);
  const found = [
    ...parsed.module.staticImports.map((one) => one.moduleRequest.value),
    ...parsed.module.staticExports.flatMap((one) => one.entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...parsed.module.dynamicImports.map((one) => text.slice(one.moduleRequest.start + 1, one.moduleRequest.end - 1)),
    ...[...text.matchAll(/\bimport\("([^"]+)"\)\./g)].flatMap(([, specifier]) => specifier ?? []),
  ];
  return [...new Set(found)].map((specifier) => ({ from, specifier }));
}

/** The file that a relative specifier means, relative to `src`; undefined for a package. */
export function targetOf({ from, specifier }: Import): string | undefined {
  return specifier.startsWith(".") ? relative(source, resolve(source, dirname(from), specifier)) : undefined;
}

/** All source files, relative to `src`, without tests and declarations. */
export const files: readonly string[] = sources(source).map((path) => relative(source, path));
export const imports: readonly Import[] = files.flatMap((file) => importsOf(join(source, file)));
