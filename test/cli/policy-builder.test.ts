// The policy builder as an installed package offers it: built, imported by name, with its types; and the example that
// docs/builder.md shows.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repository, Terminal } from "./command.ts";

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
