/** The normative example of the policy language: it must parse and compile, and says what it says. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { loadPolicy } from "./load.ts";
import { describe as words } from "../core/label.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

export const calendarPolicy = `version: 1
host: {tools: hooks, send: gated, read: gated, execute: gated}
lattice: {confidentiality: [public, sensitive, private], categories: [medical, credentials], trust: [trusted, untrusted], groups: [me, "org:acme", anyone]}
servers: {calendar: {trust: untrusted}, mail: {}}
labels:
  calendar.list_events: {effects: [read.external], output: {confidentiality: public, fields: {"/events/*/title": private}}}
  mail.send_email:
    effects: [write.external.send]
    args: {to: {role: recipient}, subject: {role: content, bound: public}, body: {role: content, bound: public}}
    writes: [mail:outbox]
  calendar.create_event: {effects: [write.local], writes: [calendar:events]}
  calendar.reschedule:   {effects: [write.local], writes: [calendar:events]}
  calendar.backup:       {effects: [write.local]}
  calendar.delete_event: {effects: [write.local.delete]}
stores: {"mail:outbox": {audience: anyone}, "calendar:events": {audience: me}}
hazards:
  H1: {loss: L1, consent: may, never: {flow: {from: {confidentiality: private}, to: {effect: write.external}}}}
rules:
  - {id: R1, tier: block,   when: {effect: write.external, data: {confidentiality: private}}, why: "private events stay with you", serves: SR1}
  - {id: R2, tier: confirm, when: {tool: mail.send_email, arg: {to: {not: {domain: ["example.com"]}}}}, why: "outside the company"}
  - {id: R3, tier: must,    gate: {before: calendar.delete_event, need: calendar.backup, key: event_id}, why: "deletions are backed up"}
keep: [{trace: [calendar.create_event, calendar.reschedule, mail.send_email]}]
flow: {mode: provenance}
expect:
  - {trace: [list_events, {send_email: {to: "bob@example.com", body: "{list_events/events/0/title}"}}], verdict: deny, by: R1}
  - {trace: [create_event, reschedule, {send_email: {to: "bob@example.com", body: "moved to 3 pm"}}], verdict: allow, instruction: "move it to 3 pm and tell bob@example.com"}
`;

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
