import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Scope, ToolScope } from "../../../core/isolation/scope.ts";
import { scopeOf } from "../../../../test/kit/isolation/launch-case.ts";
import { serverView } from "./projection-view.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "sluicegate-view-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const home = join(base, "home");
for (const name of ["home/docs", "home/keys", "data"]) mkdirSync(join(base, name), { recursive: true });
writeFileSync(join(base, "data/file"), "");
symlinkSync(join(home, "keys"), join(home, ".ssh"));

function view(files: Partial<Scope["files"]>, tool: Partial<ToolScope> = {}) {
  const plain = scopeOf({ command: "", args: [], workspace: "", home, stateFolder: "" });
  const none: ToolScope = { read: [], write: [], allow: [], programs: [] };
  const scope = { ...plain, files: { ...plain.files, ...files }, tools: new Map([["t", { ...none, ...tool }]]) };
  return serverView({ scope, home, workspace: [], code: [], workspaceBind: undefined });
}

test("what one tool may touch is shown, because mounts cannot come and go with calls", () => {
  const { binds } = view({}, { read: [join(base, "data")], write: ["~/docs"] });
  expect(binds).toContainEqual({
    kind: "bind",
    source: join(base, "data"),
    target: join(base, "data"),
    access: "read",
  });
  expect(binds).toContainEqual({
    kind: "bind",
    source: join(home, "docs"),
    target: join(home, "docs"),
    access: "write",
  });
});

test("a link that is shut shuts what it leads to", () => {
  const { binds } = view({ deny: ["~/.ssh", "~/none"] });
  expect(binds.filter(({ kind }) => kind === "mask")).toEqual([
    { kind: "mask", target: join(home, "keys"), folder: true },
  ]);
});
