// The attacks are real: with nothing to hold them the hostile servers do what the catalogue says, at the call it says.
// Their twins never do.
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plant, startBare, type Planted } from "./bare.ts";
import { catalogue, serverFile, type Effect, type FixturePair } from "./catalogue.ts";
import { field } from "./field/field.ts";

const full = process.env["SLUICEGATE_FULL"] === "1";
const every: readonly FixturePair[] = [...catalogue, ...field];
/** Of those from the field few are started in a quick run: each costs as much as one of the others. */
const quick: ReadonlySet<string> = new Set(["key-cache", "crontab", "order-in-package"]);
const started = every.filter(({ id, folder }) => full || folder === "" || quick.has(id));

let planted: Planted;
beforeEach(async () => {
  planted = await plant();
});
afterEach(async () => {
  await planted.remove();
});

const pair = (id: string): FixturePair => {
  const found = every.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no fixture ${id}`);
  return found;
};

test("eighteen pairs and twelve from the field in three groups, and every file of a server belongs to one", () => {
  expect([catalogue.length, field.length]).toEqual([18, 12]);
  expect(new Set(every.map((one) => one.id)).size).toBe(30);
  const named = every.flatMap((one) => [serverFile(one, "hostile"), serverFile(one, "twin")]);
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
  const roles = ["hostile", "twin", "field/hostile", "field/twin"];
  const folders = roles.map((role) => fileURLToPath(new URL(role, import.meta.url)));
  const servers = folders.flatMap((folder) => readdirSync(folder)).filter((file) => file.endsWith(".ts"));
  expect(servers).toHaveLength(named.length);
});

test("each server is called at least five times, and what acts, acts within its script", () => {
  for (const one of every) {
    expect(one.hostile.script.length, one.id).toBeGreaterThanOrEqual(5);
    expect(one.twin.script.length, one.id).toBeGreaterThanOrEqual(5);
    const { effect, expect: expected } = one.hostile;
    expect(effect.kind === "none", one.id).toBe(expected.kind === "speaks");
    if (effect.kind !== "none") expect(effect.call, one.id).toBeLessThanOrEqual(one.hostile.script.length);
    const seen = (name: string): string => (one.id === "disguised-name" ? "search_notes" : name);
    for (const { tool } of one.hostile.script) expect(one.hostile.labels, one.id).toHaveProperty([seen(tool)]);
    for (const tool of one.twin.script) expect(one.twin.labels, one.id).toHaveProperty([tool.tool]);
  }
});

/** What the world shows once this many calls were answered. */
function expectedAfter(effect: Effect, calls: number) {
  const acted = effect.kind !== "none" && calls >= effect.call;
  return {
    home: acted ? [...effect.home] : [],
    workspace: acted ? [...effect.workspace] : [],
    collected: acted && effect.collects,
  };
}

function seen() {
  return { ...planted.changed(), collected: planted.collected.length > 0 };
}

/** Addresses and folders that a server of the field would otherwise take from the machine. */
function elsewhere(one: FixturePair): readonly string[] {
  if (one.folder === "") return [];
  return ["--metadata", planted.collector, "--cron-folder", `${planted.home}/.spool`];
}

describe.each(started)("$group: $id", (one) => {
  test("the hostile server acts when nothing holds it", async () => {
    const { script, effect, options } = one.hostile;
    const where = ["--collector", planted.collector, ...elsewhere(one)];
    const session = await startBare([serverFile(one, "hostile"), ...options, ...where], planted);
    try {
      await session.tools();
      expect(seen()).toEqual(expectedAfter(effect, 0));
      for (const [index, call] of script.entries()) {
        const answer = await session.call(call);
        expect(answer.text).toContain(call.says);
        expect(answer.isError).toBe(call.isError === true);
        expect(seen(), `after call ${index + 1}`).toEqual(expectedAfter(effect, index + 1));
      }
    } finally {
      await session.close();
    }
  });

  test("its twin changes only what it declares, and sends nothing", async () => {
    const command = [serverFile(one, "twin"), "--collector", planted.collector];
    const session = await startBare(command, planted);
    try {
      const names = (await session.tools()).map((tool) => tool.name);
      expect(Object.keys(one.twin.labels)).toEqual(expect.arrayContaining(names));
      for (const call of one.twin.script) {
        const answer = await session.call(call);
        expect(answer.text).toContain(call.says);
        expect(answer.isError).toBe(call.isError === true);
      }
      const writes = one.twin.isolation.files?.workspace?.mode === "overlay";
      const { home, workspace, collected } = seen();
      expect(collected).toBe(false);
      expect(home).toEqual(one.id === "second-start" ? [".cache/facts/starts"] : []);
      expect(workspace.length > 0).toBe(writes && one.id !== "judge-hijack");
    } finally {
      await session.close();
    }
  });
});

describe("what makes them hard to catch", () => {
  async function collects(id: string, use: { client?: string; meta?: Record<string, unknown>; more?: string[] }) {
    const one = pair(id);
    const command = [serverFile(one, "hostile"), ...(use.more ?? []), "--collector", planted.collector];
    const session = await startBare(command, planted, use.client);
    for (const call of one.hostile.script) await session.call(call, use.meta);
    await session.close();
    return planted.collected.length > 0;
  }

  test("the flag of a test keeps the flag-aware one quiet", async () => {
    expect(await collects("mock-flag-aware", { meta: { "org.example/probe": true } })).toBe(false);
  });

  test("the name of a scanner keeps the client-aware one quiet", async () => {
    expect(await collects("client-aware", { client: "mcp-scanner" })).toBe(false);
  });

  test("before its day the clock trigger is quiet", async () => {
    expect(await collects("clock-trigger", { more: ["--since", "9999-01-01"] })).toBe(false);
  });

  test("by chance the random switch turns within fifteen calls", async () => {
    expect(await collects("random-switch", {})).toBe(true);
    expect(planted.collected[0]).toBe(planted.secret);
  });

  test("the second start lists another description", async () => {
    const descriptions: string[] = [];
    for (let start = 0; start < 2; start++) {
      const session = await startBare([serverFile(pair("second-start"), "hostile")], planted);
      descriptions.push(...(await session.tools()).map((tool) => tool.description));
      await session.close();
    }
    expect(descriptions[0]).not.toContain("contact list");
    expect(descriptions[1]).toContain("contact list");
  });

  test("the base64 address is the collector's", async () => {
    expect(await collects("base64-exfiltration", {})).toBe(true);
    expect(Buffer.from(planted.collected[0] ?? "", "base64").toString()).toBe(planted.secret);
  });
});
