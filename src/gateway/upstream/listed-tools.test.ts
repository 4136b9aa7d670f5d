import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import type { JsonObject } from "../../core/json.ts";
import { Catalogue } from "./listed-tools.ts";
import { contractsMax, listedContractsMax } from "../ports/limits.ts";
import type { LoadedPolicy } from "../ports/policy.ts";

const named = (count: number): JsonObject => ({
  tools: Array.from({ length: count }, (_, index) => ({ name: `tool_${index}`, inputSchema: { type: "object" } })),
});

/** A policy that counts how often it is asked what it believes of a tool. */
function counting(digest: string): { readonly policy: LoadedPolicy; readonly asked: () => number } {
  const policy = fakePolicy() as LoadedPolicy;
  let count = 0;
  const contractOfTool: LoadedPolicy["contractOfTool"] = (server, listed) => {
    count += 1;
    return policy.contractOfTool(server, listed);
  };
  return { policy: { ...policy, digest, contractOfTool }, asked: () => count };
}

async function listed(count: number): Promise<Catalogue> {
  const catalogue = new Catalogue("echo", (text) => `#${text.length}`);
  await catalogue.accept("tools/list", named(count), async () => undefined);
  return catalogue;
}

describe("what is believed of listed tools", () => {
  it("regression: is worked out once for a long list that comes again", async () => {
    const catalogue = await listed(2 * contractsMax);
    const { policy, asked } = counting("one");
    const first = catalogue.listed(policy);
    const state = await catalogue.accept("tools/list", named(2 * contractsMax), async () => undefined);
    expect(catalogue.listed(policy)).toEqual(first);
    expect(asked()).toBe(2 * contractsMax);
    // Whatever was derived from the entries of before still holds.
    expect(catalogue.known("tools/list")?.entries).toBe(state?.entries);
  });

  it("is kept for so many tools, over all policies, and found for all", async () => {
    const catalogue = await listed(listedContractsMax - 1);
    const policies = ["one", "two"].map(counting);
    for (const { policy } of [...policies, ...policies]) catalogue.listed(policy);
    const [one, two] = policies.map(({ asked }) => asked());
    expect(one).toBe(listedContractsMax - 1);
    expect(two).toBe(2 * (listedContractsMax - 1) - 1);
  });

  it("is worked out anew when the list changes, and when many policies came and went", async () => {
    const catalogue = await listed(2);
    const { policy, asked } = counting("one");
    catalogue.listed(policy);
    for (let index = 0; index < 8; index += 1) catalogue.listed(counting(`other ${index}`).policy);
    catalogue.listed(policy);
    expect(asked()).toBe(4);
    await catalogue.accept("tools/list", named(3), async () => undefined);
    catalogue.listed(policy);
    expect(asked()).toBe(7);
  });

  it("is not that of a list that changed while its pages came", async () => {
    const catalogue = await listed(1);
    const first = { ...named(1), nextCursor: "2" };
    const next = async (): Promise<JsonObject> => {
      catalogue.changed("tools/list");
      return named(1);
    };
    await catalogue.accept("tools/list", first, next);
    expect(catalogue.known("tools/list")).toBeUndefined();
    await catalogue.accept("tools/list", named(2), async () => undefined);
    expect(catalogue.known("tools/list")?.entries).toHaveLength(2);
  });

  it("of names that are not listed is kept for so many", async () => {
    const catalogue = await listed(0);
    const { policy, asked } = counting("one");
    for (let round = 0; round < 2; round += 1)
      for (let index = 0; index <= contractsMax; index += 1) catalogue.contractOfTool(policy, `other_${index}`);
    expect(asked()).toBe(contractsMax + 2);
  });
});
