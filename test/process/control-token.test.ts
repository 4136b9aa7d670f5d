// `POST /runs` starts a clean run, so it takes the gateway's control token: a port is open to every local user.
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeControlToken } from "../../src/app/gateway/control-token.ts";

test("a control token is new for each start and readable by its user only", () => {
  const home = mkdtempSync(join(tmpdir(), "sg-control-"));
  const first = makeControlToken(home);
  const second = makeControlToken(home);
  expect(second.token).not.toBe(first.token);
  expect(readFileSync(second.file, "utf8").trim()).toBe(second.token);
  expect(statSync(second.file).mode & 0o777).toBe(0o600);
});
