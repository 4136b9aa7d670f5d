/** Packs are offered by the shape of tools: to the real lists of the servers that they were written for, and not by names alone. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { readManifest } from "../policy/manifest.ts";
import { packNames, packageFolder } from "../policy/policy-source.ts";
import { packsFitting } from "./pack-offers.ts";

const manifestOf = (pack: string): string => join(packageFolder, "packs/manifests", `${pack}.json`);

function listed(pack: string): readonly JsonObject[] {
  const read = readManifest(`it=${manifestOf(pack)}`);
  if (!read.ok) throw new Error(read.error);
  return read.value["it"] ?? [];
}

const withLists = packNames().filter((pack) => existsSync(manifestOf(pack)));

it.each(withLists)("offers the pack %s to the server whose tools it labels", (pack) => {
  expect(packsFitting(listed(pack))).toContain(pack);
});

it("offers no pack to a server whose tools take arguments that the pack says nothing of", () => {
  const more = listed("slack").map((tool) => ({
    ...tool,
    inputSchema: { type: "object", properties: { upload_to: { type: "string" } } },
  }));
  expect(packsFitting(more)).not.toContain("slack");
});

it("offers no pack by names alone", () => {
  const bare = listed("notion").map((tool) => ({ ...tool, inputSchema: { type: "object" } }));
  expect(packsFitting(bare)).not.toContain("notion");
});
