import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadPolicy } from "../../policy/load.ts";
import { sha256, shippedLoader } from "./policy-source.ts";
import { labelledManifest } from "./labelled-manifest.ts";
import { reviewLabels, reviewedPolicy } from "./review-labels.ts";

const tools = [
  { name: "list_notes", description: "Lists notes.", inputSchema: { properties: {} } },
  { name: "frobnicate", description: "Does it.", inputSchema: { properties: { blorp: { type: "string" } } } },
];

async function answered(...answers: readonly string[]) {
  const left = [...answers];
  const asked: string[] = [];
  const reviewed = await reviewLabels("app", tools, (question) => {
    asked.push(question);
    return Promise.resolve(left.shift() ?? "");
  });
  return { reviewed, asked };
}

test("tools in doubt come first, and the answers are a policy", async () => {
  const { reviewed, asked } = await answered("W", "i", "y");
  expect(asked.map((question) => /frobnicate|blorp|list_notes/.exec(question)?.[0])).toEqual([
    "frobnicate",
    "blorp",
    "list_notes",
  ]);
  expect(Object.keys(reviewed.labels)).toEqual(["app.frobnicate", "app.list_notes"]);
  const document = parse(reviewedPolicy(reviewed)) as { labels: { [name: string]: object } };
  expect(document.labels["app.frobnicate"]).toMatchObject({
    effects: ["write.external"],
    args: { blorp: "identifier" },
  });
  expect(
    loadPolicy({ file: "p.yaml", text: reviewedPolicy(reviewed) }, { loader: shippedLoader, hash: sha256 }).policy,
  ).toBeDefined();
});

test("no answer is agreement: the end of input leaves every tool unknown, and Q stops", async () => {
  const { reviewed } = await answered();
  expect(reviewed).toEqual({ labels: {}, skipped: ["frobnicate", "list_notes"], problems: [], stopped: false });
  expect((await answered("W", "Q")).reviewed).toEqual({ labels: {}, skipped: [], problems: [], stopped: true });
  expect((await answered("Q")).reviewed.stopped).toBe(true);
});

test("attack: tools that no entry can stand for are errors with a place, and the answers about others stay", async () => {
  const names = ["get_*", "*", "get notes", "", "twin", "twin", "x".repeat(140), "list_notes", "a\u202Eb"];
  const listed = names.map((name) => ({ name, description: "Lists notes.", inputSchema: {} }));
  const reviewed = await reviewLabels("app", [...listed, { description: "nameless" }], () => Promise.resolve("r"));
  expect(reviewed.problems.map(({ place }) => place).toSorted()).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 8, 9].map((index) => `/tools/${index}/name`),
  );
  expect(reviewed.problems.find(({ place }) => place === "/tools/4/name")?.reason).toContain("/tools/5/name");
  expect(Object.keys(reviewed.labels)).toEqual(["app.list_notes"]);
  const { policy } = loadPolicy(
    { file: "p.yaml", text: reviewedPolicy(reviewed) },
    { loader: shippedLoader, hash: sha256 },
  );
  expect(policy).toBeDefined();
});

test("labels to ship: declared ones stay, what is in doubt is left out and named", () => {
  const declared = { name: "x", _meta: { a: 1, "io.github.sluicegate/labels": { effects: ["write.local"] } } };
  const { manifest, doubts } = labelledManifest({ app: [...tools, declared] });
  expect(manifest).toMatchObject({
    tools: [
      { name: "list_notes", _meta: { "io.github.sluicegate/labels": { version: 1, output: { trust: "untrusted" } } } },
      { name: "frobnicate", _meta: { "io.github.sluicegate/labels": { version: 1 } } },
      declared,
    ],
  });
  expect(doubts.map(({ tool, about }) => `${tool} ${about}`)).toContain("frobnicate effects");
  expect(labelledManifest({ a: [], b: [] }).manifest).toEqual({ servers: { a: { tools: [] }, b: { tools: [] } } });
});
