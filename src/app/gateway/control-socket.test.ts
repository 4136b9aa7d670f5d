import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { gatewayHome } from "./control-socket.ts";

const root = mkdtempSync(join(tmpdir(), "sg-gateway-home-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the state folder of a gateway lies in that of the user, and one that cannot be made is a sentence", () => {
  const home = join(root, "home");
  expect(gatewayHome({ SLUICEGATE_HOME: home })).toEqual({ ok: true, value: join(home, "gateway") });
  const file = join(root, "file");
  writeFileSync(file, "");
  expect(gatewayHome({ SLUICEGATE_HOME: file })).toEqual({
    ok: false,
    error: `The folder ${join(file, "gateway")} cannot be made or read (ENOTDIR). Check its owner and try again.`,
  });
});
