import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadPolicyFor } from "../policy/named-policy.ts";
import { readManifest } from "../policy/manifest.ts";
import { Believed } from "./believed.ts";

it("believes of a recorded tool, under another policy, what a pack tied to its digest says", () => {
  const manifest = readManifest(fileURLToPath(new URL("../../../packs/manifests/filesystem.json", import.meta.url)));
  const policy = loadPolicyFor(undefined);
  if (!manifest.ok || !policy.ok) throw new Error("both are shipped");
  const tools = Object.values(manifest.value).flat();
  const believed = new Believed(policy.value);
  expect(tools.length).toBeGreaterThan(5);
  for (const listed of tools) {
    const recorded = policy.value.contractOfTool("files", listed);
    const { tool } = recorded;
    const made = believed.contractOf({ server: "files", tool, method: "tools/call", recorded, policy: "another" });
    expect(made).toMatchObject({ source: "pack", effects: recorded.effects, toolDigest: recorded.toolDigest });
  }
});
