// The symbolic part: deeds, labels held, arguments and the state of a run.
import { expect, test } from "vitest";
import { everyEffect } from "../../../core/effect.ts";
import type { PredictionContext, PredictionStep } from "../../../core/questions/prediction.ts";
import { argumentFacts, controlRoles, readInstruction, rememberValues, roleBit, withLeftOut } from "./arguments.ts";
import { deed, deedsOf } from "./deeds.ts";
import { held, heldBits } from "./held.ts";
import { after, readState, stepsMax } from "./run-state.ts";

test("deeds follow from effects, whatever the tool is called", () => {
  const bits = (...effects: string[]): number => deedsOf(effects).bits;
  expect(bits("read.external")).toBe(deed.reads);
  expect(bits("write.local")).toBe(deed.writes);
  expect(bits("execute.local")).toBe(deed.consequential);
  expect(bits("execute.external")).toBe(deed.consequential | deed.leaves);
  expect(bits("write.external.send")).toBe(deed.consequential | deed.leaves);
  expect(bits("write.external.publish")).toBe(deed.consequential | deed.leaves | deed.public);
  expect(bits("write.external.share")).toBe(deed.consequential | deed.opens | deed.public);
  expect(bits("write.external.webhook")).toBe(deed.consequential | deed.opens);
  expect(bits("write.local.schedule")).toBe(deed.consequential | deed.unattended);
  expect(bits("write.external.credential")).toBe(deed.consequential | deed.elevates);
  expect(bits("write")).toBe(deed.unknown | deed.writes);
  expect(bits("read")).toBe(deed.unknown | deed.reads);
});

test("no effects, and all effects, are both no knowledge", () => {
  expect(deedsOf([]).bits).toBe(deed.unknown);
  expect(deedsOf(everyEffect)).toEqual(deedsOf([]));
  expect(deedsOf(["x".repeat(65)])).toEqual(deedsOf([]));
});

test("restrictions of any policy become three bits", () => {
  expect(heldBits(["private", "medical"])).toBe(held.private);
  expect(heldBits(["not anyone"])).toBe(held.private);
  expect(heldBits(["credentials"])).toBe(held.secret);
  expect(heldBits(["untrusted"])).toBe(held.untrusted);
  expect(heldBits(["public", "trusted", ""])).toBe(0);
  expect(heldBits(Array.from({ length: 100 }, (_, index) => (index === 99 ? "untrusted" : "public")))).toBe(0);
});

const instruction = readInstruction(
  "Pay INV-204 (240 EUR) to `bob@pine.example`, see https://pine.example/x and /home/a/b.txt.",
);

test("the instruction names values of roles, without the punctuation around them", () => {
  for (const role of controlRoles) expect(instruction.roleBits & roleBit(role), role).not.toBe(0);
  expect(readInstruction("look into our trip").roleBits).toBe(0);
  expect(instruction.words.has("/home/a/b.txt")).toBe(true);
});

test("arguments are told, seen or new", () => {
  const seen = new Set<string>();
  rememberValues({ to: "eve@else.example" }, seen);
  const given = {
    to: "eve@else.example",
    amount: 240,
    cc: ["bob@pine.example"],
    url: "https://other.example",
    body: "hello",
  };
  const facts = argumentFacts(given, instruction, seen).map(({ role, provenance }) => [role, provenance]);
  // By name: amount, body, cc, to, url.
  expect(facts).toEqual([
    ["amount", "told"],
    ["content", "new"],
    ["recipient", "told"],
    ["recipient", "seen"],
    ["url", "new"],
  ]);
});

test("a short value inside a longer word is not told", () => {
  expect(argumentFacts({ amount: 24 }, instruction, new Set())[0]?.provenance).toBe("new");
  expect(
    argumentFacts({ amount: JSON.rawJSON("240") as { rawJSON: string } }, instruction, new Set())[0],
  ).toMatchObject({
    role: "amount",
    provenance: "told",
  });
});

test("hostile arguments are read up to a limit", () => {
  let deep: { readonly [key: string]: never } | { readonly a: unknown } = {};
  for (let depth = 0; depth < 50; depth += 1) deep = { a: deep };
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, "v".repeat(500)]));
  expect(
    argumentFacts({ deep: JSON.parse(JSON.stringify(deep)), flag: true, none: null }, instruction, new Set()),
  ).toEqual([]);
  const empty = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`e${index}`, Array.from({ length: 60 }, () => [])]),
  );
  expect(argumentFacts({ empty, z: "last" }, instruction, new Set())).toEqual([]);
  expect(argumentFacts({ list: Array.from({ length: 900 }, () => "x"), wide }, instruction, new Set())).toHaveLength(
    24,
  );
});

test("an argument that was left out is new, whatever it says", () => {
  const facts = argumentFacts(withLeftOut(step("pay", [], { declared: ["iban"] })), instruction, new Set());
  expect(facts).toMatchObject([{ role: "recipient", provenance: "new" }]);
  expect(withLeftOut(step("pay", [], { declared: ["iban"], arguments: { iban: "x" } }))).toEqual({ iban: "x" });
});

const step = (tool: string, effects: readonly string[], more: Partial<PredictionStep> = {}): PredictionStep => ({
  server: "files",
  tool,
  effects,
  arguments: {},
  brought: [],
  outcome: "succeeded",
  ...more,
});

const context = (steps: readonly PredictionStep[], evidence: readonly string[] = []): PredictionContext => ({
  version: 1,
  instruction: "",
  tools: [],
  steps,
  evidence,
});

test("a state is what the steps have left behind", () => {
  const state = readState(
    context([
      step("read", ["read.local"], { brought: ["private"] }),
      step("share", ["write.external.share"]),
      step("cron", ["write.local.schedule"]),
      step("key", ["write.local.credential"], { outcome: "unknown" }),
      step("send", ["write.external.send"], { outcome: "failed", brought: ["untrusted"] }),
    ]),
  );
  expect(state).toMatchObject({ held: held.private, elevated: true, consequential: 3, failed: 1 });
  expect(state.servers.get("files")).toEqual({ content: held.private, open: true, unattended: true });
});

test("of the evidence only the trust is believed, because the instruction counts as most private", () => {
  expect(readState(context([], ["private", "credentials", "untrusted"])).held).toBe(held.untrusted);
});

test("counts are kept small, and old steps are left out", () => {
  const many = Array.from({ length: stepsMax + 40 }, (_, index) =>
    step("x", ["write.local.delete"], index < 10 ? { brought: ["private"] } : {}),
  );
  expect(readState(context(many))).toMatchObject({ held: 0, consequential: 3 });
});

test("what is written takes along what is held", () => {
  const read = after(readState(context([])), step("r", ["read.local"]), held.secret);
  expect(read.servers.get("files")?.content).toBe(0);
  const written = after(read, step("w", ["write.local"], { server: "mail" }), 0);
  expect(written.servers.get("mail")?.content).toBe(held.secret);
});
