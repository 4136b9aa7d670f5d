/** The normative example of the policy language: it must parse and compile, and says what it says. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadPolicy } from "../load.ts";
import { describe as words } from "../../core/label.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const calendarPolicy = readFileSync(new URL("../../../test/fuzz/corpus/policy/calendar.yaml", import.meta.url), "utf8");

test("the example of the language compiles without a finding", () => {
  const loaded = loadPolicy({ file: "calendar.yaml", text: calendarPolicy }, { loader: () => undefined, hash });
  expect(loaded.diagnostics).toEqual([]);
  const ir = loaded.policy?.ir;
  expect(ir?.rules.map((rule) => [rule.id, rule.tier, rule.kind])).toEqual([
    ["R1", "block", "plain"],
    ["R2", "confirm", "plain"],
    ["R3", "must", "temporal"],
  ]);
  expect(ir?.hazards.map((hazard) => [hazard.id, hazard.consent, hazard.kind])).toEqual([["H1", "may", "flow"]]);
  expect(ir?.stores.map((store) => [store.name, store.audience])).toEqual([
    ["calendar:events", 2],
    ["mail:outbox", 1],
  ]);
  const entry = loaded.policy?.table.entries.find((each) => each.tool === "list_events");
  const lattice = ir?.lattice;
  if (lattice === undefined || entry?.statement.output === undefined) throw new Error("not compiled");
  expect(words(lattice, entry.statement.output.label.hi)).toBe("public, untrusted");
  expect(words(lattice, entry.statement.output.fields[0]?.label.lo ?? lattice.top)).toBe("private");
});
