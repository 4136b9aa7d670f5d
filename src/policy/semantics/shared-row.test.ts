import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { nothingShared, storesInWords, withoutStore } from "./shared-state.ts";

const lattice = { levels: ["public", "private"], categories: ["medical"], groups: ["me", "anyone"] };
const clean = { lo: 0, hi: 0, audience: 1, open: 0, added: { lo: 0, hi: 0 } };
const tainted = { lo: 0, hi: 3, audience: 3, open: 2, added: { lo: 0, hi: 3 } };
const row: JsonObject = { lattice, stores: { wiki: clean, repo: tainted } };

describe("a stored row without its policy", () => {
  it("says by its own lattice what each store may hold, and who reads it", () => {
    expect(storesInWords(row)).toEqual([
      { store: "repo", label: "at most private, medical", audience: ["me", "anyone"], open: ["anyone"] },
      { store: "wiki", label: "public", audience: ["me"], open: [] },
    ]);
    expect(storesInWords(nothingShared)).toEqual([]);
  });

  it("loses one store and nothing else", () => {
    expect(withoutStore(row, "repo")).toEqual({ lattice, stores: { wiki: clean } });
    expect(withoutStore(row, "toString")).toBeUndefined();
    expect(withoutStore({ stores: [] }, "repo")).toBeUndefined();
  });

  it("is damaged where a part of it is no such thing", () => {
    expect(storesInWords({})).toBeUndefined();
    expect(storesInWords({ ...row, lattice: { ...lattice, groups: "me" } })).toBeUndefined();
    expect(storesInWords({ ...row, lattice: { ...lattice, groups: [1] } })).toBeUndefined();
    expect(storesInWords({ ...row, lattice: { ...lattice, levels: [] } })).toBeUndefined();
    expect(storesInWords({ ...row, stores: { repo: { ...clean, hi: 4096 } } })).toBeUndefined();
    expect(storesInWords({ ...row, stores: { repo: 1 } })).toBeUndefined();
  });
});
