import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { loadPolicy } from "../load.ts";
import { isolationOrder } from "../ir/isolation-order.ts";
import { holdsSecret, sensitivePlaces } from "./sensitive.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

function orderOf(server: string): IsolationOrder {
  const text = `version: 1\nisolation: {servers: {s: ${server}}}`;
  const loaded = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  const order = loaded.policy === undefined ? undefined : isolationOrder(loaded.policy, "s");
  if (order === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return order;
}

test("a server that is learned starts what it likes, is traced whole, and sees no place that holds keys", () => {
  const { mode, scope } = orderOf("{backend: learn, exec: {mode: none}, trace: none}");
  expect(mode).toBe("learn");
  expect(scope.exec).toEqual({ mode: "any", programs: [] });
  expect(scope.trace).toBe("full");
  expect(scope.net).toMatchObject({ mode: "list", allow: [] });
  expect(scope.files.deny).toEqual(expect.arrayContaining(["~/.ssh", "~/.aws", "/etc/shadow"]));
  expect(sensitivePlaces.filter((place) => holdsSecret(place) === undefined)).toEqual([]);
});

test("what is shut stays shut, what a person names twice is meant, and an open network stays open", () => {
  const own = "files: {read: [~/.aws], deny: [./private]}, sensitive: [~/.aws], net: {mode: open}";
  const { scope } = orderOf(`{backend: learn, ${own}}`);
  expect(scope.files.deny).toContain("./private");
  expect(scope.files.deny).not.toContain("~/.aws");
  expect(scope.net.mode).toBe("open");
});

test("without it nothing of this is so", () => {
  expect(orderOf("{backend: auto}").scope.files.deny).toEqual([]);
});
