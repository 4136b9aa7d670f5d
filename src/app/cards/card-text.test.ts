import { describe, expect, it } from "vitest";
import type { ServerAnswer } from "./card-answers.ts";
import { cardLines } from "./card-text.ts";
import { type CardFacts, makeCard } from "./card.ts";
import { serverFacts } from "./server-facts.ts";

const local = serverFacts({ kind: "stdio", command: "node", args: ["app.js"], env: {}, workingDirectory: "/" });
const remote = serverFacts({ kind: "http", url: "https://app.example/mcp", flavour: "auto", headers: {} });
const order = ["app runs isolated, in tier A- or better, or not at all."];

const lines = (more: Partial<CardFacts>): readonly string[] =>
  cardLines(
    makeCard({
      server: "app",
      facts: local,
      declared: undefined,
      digest: "d".repeat(64),
      listed: true,
      earlier: [],
      tools: [],
      isolation: undefined,
      scope: [],
      network: { wants: [], opened: [], decided: undefined },
      packs: [],
      probe: undefined,
      answer: undefined,
      until: undefined,
      ...more,
    }),
  );

it("names each host that an answer would open, by its end", () => {
  const long = `api.github.com.${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.evil.example`;
  const wants = [...Array.from({ length: 30 }, (_, at) => `h${at}.example`), long];
  const text = lines({ network: { wants, opened: ["o.example"], decided: undefined } });
  for (const end of ["h0.example", "h29.example", ".evil.example", "o.example"])
    expect(
      text.filter((line) => line.endsWith(end)),
      end,
    ).toHaveLength(1);
});

describe("a card says of the isolation of a server", () => {
  const bare = "  It runs without isolation: what it does beside its answers is not seen.";

  it.each<[string, Partial<CardFacts>, string, boolean]>([
    ["that the policy asks for none", {}, "over stdio, no isolation: your policy asks for none", true],
    ["nothing before it runs, where it is asked for", { scope: order }, "its isolation is known once it runs", false],
    [
      "its tier, and what is missing for a better one",
      { scope: order, isolation: { tier: "A-", missing: ["no network filter"] } },
      "isolation tier A- (no network filter)",
      false,
    ],
    [
      "why there is none",
      { scope: order, isolation: { tier: "none", missing: ["no user namespaces"] } },
      "runs without isolation (no user namespaces)",
      true,
    ],
    ["that it runs elsewhere", { facts: remote, scope: order }, "over HTTP, runs elsewhere", false],
  ])("%s", (_, more, words, isBare) => {
    const text = lines(more);
    expect(text.join("\n")).toContain(words);
    expect(text.includes(bare)).toBe(isBare);
  });

  it("that few calls ask of a server that can do nothing outside", () => {
    expect(lines({ enclosed: true }).join("\n")).toContain("it can do nothing outside, and few of its calls ask");
    expect(lines({ enclosed: false }).join("\n")).toContain("nothing of it is accepted, so its calls ask");
  });

  it.each(["refused", "isolated"] as const)("how the answer `%s` is taken back", (answer) => {
    const text = lines({ answer: { answer, at: "", by: "os:1", tools: {} } });
    expect(text.at(-1)).toContain("`sluicegate cards app --forget`");
    expect(lines({}).at(-1)).not.toContain("--forget");
  });

  it("that it was accepted for isolation alone", () => {
    const answer: ServerAnswer = { answer: "isolated", at: "", by: "os:1", tools: {} };
    expect(lines({ answer }).join("\n")).toContain("accepted only where it runs isolated");
    expect(lines({ answer: { ...answer, answer: "accepted" } }).join("\n")).not.toContain("only where");
  });
});
