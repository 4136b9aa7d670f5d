import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../core/json.ts";
import { readTool, readTools, readingThreshold } from "./reading.ts";

type TwoStep = { description: string; args?: { [name: string]: string }; readOnlyHint?: boolean };

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: "object", properties: {} },
  ...more,
});
const args = (...names: string[]): JsonObject => ({
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names,
  },
});
const alone = (listed: JsonObject) => readTool(listed, { server: "app", tools: [listed] });

describe("a reading", () => {
  it("states what is above the threshold, and doubts the rest", () => {
    const list = tool("list_issues", {
      description: "List issues of a repository.",
      ...args("repository_id", "blorp"),
    });
    const reading = alone(list);
    expect(reading.group).toBe("reads");
    expect(reading.label.args).toEqual({ repository_id: "identifier" });
    expect(reading.label.output).toEqual({ trust: "untrusted" });
    expect(reading.doubts.map(({ about }) => about)).toEqual(["args/blorp/role"]);
    for (const { probability } of reading.doubts) expect(probability).toBeLessThan(readingThreshold);
  });

  it("keeps the order of the list, and puts tools without a name that says anything among the unknown", () => {
    const tools = [tool("frobnicate"), tool("send_email", { description: "Sends an email.", ...args("to", "body") })];
    expect(readTools({ server: "app", tools }).map(({ group }) => group)).toEqual([
      "runs code or unknown",
      "acts outside",
    ]);
  });

  it("reads no tool as reading that shows a sign of acting", () => {
    const reads = { description: "Gets, lists and reads things. Read-only.", annotations: { readOnlyHint: true } };
    const acting = [
      tool("get_and_send_report", { ...reads, ...args("to", "body") }),
      tool("verify_purchase", reads),
      tool("confirm_booking", reads),
      tool("submit_form", reads),
      tool("apply_plan", reads),
      tool("execute_prepared", reads),
      tool("list_events", { ...reads, ...args("webhook_url") }),
      tool("get_status", { ...reads, ...args("callback") }),
      tool("check_order", { ...reads, ...args("dry_run") }),
      tool("get_page", { ...reads, ...args("notify") }),
    ];
    const groups = acting.map((one) => [one["name"], alone(one).group]);
    expect(groups.filter(([, group]) => group === "reads")).toEqual([]);
  });

  it("reads none of the sinks that were made to look like reads", () => {
    const file = new URL("../../../scenarios/labels/two-step.yaml", import.meta.url);
    const document = parse(readFileSync(file, "utf8")) as { tools: { [name: string]: TwoStep } };
    const found = Object.entries(document.tools).map(([name, { description, args: given = {}, readOnlyHint }]) => {
      const properties = Object.fromEntries(Object.entries(given).map(([argument, type]) => [argument, { type }]));
      const hint = readOnlyHint === true ? { annotations: { readOnlyHint } } : {};
      return alone(
        tool(name, { description, inputSchema: { type: "object", properties, required: Object.keys(given) }, ...hint }),
      );
    });
    expect(found.length).toBeGreaterThanOrEqual(60);
    expect(found.filter(({ group }) => group === "reads").map((reading) => reading.tool)).toEqual([]);
  });

  it("a read of an address that the agent chooses acts outside", () => {
    const get = tool("get_page", {
      description: "Gets a web page.",
      annotations: { readOnlyHint: true },
      ...args("url"),
    });
    expect(alone(get).group).not.toBe("reads");
  });

  it("survives names and schemas that are no names and schemas", () => {
    for (const odd of [{}, { name: 7 }, tool("__proto__", { inputSchema: { properties: { __proto__: 1 } } })])
      expect(alone(odd as JsonObject).group).toBe("runs code or unknown");
  });
});
