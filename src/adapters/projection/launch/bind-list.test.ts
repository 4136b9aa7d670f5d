import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { orderBinds, type Bind } from "./bind-list.ts";

test("a link that a wider mount shows is not mounted on, where its goal is shown by itself", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sluicegate-binds-")));
  const [project, elsewhere] = [join(root, "project"), join(root, "elsewhere")];
  for (const folder of [project, elsewhere]) mkdirSync(folder);
  symlinkSync(elsewhere, join(project, "node_modules"));
  const bind = (source: string, target: string): Bind => ({ kind: "bind", source, target, access: "read" });
  const linked = bind(elsewhere, join(project, "node_modules"));
  const around = bind(project, project);
  const goal = bind(elsewhere, elsewhere);
  expect(orderBinds([linked, around, goal])).toEqual([goal, around]);
  // Without the folder around it the link is not there, and its name is made.
  expect(orderBinds([linked, goal])).toEqual([goal, linked]);
  // Without its goal the link would lead nowhere: better to fail at the start than to run without packages.
  expect(orderBinds([linked, around])).toEqual([around, linked]);
  rmSync(root, { recursive: true });
});

test("the goal of a link may be shown by a mount around it, as the installation of an interpreter is", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sluicegate-binds-")));
  const [environment, installation] = [join(root, "venv"), join(root, "python")];
  for (const folder of [environment, installation]) mkdirSync(folder);
  writeFileSync(join(installation, "python3"), "");
  symlinkSync(join(installation, "python3"), join(environment, "python"));
  const bind = (source: string, target: string): Bind => ({ kind: "bind", source, target, access: "read" });
  const linked = bind(join(installation, "python3"), join(environment, "python"));
  const goal = bind(join(installation, "python3"), join(installation, "python3"));
  const around = [bind(environment, environment), bind(installation, installation)];
  expect(orderBinds([linked, goal, ...around]).map(({ target }) => target)).toEqual([installation, environment]);
  rmSync(root, { recursive: true });
});
