import { describe, expect, it } from "vitest";
import type { LogKeys, StoredRecord } from "../ports/store.ts";
import { chainStart, checkNext } from "./chain-check.ts";
import { fingerprintOf } from "./record.ts";

const keys = { hash: (text: string) => `hash of ${text}` } as unknown as LogKeys;

/** What a chain finds of a record whose fingerprint and columns fit its body. */
function findingsOf(body: object): readonly string[] {
  const text = JSON.stringify(body);
  const place = { writer: 1, seq: 1, run: "r", kind: "note", payload: undefined };
  const record: StoredRecord = { ...place, body: text, fingerprint: fingerprintOf(keys, "", text) };
  return checkNext(keys, chainStart(1), record).findings.map(({ kind }) => kind);
}

const note = { at: 1, kind: "note" };
const place = { writer: 1, seq: 1, run: "r", context: {}, entries: [note, note] };
const format1 = { version: 2, ...place, wallTime: "2026-01-15T12:00:00.000Z", kind: "note" };
const format2 = { format: 2, ...place, wallMs: 1 };

describe("a record whose fingerprint and columns fit", () => {
  it.each([format1, format2])("is sound if its whole body reads", (body) => expect(findingsOf(body)).toEqual([]));

  const damaged: readonly (readonly [string, object])[] = [
    ["no context", { context: undefined }],
    ["a context that is no object", { context: ["policy"] }],
    ["an earlier entry without an instant", { entries: [{ kind: "note" }, note] }],
    ["an earlier entry without a kind", { entries: [{ at: 1 }, note] }],
    ["an earlier entry that is no object", { entries: [null, note] }],
    ["a last entry without an instant", { entries: [note, { kind: "note" }] }],
    ["a last entry whose instant is text", { entries: [note, { at: "1", kind: "note" }] }],
  ];
  it.each(damaged)("was changed if it has %s, in both formats", (_name, damage) => {
    expect(findingsOf({ ...format1, ...damage })).toEqual(["changed"]);
    expect(findingsOf({ ...format2, ...damage })).toEqual(["changed"]);
  });

  const mixed: readonly (readonly [string, object])[] = [
    ["format 2 with the time of format 1", { ...format2, wallMs: undefined, wallTime: format1.wallTime }],
    ["format 1 with the time of format 2", { ...format1, wallTime: undefined, wallMs: 1 }],
    ["format 1 without its kind", { ...format1, kind: undefined }],
    ["format 1 with another kind", { ...format1, kind: "sent" }],
    ["format 1 with the kind in the event alone", { ...format1, entries: [{ at: 1, events: [{ kind: "note" }] }] }],
    ["format 2 with a kind", { ...format2, kind: "note" }],
  ];
  it.each(mixed)("was changed if it is %s", (_name, body) => expect(findingsOf(body)).toEqual(["changed"]));
});
