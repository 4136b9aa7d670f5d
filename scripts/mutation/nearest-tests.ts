/**
 * The tests that belong to a file: the one of its name and the one of its folder (`compile.test.ts` for what lies in
 * `compile/`), over any number of imports; and of those beside it and the laws of `test/laws` the ones that import it,
 * or else the ones that reach it over the fewest imports. Where there are none, the nearest of all tests of the pure
 * layers. Other tests do not count: they find a mutant by chance, and each mutant would have to wait for them.
 */
import { dirname } from "node:path/posix";
import { type Importers, pureFolders } from "./sources.ts";

/** Laws about policies and runs as a whole; what lies deeper there belongs to the provers, and takes its time. */
const laws = "test/laws";

export function nearestTests(file: string, importers: Importers): readonly string[] {
  const own = reaching(file, importers, (test) => [dirname(file), laws].includes(dirname(test)));
  const named = [file.replace(/\.ts$/, ".test.ts"), `${dirname(file)}.test.ts`].flatMap((name) =>
    reaching(file, importers, (test) => test === name),
  );
  const near = [...new Set([...own, ...named])].toSorted();
  return near.length > 0 ? near : reaching(file, importers, isPureTest);
}

function isPureTest(test: string): boolean {
  return [...pureFolders, laws, "test/policy"].some((folder) => test.startsWith(`${folder}/`));
}

/** Tests at the least distance, of those that are wanted. */
function reaching(file: string, importers: Importers, wanted: (test: string) => boolean): readonly string[] {
  const seen = new Set([file]);
  let reached = [file];
  while (reached.length > 0) {
    reached = [...new Set(reached.flatMap((one) => importers.get(one) ?? []))].filter((one) => !seen.has(one));
    for (const one of reached) seen.add(one);
    const tests = reached.filter((one) => one.endsWith(".test.ts") && wanted(one));
    if (tests.length > 0) return tests.toSorted();
  }
  return [];
}
