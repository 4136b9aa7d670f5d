import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ArgumentContract, ToolContract } from "../../../src/core/contract.ts";
import type { RunEvent } from "../../../src/core/event.ts";
import { exactly, makeLattice, type Lattice } from "../../../src/core/label.ts";
import type { CallOption } from "../../../src/core/moment.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Result } from "../../../src/core/result.ts";
import type { LogEntry, StoredRecord } from "../../../src/gateway/ports/store.ts";

/** A folder that is gone after the test, private as the store wants it. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "sluicegate-store-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`unexpected failure: ${JSON.stringify(result.error)}`);
  return result.value;
}

export const lattice: Lattice = unwrap(
  makeLattice({ levels: ["public", "sensitive", "private"], categories: ["medical"], groups: ["me", "anyone"] }),
);

const argument: ArgumentContract = {
  role: "content",
  sink: true,
  audience: 2,
  forbidden: lattice.top,
  schemaValues: ["a", 1],
};

export const contract: ToolContract = {
  server: "mail",
  tool: "send",
  toolDigest: "ab".repeat(32),
  source: "operator",
  effects: { must: ["write.external.send"], may: ["write.external.send"] },
  flags: { irreversible: true, openWorld: true },
  arguments: new Map([["to", { ...argument, role: "recipient" }]]),
  rest: argument,
  output: {
    label: exactly(lattice.bottom),
    fields: [{ pointer: "/id", label: { lo: lattice.bottom, hi: lattice.top }, from: ["to"] }],
  },
  cases: [{ predicates: [3], output: { label: exactly(lattice.top), fields: [] } }],
  reads: [],
  writes: ["outbox"],
  opens: [],
  consequential: true,
};

export const option: CallOption = {
  class: {
    server: "mail",
    tool: "send",
    truths: new Map([[3, true]]),
    keys: new Map([["once", ["ann@example.org"]]]),
    amounts: new Map([["budget", "12.50"]]),
  },
  contract,
  arguments: new Map([
    [
      "to",
      {
        range: { lo: lattice.bottom, hi: lattice.top },
        digest: "d1",
        path: [{ origin: "call-0", server: "files", tool: "read", pointer: "/content/0/text", label: lattice.top }],
      },
    ],
  ]),
};

/** The two entries that every call appends. */
export function callEntries(run: string, call: string, argumentsOf: JsonObject): readonly [LogEntry, LogEntry] {
  const context = {
    policyDigest: "policy-1",
    policyText: "{}",
    lattice,
    payload: "sealed",
    manifestDigest: "manifest-1",
  } as const;
  const before: RunEvent[] = [
    {
      at: 2,
      kind: "dispatched",
      call,
      method: "tools/call",
      option,
      digest: `digest-${call}`,
      arguments: argumentsOf,
    },
  ];
  const after: RunEvent[] = [
    { at: 3, kind: "succeeded", call },
    {
      at: 4,
      kind: "released",
      call,
      server: "mail",
      tool: "send",
      how: "pass",
      label: exactly(lattice.bottom),
      fields: [{ pointer: "/id", range: exactly(lattice.top) }],
      value: { content: [{ type: "text", text: "sent" }] },
    },
  ];
  return [
    { run, at: 2, events: before, context },
    { run, at: 4, events: after, context },
  ];
}

export function record(seq: number, run: string, writer: number): StoredRecord {
  return {
    writer,
    seq,
    run,
    kind: "note",
    body: `{"seq":${seq}}`,
    payload: seq % 2 === 0 ? new Uint8Array([seq % 256, 0, 255]) : undefined,
    fingerprint: `fingerprint-${seq}`,
  };
}
