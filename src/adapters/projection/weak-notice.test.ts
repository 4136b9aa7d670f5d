import { expect, test } from "vitest";
import { orderWith } from "../../../test/kit/isolation/fake-parts.ts";
import { weakNotice } from "./weak-notice.ts";

const notes = ["Without bubblewrap: install it.", "Without koffi: install it.", "No control group."];

test("C21: a server that is isolated less than it could be is told of when it starts, with the way on", () => {
  const order = { ...orderWith(), server: "files" };
  expect(weakNotice(order, { tier: "A", notes })).toBeUndefined();
  expect(weakNotice(order, { tier: "C", notes })).toBe(
    "Server `files` runs in isolation tier C, which confines nothing. Without bubblewrap: install it. Without koffi: install it. `sluicegate doctor` names every missing part.",
  );
  expect(weakNotice(order, { tier: "none", notes: notes.slice(0, 1) })).toBe(
    "Server `files` runs in isolation tier none, which is none. Without bubblewrap: install it.",
  );
  for (const tier of ["A-", "B"] as const) expect(weakNotice(order, { tier, notes: [] })).toContain(`tier ${tier}, `);
});

test("by default a server that is not isolated is told of by its first reason", () => {
  const order = { ...orderWith(), mode: "where-possible" as const, server: "files" };
  expect(weakNotice(order, { tier: "none", notes })).toBe(
    "Server `files` is not isolated: it has your files, network and environment. Without bubblewrap: install it.",
  );
  expect(weakNotice(order, { tier: "none", notes: [] })).toContain("is not isolated");
  expect(weakNotice(order, { tier: "A", notes })).toBeUndefined();
});

test("C21: nothing is told of what the policy itself chose", () => {
  const order = orderWith();
  expect(weakNotice({ ...order, mode: "off" }, { tier: "none", notes })).toBeUndefined();
  const open = { ...order, scope: { ...order.scope, net: { ...order.scope.net, mode: "open" as const } } };
  expect(weakNotice(open, { tier: "B", notes })).toBeUndefined();
  expect(weakNotice(open, { tier: "C", notes })).toContain("tier C");
});
