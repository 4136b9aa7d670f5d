import { describe, expect, test } from "vitest";
import { channelRows } from "./channel-rows.ts";
import { channelOf, errorPassage, knownChannel, roleAt } from "./channels.ts";
import { registryOf } from "./registry.ts";
import { revisions } from "./revision.ts";

describe("channel table", () => {
  test("every method of every revision has a row", () => {
    let walked = 0;
    const missing: string[] = [];
    for (const revision of revisions) {
      for (const entry of registryOf(revision)) {
        walked += 1;
        if (knownChannel(entry) === undefined) missing.push(`${revision} ${entry.direction} ${entry.method}`);
      }
    }
    expect(missing).toEqual([]);
    expect(walked).toBeGreaterThan(100);
  });

  test("every row belongs to a method, once", () => {
    const known = new Set(
      revisions.flatMap(registryOf).map((entry) => `${entry.direction} ${entry.kind} ${entry.method}`),
    );
    const rows = channelRows.map((row) => `${row.direction} ${row.kind} ${row.method}`);
    expect(rows.filter((row) => !known.has(row))).toEqual([]);
    expect(new Set(rows).size).toBe(rows.length);
  });

  test("requests have a result, notifications have none, and every passage ends in a catch-all", () => {
    for (const row of channelRows) {
      expect(row.result !== undefined).toBe(row.kind === "request");
      for (const passage of [row.params, row.result]) {
        if (passage !== undefined) expect(passage.places.at(-1)?.at).toBe("/**");
      }
    }
  });

  test("what goes to a server is never called text, what comes from one is never called data", () => {
    for (const row of channelRows) {
      const [outward, inward] = row.direction === "to-server" ? [row.params, row.result] : [row.result, row.params];
      expect(outward?.places.filter((place) => place.is === "text") ?? []).toEqual([]);
      expect(inward?.places.filter((place) => place.is === "data") ?? []).toEqual([]);
      expect(["release", "admit", "expose"]).not.toContain(outward?.moment);
      expect(inward?.moment).not.toBe("call");
    }
  });

  test("places of a tool call", () => {
    const row = channelOf({ method: "tools/call", kind: "request", direction: "to-server" });
    expect(row.params.moment).toBe("call");
    expect(roleAt(row.params, "/name")).toBe("name");
    expect(roleAt(row.params, "/arguments/to/0")).toBe("data");
    expect(roleAt(row.params, "/_meta/traceparent")).toBe("meta");
    expect(roleAt(row.params, "/vendor")).toBe("data");
    expect(row.result?.moment).toBe("release");
    expect(roleAt(row.result ?? row.params, "/content/0/text")).toBe("text");
    expect(roleAt(row.result ?? row.params, "/anything/else")).toBe("text");
  });

  test("unknown methods are worst case in both directions", () => {
    const asked = channelOf({ method: "vendor/x", kind: "request", direction: "to-server" });
    expect([asked.params.moment, asked.result?.moment]).toEqual(["call", "release"]);
    expect(roleAt(asked.params, "/a")).toBe("data");
    const asking = channelOf({ method: "vendor/x", kind: "request", direction: "to-client" });
    expect([asking.params.moment, asking.result?.moment]).toEqual(["release", "call"]);
    const telling = channelOf({ method: "vendor/x", kind: "notification", direction: "to-client" });
    expect([telling.params.treated, telling.result]).toEqual(["unknown", undefined]);
  });

  test("errors are text", () => {
    expect(roleAt(errorPassage, "/message")).toBe("text");
    expect(roleAt(errorPassage, "/data/deep/0")).toBe("text");
    expect(roleAt({ ...errorPassage, places: [] }, "/x")).toBe("text");
  });
});
