import { expect, test } from "vitest";
import { parseJson } from "../../adapters/daemon/protocol.ts";
import { readReply, readRequest, readWatched } from "./control-contract.ts";

const ended = { ended: ["r1"], owed: [] };

test("a reply is read member by member; what it does not name is dropped", () => {
  expect(readReply("runs-new", { ...ended, more: 1 })).toEqual({ ok: true, value: ended });
  expect(readReply("stores-reset", {})).toEqual({ ok: true, value: {} });
  expect(readWatched({ notice: "n", other: [] })).toEqual({ ok: true, value: { notice: "n" } });
});

test("a reply of another version is a sentence that names the place", () => {
  const other = (at: string): object => ({
    ok: false,
    error: `The daemon and this command are of different versions${at}: run \`sluicegate daemon stop\`, then repeat.`,
  });
  expect(readReply("runs-new", { ended: ["r1"] })).toEqual(other(" (at `owed`)"));
  expect(readReply("runs-new", { ended: ["r1", 2], owed: [] })).toEqual(other(" (at `ended[1]`)"));
  expect(readReply("stores", { owners: [{ owner: "o" }] })).toEqual(other(" (at `owners[0].process`)"));
  expect(readReply("runs-new", { ended: Array.from({ length: 100_001 }, () => ""), owed: [] })).toEqual(
    other(" (at `ended`)"),
  );
  expect(readReply("runs-new", [])).toEqual(other(""));
});

test("a request is known by its kind, and hostile ones are refused", () => {
  expect(readRequest({ kind: "approve", id: "a", choice: "once" })).toMatchObject({ value: { choice: "once" } });
  const hostile = [
    null,
    {},
    { kind: "approve", id: "a", choice: "always" },
    { kind: "runs-close", run: 1 },
    { kind: "constructor" },
    parseJson('{"__proto__": {"kind": "runs"}}') ?? null,
  ];
  for (const request of hostile) expect(readRequest(request)).toMatchObject({ ok: false });
});
