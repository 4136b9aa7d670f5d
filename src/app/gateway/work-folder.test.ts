import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isWorkFolder, workFolder } from "./work-folder.ts";

const root = mkdtempSync(join(tmpdir(), "sg-work-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("C21: `/`, the home folder and what is above it never become the workspace, however they are written", () => {
  const home = join(root, "home", "ann");
  mkdirSync(join(home, "project"), { recursive: true });
  symlinkSync(home, join(root, "link"));
  const wide = ["/", "//", "/.", home, `${home}/`, `${home}/project/..`, join(root, "home"), root, join(root, "link")];
  for (const folder of wide) expect(workFolder(folder, [home]), folder).toEqual({});
  for (const folder of [undefined, "", "project"]) expect(workFolder(folder, [home])).toEqual({});
  const project = join(home, "project");
  expect(workFolder(project, [home])).toEqual({ workingDirectory: project });
  expect(workFolder(join(root, "home", "ann2"), [home])).toEqual({ workingDirectory: join(root, "home", "ann2") });
  expect(workFolder("/", [])).toEqual({});
  // A home that is a link is the home as well.
  expect(workFolder(home, [join(root, "link")])).toEqual({});
  expect(workFolder(homedir())).toEqual({});
});

test("C21: a root that a client reports is held to the same", () => {
  const home = "/home/ann";
  for (const root of [
    "file:///",
    "FILE:///",
    "/",
    "file:///home/ann",
    "file:///home/ann/",
    "file:///home/%61nn",
    "file://far/x",
  ]) {
    expect(isWorkFolder(root, [home]), root).toBe(false);
  }
  for (const root of ["file:///home/ann/project", "/srv/x", "https://h.example/"]) {
    expect(isWorkFolder(root, [home]), root).toBe(true);
  }
});
