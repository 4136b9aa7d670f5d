// The policy builder as an installed package offers it: built, imported by name, with its types; and the example that
// docs/builder.md shows.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import { repository, Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
const installed = join(terminal.root, "node_modules/sluicegate");
const example = join(terminal.root, "policy.ts");

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(repository, "package.json"), join(installed, "package.json"));
  const built = spawnSync(process.execPath, ["scripts/build.ts", join(installed, "dist")], { cwd: repository });
  expect(built.status, String(built.stdout)).toBe(0);
  copyFileSync(join(repository, "examples/builder/policy.ts"), example);
  terminal.file("package.json", { type: "module" });
}, 120_000);
afterAll(() => terminal.remove());

test("the example runs on the built package and makes a policy that keeps its word", async () => {
  const made = spawnSync(process.execPath, [example], { cwd: terminal.root, encoding: "utf8" });
  expect(made.stderr).toBe("");
  const policy = terminal.file("policy.json", made.stdout);
  expect(await terminal.run("policy", "check", policy, "--strict")).toMatchObject({ code: 0, stderr: "" });
});

/** What the compiler says of a file beside the example, with every declaration file checked as well. */
function compiled(file: string): string {
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const types = ["--types", "node", "--typeRoots", join(repository, "node_modules/@types")];
  const strict = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "esnext", "--module", "nodenext"];
  const words = [compiler, "--ignoreConfig", ...strict, ...types, file];
  return spawnSync(process.execPath, words, { cwd: terminal.root, encoding: "utf8" }).stdout;
}

test("its types come along, and find what the policy language does not have", () => {
  expect(compiled(example)).toBe("");
  const wrong = terminal.file(
    "wrong.ts",
    'import { policy, block } from "sluicegate/policy";\npolicy({ mode: "obsrve" });\nblock("a", { tol: "x" }, { why: "w" });\n',
  );
  const said = compiled(wrong);
  expect(said).toContain("wrong.ts(2,");
  expect(said).toContain("wrong.ts(3,");
});

test("its names change only on purpose", async () => {
  const entry = pathToFileURL(join(installed, "dist/policy/builder.js")).href;
  const names = Object.keys((await import(entry)) as object).toSorted();
  expect(names.join(" ")).toBe("allow block confirm effect flow label labels limit must never not policy scope tool");
});

const golden = join(repository, "test/golden/policy-export.d.ts.txt");
const section = /^\/\/ (\S+\.d\.ts)$/m;

/** Every declaration that the package brings along, without comments. */
function declarations(): string {
  const folder = join(installed, "dist");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".d.ts"));
  const texts = files.toSorted().map((file) => {
    const text = readFileSync(join(folder, file), "utf8").replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, "");
    return `// ${file}\n${text}`;
  });
  return texts.join("");
}

/** What the compiler says of a program that wants each exported type to be the one on record, member by member. */
function comparedWith(record: string): string {
  const [, ...parts] = record.split(section);
  for (let index = 0; index < parts.length; index += 2) {
    const file = join(terminal.root, "then", parts[index] ?? "");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, parts[index + 1] ?? "");
  }
  const types = ["PolicyDocument", "RuleText", "HazardText"];
  const rows = types.map((name) => `const ${name}: Same<Then.${name}, Now.${name}> = true;\n`);
  const probe = `import type * as Then from "./then/policy/builder.js";
import type * as Now from "sluicegate/policy";
type Flat<T> = T extends (...given: infer A) => infer R ? (...given: Flat<A>) => Flat<R> : { [K in keyof T]: Flat<T[K]> };
type Exact<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = Exact<Flat<A>, Flat<B>>;
// What a program is given holds JSON, which has no last level.
const ProgramCall: Exact<Then.ProgramCall, Now.ProgramCall> = true;
const values: Same<typeof Then, typeof Now> = true;
${rows.join("")}export { ProgramCall, values, ${types.join(", ")} };
`;
  return compiled(terminal.file("probe.ts", probe));
}

test("its types change only on purpose, wherever they are declared (test/golden/README.md)", () => {
  if (process.env["SLUICEGATE_GOLDEN"] === "write") writeFileSync(golden, declarations());
  const record = readFileSync(golden, "utf8");
  expect(comparedWith(record)).toBe("");
  // The comparison finds a word less (line 9: the document), and a member that need not be there (line 10: a rule).
  expect(comparedWith(record.replaceAll('"enforce" | "observe"', '"enforce"'))).toContain("probe.ts(9,");
  expect(comparedWith(record.replaceAll("readonly why: string", "readonly why?: string"))).toContain("probe.ts(10,");
});

test("the published schema changes only on purpose (test/golden/README.md)", () => {
  const schema = readFileSync(join(repository, "schema/policy.schema.json"), "utf8");
  expect(sha256(schema)).toBe("a4db6d6bfa15c25afd36be835ee1afec0934f29eb923f068d32d9011c9c478db");
});

test("a rule asks the program beside its policy, which has its types from the package", async () => {
  for (const file of ["checks.ts", "accounts.yaml"]) {
    copyFileSync(join(repository, "examples/builder", file), join(terminal.root, file));
  }
  expect(compiled(join(terminal.root, "checks.ts"))).toBe("");
  const policy = join(terminal.root, "accounts.yaml");
  expect(await terminal.run("policy", "check", policy, "--strict")).toMatchObject({ code: 0, stderr: "" });
  expect((await terminal.run("policy", "explain", policy, "bank.transfer")).stdout).toContain("its program `badIban`");
  terminal.file("checks.ts", "export const badIban = 7;\n");
  const broken = await terminal.run("policy", "check", policy);
  expect(broken).toMatchObject({ code: 1 });
  expect(broken.stdout).toContain("accounts.yaml:10:");
  expect(broken.stdout).toContain("it exports no function badIban");
});

test("docs/builder.md shows the examples as they run", () => {
  const page = readFileSync(join(repository, "docs/builder.md"), "utf8");
  const shown = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
  const examples = ["policy.ts", "checks.ts"].map((file) =>
    readFileSync(join(repository, "examples/builder", file), "utf8"),
  );
  expect(shown).toEqual(examples);
});
