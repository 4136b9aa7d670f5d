// Mutation testing of the code (`npm run mutate`): which tests a file is tried with, and how its survivors are told.
import { describe, expect, it } from "vitest";
import { judged, percent, scoreText, sum } from "../../scripts/mutation/mutants.ts";
import { nearestTests } from "../../scripts/mutation/nearest-tests.ts";
import { importersIn, pureFolders, runsSomething, sourcesIn } from "../../scripts/mutation/sources.ts";

const root = `${import.meta.dirname}/../..`;

describe("the tests that belong to a file", () => {
  const importers = new Map([
    ["src/core/a.ts", ["src/core/b.ts", "src/core/a.test.ts", "src/policy/far.test.ts", "test/laws/a.test.ts"]],
    ["src/core/b.ts", ["src/core/a.ts", "src/core/b.test.ts", "test/laws/proof/slow.test.ts"]],
    ["src/core/lonely.ts", ["src/policy/user.ts"]],
    ["src/policy/user.ts", ["src/policy/user.test.ts", "src/gateway/other.test.ts"]],
  ]);

  it("lie beside it or are laws, and import it", () => {
    expect(nearestTests("src/core/a.ts", importers)).toEqual(["src/core/a.test.ts", "test/laws/a.test.ts"]);
    expect(nearestTests("src/core/b.ts", importers)).toEqual(["src/core/b.test.ts"]);
  });

  it("are the ones of its name and of its folder as well, however far from it they enter", () => {
    const deep = new Map([
      ["src/policy/compile/rules.ts", ["src/policy/compile.ts", "src/policy/compile/near.test.ts"]],
      ["src/policy/compile.ts", ["src/policy/load.ts"]],
      ["src/policy/load.ts", ["src/policy/compile.test.ts", "src/policy/compile/rules.test.ts", "test/laws/a.test.ts"]],
    ]);
    expect(nearestTests("src/policy/compile/rules.ts", deep)).toEqual([
      "src/policy/compile.test.ts",
      "src/policy/compile/near.test.ts",
      "src/policy/compile/rules.test.ts",
    ]);
  });

  it("are the nearest of the pure layers where none lies beside it, and a file that nobody tests has none", () => {
    expect(nearestTests("src/core/lonely.ts", importers)).toEqual(["src/policy/user.test.ts"]);
    expect(nearestTests("src/core/unknown.ts", importers)).toEqual([]);
  });

  it("are there for every file that can be mutated", () => {
    const real = importersIn(root);
    const files = pureFolders.flatMap((folder) => sourcesIn(root, folder)).filter((file) => !file.endsWith(".test.ts"));
    expect(files.length).toBeGreaterThan(200);
    expect(files.filter((file) => nearestTests(file, real).length === 0)).toEqual([]);
    expect(nearestTests("src/core/step.ts", real)).toContain("src/core/step.test.ts");
  });
});

it("a file of types alone has nothing to mutate", () => {
  const types = 'import type { A } from "./a.ts";\n/** A word. */\nexport type B = A;\ninterface C { readonly b: B }\n';
  expect(runsSomething(types)).toBe(false);
  expect(runsSomething(`${types}export const limit = 1;`)).toBe(true);
  expect(runsSomething(`${types}limit();`)).toBe(true);
});

describe("what is told of mutants", () => {
  const source = "const a = 1;\nif (a > 1 &&\n  b) run();\n";
  const at = (line: number, column: number, endLine: number, endColumn: number) => ({
    start: { line, column },
    end: { line: endLine, column: endColumn },
  });
  const report = {
    files: {
      "src/a.ts": {
        source,
        mutants: [
          { mutatorName: "CallRemoval", replacement: ";", status: "NoCoverage", location: at(3, 6, 3, 11) },
          { mutatorName: "Condition", replacement: "true", status: "Survived", location: at(2, 5, 3, 4) },
          { mutatorName: "Condition", replacement: "false", status: "Killed", location: at(2, 5, 3, 4) },
          { mutatorName: "Condition", status: "Timeout", location: at(2, 5, 2, 10) },
          { mutatorName: "Condition", status: "RuntimeError", location: at(2, 5, 2, 10) },
        ],
      },
    },
  };

  it("names each survivor with place and change, in the order of the file", () => {
    expect(judged(report).survivors).toEqual([
      "src/a.ts:2:5 Condition: a > 1 && b → true",
      "src/a.ts:3:6 CallRemoval: run() → ; (no test of it comes here)",
    ]);
  });

  it("counts what was noticed, and neither what survived nor what never ran", () => {
    expect(judged(report).score).toEqual({ killed: 2, all: 4 });
    expect(sum([judged(report).score, { killed: 1, all: 1 }])).toEqual({ killed: 3, all: 5 });
  });

  it("says 100 % only where nothing survived", () => {
    expect(scoreText({ killed: 1999, all: 2000 })).toBe("99.9 % (1999 of 2000 mutants killed)");
    expect(percent({ killed: 0, all: 0 })).toBe(100);
  });
});
