/** Inference on real tool lists: the reference servers, and the public manifests where they are at hand. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type JsonObject, stringMember } from "../../src/core/json.ts";
import { everyEffect } from "../../src/core/effect.ts";
import { inferTool } from "../../src/policy/contracts/infer.ts";
import { listTools } from "../kit/policy/list-tools.ts";

const data = process.env["SLUICEGATE_DATA"];

async function inferred(name: string, args: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const tools = await listTools(name, args);
  return new Map(
    tools.map((tool) => {
      const found = inferTool(tool);
      const roles = [...found.arguments].map(([argument, { role }]) => `${argument}:${role}`);
      return [stringMember(tool, "name") ?? "", [found.may.join("+"), ...roles].join(" ")];
    }),
  );
}

describe("reference servers", () => {
  test("filesystem", async () => {
    const found = await inferred("filesystem", ["/tmp"]);
    expect(found.get("read_text_file")).toBe("read.local path:path tail:query head:query");
    expect(found.get("write_file")).toBe("write.local+write.local.delete path:path content:content");
    expect(found.get("move_file")).toBe("write.local+write.local.delete source:path destination:path");
    expect(found.get("search_files")).toBe("read.local path:path pattern:query excludePatterns:query");
    expect([...found.values()].some((each) => each.includes("external"))).toBe(false);
  });

  test("memory", async () => {
    const found = await inferred("memory", []);
    expect(found.get("create_entities")).toBe("write.local entities:content");
    expect(found.get("delete_entities")).toBe("write.local.delete entityNames:identifier");
    expect(found.get("search_nodes")).toBe("read.local query:query");
  });

  test("everything", async () => {
    const found = await inferred("everything", []);
    expect(found.get("gzip-file-as-resource")).toMatch(/external.*data:destination/);
    expect(found.get("get-sum")).toMatch(/^read\.local/);
  });
});

describe.skipIf(data === undefined)("public manifests (SLUICEGATE_DATA)", () => {
  const file = `${data}/manifests/benign-npm.jsonl`;

  test.skipIf(!existsSync(file))("most tools of real servers get a guess narrower than everything", () => {
    const servers: { tools?: JsonObject[] }[] = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
    const tools = servers.flatMap((server) => server.tools ?? []);
    const open = tools.filter((tool) => inferTool(tool).may.length === everyEffect.length);
    expect(tools.length).toBeGreaterThan(50);
    expect(open.length / tools.length).toBeLessThan(0.1);
    // A tool that takes an address it will visit must never look local.
    for (const tool of tools) {
      const found = inferTool(tool);
      const visits = [...found.arguments.values()].some((each) => each.known && each.role === "destination");
      if (visits)
        expect(
          found.may.some((effect) => effect.includes("external")),
          stringMember(tool, "name") ?? "",
        ).toBe(true);
    }
  });
});
