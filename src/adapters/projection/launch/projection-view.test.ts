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

test("a watched server keeps its own code in a folder that it does not see otherwise", () => {
  const state = join(home, "state");
  const code = join(state, "packages", "npm-1");
  mkdirSync(code, { recursive: true });
  const scope = scopeOf({ command: "", args: [], workspace: "", home, stateFolder: state });
  const shown = { kind: "bind", source: home, target: home, access: "read" } as const;
  const host = { home: shown, shut: [state] };
  const order = { scope, home, workspace: [], workspaceBind: undefined, host };
  const shut = (paths: readonly string[]) =>
    serverView({ ...order, code: paths }).binds.filter(({ target }) => target.startsWith(state));
  expect(shut([code])).toEqual([
    { kind: "bind", source: code, target: code, access: "read" },
    { kind: "scratch", target: state },
  ]);
  // A server whose code is the folder itself, or elsewhere, sees nothing of it.
  expect(shut([state]).at(-1)).toEqual({ kind: "mask", target: state, folder: true });
  expect(shut([join(base, "data")])).toEqual([{ kind: "mask", target: state, folder: true }]);
});

test("a link that is shut shuts what it leads to", () => {
  const { binds } = view({ deny: ["~/.ssh", "~/none"] });
  expect(binds.filter(({ kind }) => kind === "mask")).toEqual([
    { kind: "mask", target: join(home, "keys"), folder: true },
  ]);
});
