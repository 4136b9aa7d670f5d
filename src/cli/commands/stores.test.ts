import { describe, expect, it } from "vitest";
import { cardText, choose, storesText } from "./stores.ts";

const declared = [{ policy: "p.yaml", label: "public", audience: ["me"], open: [] }];
const repo = { store: "repo", label: "private", audience: ["me", "anyone"], open: ["anyone"], mark: "m", declared };
const wiki = { store: "wiki", label: "public", audience: [], open: [], mark: "n", declared: [] };
const mine = { owner: "os:1", process: 7, mark: "a", lost: false, unreadable: [], stores: [repo, wiki] };
const theirs = { ...mine, owner: "ann", stores: [repo] };
const lost = { ...mine, lost: true, stores: [] };

describe("stores in words", () => {
  it("says what each holds, who reads it, and what the policy declares", () => {
    expect(storesText({ owners: [mine] })).toBe(
      [
        "os:1",
        "  store  holds    audience       read unasked by  declared",
        "  repo   private  me and anyone  anyone           public, audience: me",
        "  wiki   public   nobody         nobody           by no policy that is loaded now",
        "`sluicegate stores reset NAME` lets a store start as declared again.",
      ].join("\n"),
    );
    expect(storesText({ owners: [{ ...mine, stores: [] }] })).toBe("Every store is as its policy declares.");
    expect(storesText({ owners: [lost] })).toContain("`sluicegate stores reset --all`");
    expect(storesText({ owners: [{ ...mine, unreadable: ["new.yaml"] }] })).toContain("new.yaml has other labels");
  });
});

describe("what a reset means", () => {
  it("is one store of one owner, or all of one", () => {
    expect(choose({ owners: [mine] }, "repo", undefined)).toEqual({ kind: "one", owner: mine });
    expect(choose({ owners: [mine, theirs] }, "wiki", undefined)).toEqual({ kind: "one", owner: mine });
    expect(choose({ owners: [mine, theirs] }, "repo", "ann")).toEqual({ kind: "one", owner: theirs });
    expect(choose({ owners: [lost] }, undefined, undefined)).toEqual({ kind: "one", owner: lost });
    const sentences = [
      choose({ owners: [mine, theirs] }, "repo", undefined),
      choose({ owners: [lost] }, "repo", undefined),
      choose({ owners: [mine] }, "none", undefined),
      choose({ owners: [] }, undefined, undefined),
    ].map((one) => (one.kind === "none" ? one.sentence : ""));
    expect(sentences[0]).toContain("`--owner` with one of os:1, ann");
    expect(sentences[1]).toContain("`sluicegate stores reset --all`");
    expect(sentences[2]).toContain("a store `none`");
    expect(sentences[3]).toContain("any store");
  });

  it("is said before anybody agrees to it", () => {
    expect(cardText(mine, "repo")).toBe(
      [
        "Sluicegate would forget this of stores of os:1:",
        "  repo: private; audience: me and anyone; read unasked by: anyone; declared: public, audience: me",
        "You confirm that the store holds only what the policy declares, and that no other reader remains.",
      ].join("\n"),
    );
    expect(cardText(lost, undefined)).toContain("every store: may hold and show everything");
    expect(cardText(mine, undefined)).toContain("each of them holds");
  });
});
