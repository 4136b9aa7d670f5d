// The labels by hand: their form, how many there are, which were drawn to stay unseen, and that both passes agree.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import {
  type HandServer,
  handLabelFolder,
  readHandLabels,
  readSecondLabels,
} from "../../src/lab/bench/labels/hand-labels.ts";
import { countFacts } from "../../src/lab/bench/labels/wrong-facts.ts";

const read = readHandLabels(handLabelFolder);
const servers: ReadonlyMap<string, HandServer> = read.ok ? read.value : new Map();
const later = ["eslint", "repomix", "sequential-thinking", "shrimp"];
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

it("there are 200 tools of 25 servers or more, each with effects, and what only reads is no sink", () => {
  expect(read).toMatchObject({ ok: true });
  const tools = [...servers.values()].flatMap((one) => [...one.tools.values()]);
  expect(servers.size).toBeGreaterThanOrEqual(25);
  expect(tools.length).toBeGreaterThanOrEqual(200);
  for (const { may, must, sink } of tools) {
    expect(may.length).toBeGreaterThan(0);
    expect(must.filter((effect) => !may.includes(effect))).toEqual([]);
    if (sink) expect(may.some((effect) => !effect.startsWith("read"))).toBe(true);
  }
});

it("the third with the smallest hashes is not looked at", () => {
  const drawn = [...servers.keys()].filter((name) => !later.includes(name));
  const order = drawn.toSorted((left, right) =>
    hash(`sluicegate-labels-1:${left}`) < hash(`sluicegate-labels-1:${right}`) ? -1 : 1,
  );
  const unseen = order.slice(0, Math.ceil(order.length / 3)).toSorted();
  expect(
    [...servers.values()]
      .filter((one) => one.unseen)
      .map((one) => one.name)
      .toSorted(),
  ).toEqual(unseen);
});

it("600 sinks or more, tools with `verify`, `confirm` and `submit` among them", () => {
  const sinks = parse(readFileSync(join(handLabelFolder, "sinks.yaml"), "utf8")) as { sinks: { tools: string[] }[] };
  const twoStep = parse(readFileSync(join(handLabelFolder, "two-step.yaml"), "utf8")) as {
    tools: Record<string, object>;
  };
  const named = sinks.sinks.flatMap((one) => one.tools);
  const own = [...servers.values()].flatMap((one) => [...one.tools.values()].filter((tool) => tool.sink));
  expect(named.length + own.length).toBeGreaterThanOrEqual(900);
  for (const word of ["verify_", "confirm_", "submit_"]) {
    expect([...named, ...Object.keys(twoStep.tools)].filter((name) => name.startsWith(word)).length).toBeGreaterThan(7);
  }
});

it("a second pass over a tenth agrees as the page says", () => {
  const second = readSecondLabels(handLabelFolder);
  const again = second.ok ? [...second.value] : [];
  expect(again).toHaveLength(63);
  let [both, one] = [0, 0];
  let [agreed, named] = [0, 0];
  for (const [name, { may, args }] of again) {
    const dot = name.indexOf(".");
    const first = servers.get(name.slice(0, dot))?.tools.get(name.slice(dot + 1));
    both += may.filter((effect) => first?.may.includes(effect) === true).length;
    one += may.length + (first?.may.length ?? 0);
    for (const [argument, roles] of args) {
      const before = first?.args.get(argument);
      if (before === undefined) continue;
      named += 1;
      if (before.some((role) => roles.includes(role))) agreed += 1;
    }
  }
  expect(((2 * both) / one).toFixed(2)).toBe("0.96");
  expect([agreed, named]).toEqual([117, 117]);
});

it("no file of the folder is left out", () => {
  const yaml = readdirSync(handLabelFolder).filter((name) => name.endsWith(".yaml"));
  expect(yaml.length).toBe(servers.size + 3);
});

it("an accepted reading is held against them: what it leaves out, adds, and calls content", () => {
  const reading = (tool: string, label: object) => ({
    server: "slack",
    tool,
    label: JSON.parse(JSON.stringify(label)),
  });
  const post = reading("slack_post_message", {
    effects: { must: [], may: ["read.external", "write.external.send"] },
    args: { channel_id: "content", text: "content" },
  });
  expect(countFacts([post], servers)).toEqual({
    facts: 4,
    wrong: ["slack.slack_post_message: read.external", "slack.slack_post_message: channel_id is content"],
    permitting: 1,
    unjudged: 0,
  });
  const silent = reading("slack_post_message", {
    effects: ["read.external"],
    args: { channel_id: { role: "recipient" } },
  });
  expect(countFacts([silent], servers)).toMatchObject({
    permitting: 1,
    wrong: ["slack.slack_post_message: read.external", "slack.slack_post_message: not write.external.send"],
  });
  expect(countFacts([reading("slack_post_message", {}), reading("no_such", {})], servers)).toEqual({
    facts: 0,
    wrong: [],
    permitting: 0,
    unjudged: 1,
  });
});
