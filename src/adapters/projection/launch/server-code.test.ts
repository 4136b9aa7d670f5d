import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { serverCode, type ServerCode, unprojectable } from "./server-code.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "sluicegate-code-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const home = join(base, "home");

function file(path: string, text = ""): string {
  const whole = join(home, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  chmodSync(whole, 0o755);
  return whole;
}

function code(command: string, args: readonly string[] = [], path = "/usr/bin:/bin"): ServerCode {
  const target = { kind: "stdio", command, args, env: { PATH: path }, workingDirectory: join(home, "work") } as const;
  mkdirSync(target.workingDirectory, { recursive: true });
  const found = serverCode(target, home);
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

test("a script of a package: the packages around it, and the program that its first line names", () => {
  const node = file("node/bin/node");
  const script = file("app/node_modules/@a/server/dist/index.js", "#!/usr/bin/env node\n");
  symlinkSync(script, join(home, "app/node_modules/server"));
  const found = code(join(home, "app/node_modules/server"), ["x"], `${dirname(node)}:/usr/bin`);
  expect(found.paths).toContain(join(home, "app/node_modules"));
  expect(found.paths).toContain(node);
  expect(found).toMatchObject({ runtime: "node", args: ["x"] });
  expect(found.programFolders).toContain(dirname(node));
  expect(found.programs).toEqual(expect.arrayContaining([script, node]));
  expect(found.starters, "`env` starts before it").toBe(1);
});

test("a script of a project: its root and the packages above it, never the home folder", () => {
  file("package.json");
  file("mono/package.json");
  file("mono/node_modules/left/index.js");
  file("mono/apps/one/package.json");
  const script = file("mono/apps/one/src/server.ts");
  const { paths } = code("sh", [script]);
  expect(paths).toEqual([script, join(home, "mono/apps/one"), join(home, "mono/node_modules")]);
  expect(code("sh", [file("loose.js")]).paths).toEqual([join(home, "loose.js")]);
});

test("packages behind a link: under both names, unless it leads to the home folder", () => {
  const script = file("linked/index.js");
  file("linked/package.json");
  file("store/node_modules/a/index.js");
  symlinkSync(join(home, "store/node_modules"), join(home, "linked/node_modules"));
  const { paths } = code("node", [script], dirname(process.execPath));
  expect(paths).toContain(join(home, "linked/node_modules"));
  expect(paths).toContain(join(home, "store/node_modules"));
  const other = file("wide/index.js");
  symlinkSync(home, join(home, "wide/node_modules"));
  expect(code("node", [other], dirname(process.execPath)).paths).not.toContain(home);
});

test("Python: the environment with the installation under it, and the folder of a script", () => {
  const real = file("pythons/3.12/bin/python3.12");
  file("venv/pyvenv.cfg", `home = ${dirname(real)}\n`);
  mkdirSync(join(home, "venv/bin"), { recursive: true });
  symlinkSync(real, join(home, "venv/bin/python"));
  const script = file("scripts/server.py");
  const found = code(join(home, "venv/bin/python"), ["-u", script]);
  for (const path of ["venv", "pythons/3.12", "scripts"]) expect(found.paths).toContain(join(home, path));
  expect(found.runtime).toBe("python");
});

test("a shim is replaced by the interpreter behind it", () => {
  const real = file("versions/3/bin/python3");
  const shim = file("shims/python3", `#!/bin/sh\necho ${real}\n`);
  expect(code("python3", [], dirname(shim)).file).toBe(real);
});

test("system programs need nothing; a missing one is a sentence with a remedy", () => {
  expect(code("sh").paths).toEqual([]);
  expect(code("sh")).toMatchObject({ programs: expect.arrayContaining(["/usr/bin/sh"]), starters: 0 });
  const missing = serverCode({ kind: "stdio", command: "no-such", args: [], env: {}, workingDirectory: base }, home);
  expect(missing.ok ? "" : missing.error).toContain("was not found");
});

test("commands that fetch code or talk to a daemon cannot be projected", () => {
  for (const command of ["npx", "/usr/local/bin/uvx", "docker"]) expect(unprojectable(command)).toBeDefined();
  expect(unprojectable("node")).toBeUndefined();
});
