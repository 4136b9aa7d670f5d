import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameMatches } from "../semantics/patterns.ts";
import { type Ranked, labelTies } from "./label-ties.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function entry(tool: string, form: Ranked["form"], rank = 1, server = "mail"): Ranked {
  return { selector: `${server}.${tool}`, server, tool, rank, form };
}

const reads = { effects: { must: ["read.local"], may: ["read.local"] } } as const;
const sends = { effects: { must: ["write.external.send"], may: ["write.external.send"] } } as const;
const content = { role: "content" } as const;
const command = { role: "command" } as const;

describe("entries of `labels` that fit the same tools equally well", () => {
  it("are refused where they differ, with both and the part", () => {
    const [tie] = labelTies([entry("get_*", reads), entry("*_mail", sends)]);
    expect(tie).toMatchObject({ code: "SG-POLICY-TIE", severity: "error", path: ["labels", "mail.*_mail"] });
    expect(tie?.message).toContain("`mail.get_*` and `mail.*_mail`");
    expect(tie?.message).toContain("`effects`");
  });

  it.each<[string, Ranked["form"], Ranked["form"], boolean]>([
    ["the same", reads, { ...reads }, false],
    ["of different parts", reads, { reads: ["box"] }, false],
    ["stores", { reads: ["box"] }, { reads: ["other"] }, true],
    ["other arguments", { args: { to: content } }, { args: { text: content } }, false],
    ["one argument", { args: { to: content } }, { args: { to: command } }, true],
    ["an argument and the rest", { args: { to: content } }, { rest: command }, true],
    ["the rest alike", { args: { to: content } }, { rest: content }, false],
    ["the rest", { rest: content }, { rest: command }, true],
  ])("may say %s", (_name, one, other, refused) => {
    expect(labelTies([entry("a*", one), entry("*b", other)])).toHaveLength(Number(refused));
  });

  it("are no tie where one says more, or no name fits both", () => {
    expect(labelTies([entry("a*", reads, 2), entry("*b", sends)])).toEqual([]);
    expect(labelTies([entry("a*", reads), entry("b*", sends)])).toEqual([]);
    expect(labelTies([entry("a*", reads), entry("*b", sends, 1, "post")])).toEqual([]);
    expect(labelTies([entry("send", reads, 1, "*a"), entry("send", sends, 1, "b*")])).toHaveLength(1);
    expect(labelTies([entry("send", reads, 1, "*a"), entry("read", sends, 1, "b*")])).toEqual([]);
    expect(labelTies([entry("send", reads), entry("read", sends)])).toEqual([]);
  });

  it("law: whatever fits both is found, and nothing else", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 5 });
    const names = ["", "a", "b"].flatMap((x) => ["", "a", "b"].map((y) => x + y));
    const all = names.flatMap((x) => names.flatMap((y) => names.map((z) => x + y + z)));
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        // The shortest name that fits both is no longer than the two together without their stars.
        const fits = all.some((name) => nameMatches(one, name) && nameMatches(other, name));
        const isLong = `${one}${other}`.replaceAll("*", "").length > 6;
        const found = labelTies([entry(one, reads), entry(other, sends)]).length > 0;
        const isWild = one.includes("*") && other.includes("*");
        if (fits && isWild) expect(found).toBe(true);
        if (!fits && !isLong) expect(found).toBe(false);
      }),
      { numRuns: runs * 5 },
    );
  });
});
