/**
 * B14: any order of calls, ends, removals that stop anywhere, crashes and new starts gives a log that verifies, and that folds
 * to the same open runs; an ended run is read whole or not at all.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgedLog, dayMs, type StoreKind } from "../kit/gateway/aged-log.ts";
import { lattice } from "../kit/gateway/log-records.ts";

const runs = Math.ceil(Number(process.env["SLUICEGATE_RUNS"] ?? 100) / 4);
const keys = ["a", "os:1/session:b", "os:1/hook:c"] as const;
type Key = (typeof keys)[number];

const key = fc.constantFrom(...keys);
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("begin"), key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("calls"), key, count: fc.integer({ min: 1, max: 4 }) }) },
  // With more records than one step removes, and old enough.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("past"), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("end"), key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("days"), count: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("prune"), pauses: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("trim"), pauses: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart") }) },
);
type Act = {
  readonly kind: string;
  readonly key?: Key;
  readonly count?: number;
  readonly pauses?: number;
};

/** What the log must say of one key: the events of each run under it. */
type Model = { open: string[] | undefined; ended: string[][] };

class World {
  readonly aged: AgedLog;
  readonly #kind: StoreKind;
  readonly #models = new Map<Key, Model>(keys.map((one) => [one, { open: undefined, ended: [] }]));

  constructor(aged: AgedLog, kind: StoreKind) {
    this.aged = aged;
    this.#kind = kind;
  }

  async does({ kind, key: of = keys[0], count = 1, pauses = 1 }: Act): Promise<void> {
    const { aged } = this;
    const model = this.#models.get(of);
    if (model === undefined) return;
    if (kind === "begin" && model.open === undefined) {
      await aged.begin(of);
      model.open = ["begun"];
    } else if (kind === "calls" && model.open !== undefined) {
      await aged.calls(of, count);
      for (let call = 0; call < count; call += 1) model.open.push("dispatched", "succeeded", "released");
    } else if (kind === "end" && model.open !== undefined) {
      await aged.end(of);
      model.ended.push([...model.open, "ended"]);
      model.open = undefined;
    } else if (kind === "past") {
      await this.does({ kind: "begin", key: of });
      await this.does({ kind: "calls", key: of, count: 260 });
      await this.does({ kind: "end", key: of });
      aged.wallMs += 31 * dayMs;
    } else if (kind === "days") aged.wallMs += count * dayMs;
    else if (kind === "prune") await this.#prune(pauses);
    else if (kind === "trim") await this.#prune(pauses, 100_000);
    else if (kind === "restart") await aged.restart();
    else if (kind === "crash" && this.#kind === "SQLite") {
      await aged.log.store.close(false);
      await aged.start();
    }
  }

  async #prune(pauses: number, keepBytes?: number): Promise<void> {
    let left = pauses;
    await this.aged.prune({ keepBytes, pause: () => Promise.resolve((left -= 1) > 0) });
  }

  async #hasNoRow(of: Key): Promise<boolean> {
    const row = await this.aged.store.run(of);
    return row.ok && row.value === undefined;
  }

  async holds(): Promise<void> {
    expect((await this.aged.verified()).findings).toEqual([]);
    for (const [of, { open, ended }] of this.#models) {
      const read = await this.aged.log.replay(of, lattice);
      const said = read.ok ? read.value.events.map(({ kind }) => kind) : read.error;
      if (typeof said === "string") {
        // Only of a run that is not open.
        expect([said, open]).toEqual([expect.stringContaining("left the log"), undefined]);
        continue;
      }
      const all = [...ended, ...(open === undefined ? [] : [open])];
      // The newest runs of the key, each of them whole.
      const tails = all.map((_, index) => all.slice(index).flat());
      expect([[], ...tails]).toContainEqual(said);
      if (open !== undefined) expect(said.slice(-open.length)).toEqual(open);
      // The row of a session may leave with its records, since no key leads to it again.
      else if (all.length > 0 && !(of === keys[1] && (await this.#hasNoRow(of)))) expect(said).not.toEqual([]);
    }
  }
}

for (const kind of ["memory", "SQLite"] as const) {
  describe(`B14: laws of retention, ${kind}`, () => {
    it("the log verifies and folds to the same open runs, whatever happens in whatever order", async () => {
      const property = fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), async (acts) => {
        const world = new World(await AgedLog.of(kind), kind);
        for (const [index, one] of acts.entries()) {
          await world.does(one);
          if (one.kind === "prune" || one.kind === "trim" || index === acts.length - 1) await world.holds();
        }
        await world.aged.prune();
        await world.holds();
        await world.aged.dispose();
      });
      await fc.assert(property, { numRuns: kind === "memory" ? runs : Math.ceil(runs / 3) });
    });
  });
}
