// Every code is documented, every documented code exists, and each sentence that a user can see is produced here once
// and read as a user would: short, about something, with a way on, without a stack trace or a control character.
import { describe, expect, test } from "vitest";
import { gatewayRows } from "./errors/gateway-rows.ts";
import { commandRows, unproduced } from "./errors/command-rows.ts";
import { configRows } from "./errors/config-rows.ts";
import { besideRows, namesOf, policyRows } from "./errors/policy-rows.ts";
import { runRows } from "./errors/run-rows.ts";
import { stpaRows } from "./errors/stpa-rows.ts";
import { placeRows, wireKinds } from "./errors/place-rows.ts";
import { codesInDocument, codesInSources, commandsInSources } from "./errors/error-codes.ts";
import { diagnosticLine } from "../src/app/policy/diagnostic-line.ts";
import { shippedLoader, sha256, toolDigest } from "../src/app/policy/policy-source.ts";
import { lintPolicy } from "../src/policy/lint/lint.ts";
import { loadPolicy } from "../src/policy/load.ts";

const sentenceMax = 240;

/** What can be typed; test/cli/usage.test.ts holds the first words against the help. */
const commands = new Set([
  "run",
  "gateway",
  "hook",
  "daemon start",
  "daemon stop",
  "daemon status",
  "doctor",
  "packages",
  "packages update",
  "learn",
  "scan",
  "changes",
  "changes show",
  "changes apply",
  "changes drop",
  "labels",
  "labels lint",
  "replay",
  "approve",
  "cards",
  "factor",
  "tour",
  "runs",
  "runs new",
  "runs close",
  "runs accept",
  "stores",
  "stores reset",
  "bench",
  "bench admission",
  "bench agentdojo",
  "bench regulation",
  "bench isolation",
  "bench start",
  "bench friction",
  "bench labels",
  "train",
  "daemon run",
  "--help",
  "policy check",
  "policy explain",
  "policy import",
  "policy try",
  "proof verify",
  "stpa check",
  "stpa compile",
  "stpa draft",
  "stpa report",
  "audit tail",
  "audit verify",
  "audit export",
  "audit policy",
  "audit prune",
  "audit set-aside",
]);

/** A word that tells the reader what to do. */
const remedy =
  /\b(add|approve|ask|change|check|choose|correct|declare|did you mean|encode|extend|flatten|free|give|go on|install|join|keep|leave|log|look|make|mend|move|must|name|narrow|needs|page|print|put|raise|reach|remove|rename|repeat|report|restart|restore|run|save|send|set|shorten|shows|split|start|starts|stop|swap|try|unset|use|verify|wait|write)\b/i;

function expectReadable(sentence: string, names: string): void {
  expect(sentence.length, sentence).toBeLessThanOrEqual(sentenceMax);
  expect(sentence).toContain(names);
  expect(sentence).toMatch(remedy);
  expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(sentence).not.toMatch(/\bat .+:\d+:\d+\)?$|\bError:|node:internal|undefined|\[object/m);
}

describe("docs/errors.md", () => {
  const documented = codesInDocument();
  const inSources = codesInSources();

  test("lists every code of the sources", () => {
    expect(inSources.size).toBeGreaterThan(100);
    expect([...inSources].filter((code) => !documented.has(code))).toEqual([]);
  });

  test("lists no code that is gone", () => {
    const wire = new Set<string>(wireKinds);
    expect([...documented].filter((code) => !inSources.has(code) && !wire.has(code))).toEqual([]);
    expect(wireKinds.filter((kind) => !documented.has(kind))).toEqual([]);
  });

  test("has each of its codes produced below, or says why not", () => {
    const produced = new Set([
      ...policyRows.map((row) => `SG-POLICY-${row.code}`),
      ...configRows.map((row) => row.code),
      ...runRows.map((row) => row.code),
      ...commandRows.map((row) => row.code),
      ...gatewayRows.map((row) => row.code),
      ...stpaRows.map((row) => row.code),
      ...placeRows.map((row) => row.code),
      ...wireKinds,
    ]);
    const missing = [...documented].filter((code) => !produced.has(code) && !Object.hasOwn(unproduced, code));
    expect(missing).toEqual([]);
    expect(Object.keys(unproduced).filter((code) => produced.has(code))).toEqual([]);
  });
});

test("sentences send nobody to a command that does not exist", () => {
  const named = commandsInSources();
  expect(named.size).toBeGreaterThan(8);
  expect([...named].filter((command) => !commands.has(command))).toEqual([]);
});

describe("policy diagnostics", () => {
  test.each(policyRows)("$code", ({ code, text, names, lists }) => {
    const input = { file: "policy.yaml", text: `version: 1\n${text}\n` };
    const loaded = loadPolicy(input, {
      loader: (name, from) => besideRows[name] ?? shippedLoader(name, from),
      hash: sha256,
      today: "2026-01-01",
      ...(lists === undefined ? {} : { manifests: namesOf(lists) }),
    });
    const { policy } = loaded;
    const lints = policy === undefined ? [] : lintPolicy(policy, lists ?? {}, toolDigest).map(loaded.place);
    const all = [...loaded.diagnostics, ...lints];
    const found = all.find((each) => each.code === `SG-POLICY-${code}`);
    expect(found, `${JSON.stringify(all, undefined, 1)}`).toBeDefined();
    if (found === undefined) return;
    expect(found.message).toContain(names);
    expectReadable(diagnosticLine(found), found.file);
    expect(found.remedy).not.toBe("");
  });
});

describe("findings of a hazard analysis", () => {
  test.each(stpaRows)("$code", ({ code, produce, names }) => {
    const found = produce().find((each) => each.code === code);
    if (found === undefined) throw new Error(JSON.stringify(produce()));
    expect(found.message).toContain(names);
    expectReadable(diagnosticLine(found), found.file);
    expect(found.line).toBeGreaterThan(0);
  });
});

describe("configuration", () => {
  test.each(configRows)("$code: $names", ({ code, produce, names }) => {
    const fault = produce();
    expect(fault.code).toBe(code);
    expectReadable(fault.sentence, names);
  });
});

describe("requests for runs", () => {
  test.each(runRows)("$code", ({ code, produce, names }) => {
    const fault = produce();
    expect(fault.code).toBe(code);
    expectReadable(fault.sentence, names);
  });
});

describe("commands", () => {
  test.each(commandRows)("$code: $names", async ({ code, produce, names }) => {
    const fault = await produce();
    expect(fault.code).toBe(code);
    expectReadable(fault.sentence, names);
  });
});

describe("decisions as the model and people see them", () => {
  test.each(gatewayRows)("$code", ({ code, forModel, forPeople }) => {
    for (const sentence of forModel) {
      expectReadable(sentence, "decision");
      // The model must not learn which check fired.
      expect(sentence).not.toContain(code);
    }
    for (const line of forPeople) expect(line).toContain(code);
  });
});

describe("places: wire, store, processes, shim, daemon", () => {
  test.each(placeRows)("$code: $names", async ({ produce, names }) => {
    expectReadable(await produce(), names);
  });
});
