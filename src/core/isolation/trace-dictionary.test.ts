import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { traceFrom, traceJson, tracesFrom, tracesJson } from "./effect-record.ts";
import type { EffectTrace, ProjectionPlaces } from "./effect-trace.ts";
import type { Json } from "../json.ts";
import { placesReferredMax, PlacesRead, placesToldMax, ToldPlaces } from "./trace-dictionary.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const placesOf = (name: string): ProjectionPlaces => ({
  home: `/home/${name}`,
  workspace: [`/project/${name}`],
  code: ["/usr", `/opt/${name}`],
  scratch: ["/tmp"],
});
const event = {
  sequence: 1,
  at: 2,
  action: "file-read",
  outcome: "success",
  grade: "hint",
  phase: "call",
  count: 1,
  path: "/project/a",
} as const;
const traceIn = (places: ProjectionPlaces, eventful: boolean): EffectTrace => ({
  tier: "A",
  complete: true,
  dropped: 0,
  places,
  events: eventful ? [event] : [],
  changes: [],
});
/** As a log keeps it. */
const stored = (record: Json): Json => JSON.parse(JSON.stringify(record)) as Json;

describe("told places", () => {
  it("law: what is brief in a run's records is whole for who reads them in their order", () => {
    const servers = Array.from({ length: placesToldMax + 8 }, (_, index) => placesOf(`s${index}`));
    const one = fc.tuple(fc.nat({ max: servers.length - 1 }), fc.boolean());
    const record = fc.oneof(
      { weight: 9, arbitrary: fc.array(one, { minLength: 1, maxLength: 3 }) },
      fc.constant("lost"),
    );
    // More servers than are kept in mind, so that the numbering begins anew.
    const each = fc.constantFrom(
      [],
      servers.map((_, index): [number, boolean][] => [[index, true]]),
    );
    const wholeOf = (given: readonly (readonly [number, boolean])[]): Json =>
      tracesJson(given.map(([index, eventful]) => traceIn(servers[index] ?? placesOf("none"), eventful)));
    const lost = wholeOf([[0, true]]);
    fc.assert(
      fc.property(each, fc.array(record, { maxLength: 300 }), (first, records) => {
        const [told, read] = [new ToldPlaces(), new PlacesRead()];
        for (const given of [...first, ...records]) {
          if (typeof given === "string") {
            // The places that this record told never came to the log.
            told.brief(lost);
            told.forget();
          }
          const whole = typeof given === "string" ? lost : wholeOf(given);
          expect(read.whole(stored(told.brief(whole)))).toEqual(whole);
        }
      }),
      { numRuns: runs },
    );
  });

  it("tells the same places once in a while, and refers to them in between", () => {
    const told = new ToldPlaces();
    const whole = traceJson(traceIn(placesOf("a"), true));
    const all = Array.from({ length: 2 * (placesReferredMax + 1) }, () => told.brief(whole));
    expect(all.filter((one) => JSON.stringify(one).includes("/opt/a"))).toHaveLength(2);
    expect(JSON.stringify(all[1]).length).toBeLessThan(JSON.stringify(whole).length - 60);
  });

  it("a record that refers to what was never read is no trace, and other values stay what they are", () => {
    const told = new ToldPlaces();
    const whole = traceJson(traceIn(placesOf("a"), true));
    told.brief(whole);
    const later = stored(told.brief(whole));
    expect(traceFrom(new PlacesRead().whole(later))).toBeUndefined();
    expect(tracesFrom(new PlacesRead().whole([later, 7]))).toBeUndefined();
    for (const odd of [null, 3, "text", [1], { "sluicegate.places": 9 }, { "sluicegate.places_number": 1 }]) {
      expect(told.brief(odd)).toEqual(odd);
      const read = new PlacesRead().whole(odd);
      expect(traceFrom(read)).toBeUndefined();
    }
  });

  it("a record with more numbers than a run has costs no memory", () => {
    const read = new PlacesRead();
    for (let number = 1; number <= 2 * placesToldMax; number += 1)
      read.whole({ "sluicegate.places": { home: "/" }, "sluicegate.places_number": number });
    const beyond = { "sluicegate.places": 2 * placesToldMax };
    expect(read.whole(beyond)).toEqual(beyond);
    expect(read.whole({ "sluicegate.places": 1 })).toEqual({ "sluicegate.places": { home: "/" } });
  });
});
