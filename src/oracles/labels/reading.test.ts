import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../core/json.ts";
import { certainLabel, readTool, readTools, readingThreshold } from "./reading.ts";
import { listWorkMax } from "./siblings.ts";
import { signsOf } from "./signs.ts";

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
  it("states what is above the threshold, and takes the rest for the worst", () => {
    const list = tool("list_issues", {
      description: "List issues of a repository.",
      ...args("repository_id", "blorp"),
    });
    const reading = alone(list);
    expect(reading.group).toBe("reads");
    expect(reading.label.args).toEqual({ repository_id: "identifier", blorp: "unsure" });
    expect(certainLabel(reading).args).toEqual({ repository_id: "identifier" });
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

describe("a list as long as its server likes", () => {
  /** Tools that count how often their names are looked at. */
  function counted(length: number): { readonly tools: readonly JsonObject[]; readonly looks: () => number } {
    let looks = 0;
    const tools = Array.from({ length }, (_, index) => ({
      get name() {
        looks += 1;
        return `app_get_${index}`;
      },
      ...args("id"),
    }));
    return { tools, looks: () => looks };
  }

  it("is read with work that grows as the list does", () => {
    const [short, long] = [counted(50), counted(200)];
    readTools({ server: "app", tools: short.tools });
    readTools({ server: "app", tools: long.tools });
    expect(long.looks()).toBeLessThan(5 * short.looks());
  });

  it("is read to a bound, and all behind it is in doubt", () => {
    const argument = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, {}]));
    const wide = { inputSchema: { type: "object", properties: argument } };
    const padding = Array.from({ length: Math.ceil(listWorkMax / 5_000) }, () => tool("pad", wide));
    const readings = readTools({ server: "app", tools: [tool("list_issues"), ...padding, tool("get_last")] });
    expect(readings.at(0)?.facts[0]?.probability).toBeGreaterThan(0);
    expect(readings.at(-1)).toMatchObject({ tool: "get_last", label: {}, group: "runs code or unknown" });
    expect(readings.at(-1)?.doubts.map(({ why }) => why)).toEqual(["the list is too long to be read to its end"]);
    expect(readings).toHaveLength(padding.length + 2);
  });

  it("is read anew under another name of its server", () => {
    const [one] = [tool("create_issue", args("title"))];
    const tools = [one, tool("list_things"), tool("frob")];
    const ids = (server: string): readonly string[] => signsOf(one, { server, tools }).map(({ id }) => id);
    expect(ids("app")).not.toContain("server:service");
    expect(ids("github")).toContain("server:service");
    expect(ids("app")).not.toContain("server:service");
  });
});

describe("the effects and roles that are read", () => {
  const effectsOf = (listed: JsonObject, context: { server: string; tools?: JsonObject[] }): unknown => {
    const { facts } = readTool(listed, { tools: [listed], ...context });
    return facts.find(({ about }) => about === "effects")?.value;
  };

  it("names all that code may do, here and elsewhere", () => {
    const run = tool("run_command", { description: "Runs a shell command.", ...args("command") });
    expect(effectsOf(run, { server: "terminal" })).toEqual([
      "execute.external",
      "execute.local",
      "read.external",
      "read.local",
      "write.external",
      "write.local",
    ]);
  });

  it("names what a change does besides: reading, files that go along, pages that are fetched, hooks and workloads", () => {
    const of = (name: string, server: string, more: JsonObject): unknown => effectsOf(tool(name, more), { server });
    expect(of("send_email", "gmail", args("to", "body", "attachments"))).toEqual(
      expect.arrayContaining(["read.external", "read.local", "write.external", "write.external.send"]),
    );
    expect(of("create_card", "trello", args("name", "cover_url"))).toContain("read.external");
    expect(of("git_commit", "git", args("message"))).toEqual(expect.arrayContaining(["execute.local", "read.local"]));
    expect(of("kubectl_create", "kubernetes", args("manifest"))).toContain("execute.external");
    const upload = { description: "Uploads a local file.", ...args("file_path", "card_id") };
    expect(of("upload_file", "trello", upload)).toContain("read.local");
  });

  it("knows a transfer between repositories, and what is done to one here", () => {
    const git = (name: string): unknown => effectsOf(tool(`git_${name}`, args("path")), { server: "git" });
    expect(git("push")).toEqual(expect.arrayContaining(["write.external.publish"]));
    expect(git("clone")).toEqual(expect.arrayContaining(["read.external", "write.local"]));
    expect(git("status")).toEqual(expect.arrayContaining(["read.local"]));
    expect(git("checkout")).not.toEqual(expect.arrayContaining(["write.local.pay"]));
  });

  it("takes `post` for a method where the other methods stand beside it", () => {
    const names = ["API-get-page", "API-post-page", "API-patch-page", "API-post-search"];
    const tools = names.map((name) => tool(name, { description: "", ...args("query") }));
    const effects = tools.map((one) => effectsOf(one, { server: "notion", tools }));
    expect(effects[1]).not.toEqual(expect.arrayContaining(["write.external.send"]));
    expect(effects[3]).toEqual(["read.external"]);
    expect(effectsOf(tool("post_message", args("channel", "text")), { server: "slack" })).toContain(
      "write.external.send",
    );
  });

  it("publishes where it says something to readers, and not where it merges or drafts", () => {
    const on = (name: string): unknown => effectsOf(tool(name, args("id", "body")), { server: "github" });
    for (const name of ["create_issue", "add_issue_comment", "push_files"])
      expect(on(name)).toContain("write.external.publish");
    for (const name of ["merge_pull_request", "assign_issue", "create_draft_note"])
      expect(on(name)).not.toContain("write.external.publish");
  });

  it("takes a path in a store elsewhere for the name of an object there, and one of this machine for a path", () => {
    const roleOf = (listed: JsonObject, server: string): unknown =>
      readTool(listed, { server, tools: [listed] }).facts.find(({ about }) => about === "args/path/role")?.value;
    const get = tool("get_file", { description: "Gets a file.", ...args("path") });
    expect([roleOf(get, "github"), roleOf(get, "filesystem")]).toEqual(["identifier", "path"]);
  });

  it("takes where a way ends for no address", () => {
    const way = tool("directions", { description: "Finds a way.", ...args("origin", "destination", "mode") });
    const { facts } = readTool(way, { server: "maps", tools: [way] });
    expect(facts.find(({ about }) => about === "args/destination/role")?.value).toBe("query");
    expect(effectsOf(tool("git_reset", args("mode")), { server: "git" })).toContain("write.local");
  });
});
