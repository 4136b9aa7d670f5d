import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (host: string) =>
  loadPolicy(
    {
      file: "p.yaml",
      text: `version: 1\nlattice: {groups: [me, staff, anyone]}\nstores: {a: {}, b: {}}\nhost: {${host}}\n`,
    },
    { loader: () => undefined, hash },
  );

/** Groups are sorted: anyone 1, me 2, staff 4; stores a 0, b 1. */
it.each([
  ["", { send: 0, read: "gated", execute: false }],
  ["send: gated, read: gated, execute: gated", { send: 0, read: "gated", execute: false }],
  ["send: open, read: open, execute: open", { send: 1, read: "everything", execute: true }],
  ["send: {open: staff}, read: {open: b}", { send: 4, read: [1], execute: false }],
  ["send: {open: [me, staff]}, read: {open: [b, a, b]}, execute: {open: me}", { send: 6, read: [0, 1], execute: true }],
  ["send: {open: []}, read: {open: []}, execute: {open: []}", { send: 0, read: "gated", execute: true }],
])("host: {%s}", (text, wanted) => {
  expect(load(text).policy?.ir.host).toEqual(wanted);
});

it.each([
  ["send: {open: a}", "SG-POLICY-GROUP", 14],
  ["read: {open: staff}", "SG-POLICY-STORE", 14],
  ["read: {open: [a, gone]}", "SG-POLICY-STORE", 14],
  ["execute: {open: b}", "SG-POLICY-GROUP", 17],
])("host: {%s} names what the capability has not, and does not load", (text, code, column) => {
  const { policy, diagnostics } = load(text);
  expect(policy).toBeUndefined();
  expect(diagnostics.map((found) => [found.code, found.line, found.column])).toEqual([[code, 4, column]]);
});
