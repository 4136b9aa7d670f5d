import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { canAudit, nodeAmong } from "./hookable.ts";

const base = mkdtempSync(join(tmpdir(), "sluicegate-hookable-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function program(name: string, text: string): string {
  const path = join(base, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("our own Node is known, under any name; another one is asked, and one that does not know the option has no hook", () => {
  symlinkSync(process.execPath, join(base, "node"));
  expect(canAudit(join(base, "node"), [])).toBe(process.allowedNodeEnvironmentFlags.has("--permission-audit"));
  expect(canAudit(program("new", `[ "$1" = --permission-audit ]`), [])).toBe(true);
  expect(canAudit(program("old", `echo "bad option: $1" >&2; exit 9`), [])).toBe(false);
  expect(canAudit(join(base, "none"), [])).toBe(false);
  expect(canAudit(program("any", "exit 0"), ["/bin/false"]), "it is asked as the server's user").toBe(false);
});

test("the Node of a server is the last program by that name", () => {
  expect(nodeAmong(["/usr/bin/server", "/usr/bin/env", "/opt/node/bin/node", "/usr/bin/node22"])).toBe(
    "/usr/bin/node22",
  );
  expect(nodeAmong(["/usr/bin/python3", "/usr/bin/nodejs-like"])).toBeUndefined();
});
