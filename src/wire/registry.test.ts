import { describe, expect, test } from "vitest";
import { findMethod, registryOf } from "./registry.ts";
import { eraOf, isRevision, legacyRevisions, modernRevisions, revisions } from "./revision.ts";

const count = (revision: (typeof revisions)[number], kind: string, direction: string): number =>
  registryOf(revision).filter((entry) => entry.kind === kind && entry.direction === direction).length;

describe("method registry", () => {
  // Counted from the unions ClientRequest, ServerRequest, ClientNotification and ServerNotification of each schema;
  // 2026-07-28 adds three embedded requests and the four methods of the tasks extension.
  test.each([
    ["2024-11-05", 13, 3, 4, 7],
    ["2025-03-26", 13, 3, 4, 7],
    ["2025-06-18", 13, 4, 4, 7],
    ["2025-11-25", 17, 8, 5, 9],
    ["2026-07-28", 13, 3, 1, 9],
  ] as const)("%s has the methods of its schema", (revision, asked, asking, told, telling) => {
    expect(count(revision, "request", "to-server")).toBe(asked);
    expect(count(revision, "request", "to-client")).toBe(asking);
    expect(count(revision, "notification", "to-server")).toBe(told);
    expect(count(revision, "notification", "to-client")).toBe(telling);
  });

  test("a method is refused by absence", () => {
    const query = { method: "elicitation/create", kind: "request", direction: "to-client" } as const;
    expect(revisions.filter((revision) => findMethod(revision, query))).toEqual(["2025-06-18", "2025-11-25"]);
    expect(findMethod("2026-07-28", { ...query, form: "embedded" })?.form).toBe("embedded");
    expect(findMethod("2026-07-28", { method: "initialize", kind: "request", direction: "to-server" })).toBeUndefined();
    expect(findMethod("2025-11-25", { method: "tools/call", kind: "request", direction: "to-client" })).toBeUndefined();
    expect(findMethod("2025-11-25", { method: "toString", kind: "request", direction: "to-server" })).toBeUndefined();
  });

  test("no entry appears twice", () => {
    for (const revision of revisions) {
      const keys = registryOf(revision).map((entry) => `${entry.direction} ${entry.kind} ${entry.method}`);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });
});

test("eras and revisions", () => {
  expect(legacyRevisions.map(eraOf)).toEqual(legacyRevisions.map(() => "legacy"));
  expect(modernRevisions.map(eraOf)).toEqual(["modern"]);
  expect(isRevision("2025-11-25")).toBe(true);
  expect(isRevision("2024-10-07")).toBe(false);
  expect(isRevision(undefined)).toBe(false);
});
