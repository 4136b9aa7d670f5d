import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isArray, isObject, member, type Json } from "../../src/core/json.ts";
import { relayed, stdioFixture } from "../kit/server/run-fixture.ts";
import { createSandbox, gatewayMissing, guarded, type Sandbox } from "../kit/gateway/run-gateway.ts";
import * as legacy from "./legacy-scripts.ts";
import { initialize, initialized, request } from "../kit/client/lines.ts";
import * as modern from "./modern-scripts.ts";
import { play, type Recorded, type Script } from "../kit/client/session.ts";

const scriptMsMax = 90_000;
const pagesMax = 100;

const scripts: Readonly<Record<string, Script>> = {
  "handshake 2024-11-05": legacy.handshake("2024-11-05"),
  "handshake 2025-03-26": legacy.handshake("2025-03-26"),
  "handshake 2025-06-18": legacy.handshake("2025-06-18"),
  "handshake 2025-11-25": legacy.handshake("2025-11-25"),
  "handshake in no revision": legacy.handshake("1999-01-01"),
  calls: legacy.calls,
  lists: legacy.lists,
  "resources and prompts": legacy.resourcesAndPrompts,
  "server requests": legacy.serverRequests,
  "a client without capabilities": legacy.poorClient,
  logging: legacy.logging,
  numbers: legacy.numbers,
  oddities: legacy.oddities,
  batch: legacy.batch,
  "modern calls": modern.modernCalls,
  "modern refusals": modern.modernRefusals,
  "modern rounds": modern.modernRounds,
  "modern subscriptions": modern.modernSubscriptions,
};

let sandbox: Sandbox;
const missing = process.env["CI"] === undefined ? gatewayMissing() : undefined;

beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(async () => {
  await sandbox.remove();
});

const parseError = -32700;

/**
 * Keeps of an error what a peer may rely on. Who cannot parse a message may still be able to read its id, and should
 * then name it (JSON-RPC 2.0, 5): the gateway can, so that a client need not wait for its time-out.
 */
function wordless(message: Json): Json {
  const error = member(message, "error");
  if (!isObject(message) || error === undefined) return message;
  const code = member(error, "code") ?? null;
  return { ...message, ...(code === parseError ? { id: null } : {}), error: { code } };
}

function withoutWords(record: readonly Recorded[]): readonly Recorded[] {
  return record.map(({ step, messages }) => ({ step, messages: messages.map(wordless) }));
}

/** Every entry of a paged list; cursors and page sizes are the sender's own, so only entries are compared. */
async function drain(command: readonly string[], method: string, key: string): Promise<readonly Json[]> {
  const entries: Json[] = [];
  const script: Script = async (session) => {
    await session.step("initialize", [initialize("2025-11-25"), initialized], 1);
    let cursor: Json | undefined;
    for (let page = 0; page < pagesMax; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const [answer] = await session.step(`page ${page}`, [request(page, method, params)], 1);
      const result = member(answer, "result");
      const found = member(result, key);
      if (isArray(found)) entries.push(...found);
      cursor = member(result, "nextCursor");
      if (cursor === undefined) return;
    }
  };
  await play(command, script, sandbox.env);
  return entries;
}

const lists = [
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
] as const;

/** `short`: steps that brought back another number of messages than the script counts on. */
type Direct = { readonly record: readonly Recorded[]; readonly short: readonly string[] };
const played = new Map<Script, Promise<Direct>>();

/** What a script brings back without anything between; played once, however many compare with it. */
function directly(script: Script): Promise<Direct> {
  const known = played.get(script) ?? playDirectly(script);
  played.set(script, known);
  return known;
}

async function playDirectly(script: Script): Promise<Direct> {
  const short: string[] = [];
  const counted: Script = (session) =>
    script({
      ...session,
      step: async (name, lines, count) => {
        const messages = await session.step(name, lines, count);
        if (messages.length !== count) short.push(`${name}: ${messages.length} of ${count}`);
        return messages;
      },
    });
  return { record: await play(stdioFixture(), counted), short };
}

function compareThrough(wrap: (command: readonly string[]) => readonly string[]): void {
  test.each(Object.entries(scripts))(
    "%s: each message as directly",
    { timeout: scriptMsMax },
    async (_name, script) => {
      const { record: direct } = await directly(script);
      const through = await play(wrap(stdioFixture()), script, sandbox.env);
      // Step by step: a megabyte of text hides what else differs.
      for (const [index, expected] of direct.entries()) expect(through[index], expected.step).toEqual(expected);
      expect(through).toHaveLength(direct.length);
    },
  );

  test("unreadable input: the same codes and ids", { timeout: scriptMsMax }, async () => {
    const direct = await play(stdioFixture(), legacy.unreadable);
    const through = await play(wrap(stdioFixture()), legacy.unreadable, sandbox.env);
    expect(withoutWords(through)).toEqual(withoutWords(direct));
  });

  test.each(lists)("%s in pages: the same entries", { timeout: scriptMsMax }, async (method, key) => {
    const paged = stdioFixture({ pageSize: 3 });
    const direct = await drain(paged, method, key);
    expect(direct).toEqual(await drain(stdioFixture(), method, key));
    expect(await drain(wrap(paged), method, key)).toEqual(direct);
  });
}

describe("through a raw relay", () => compareThrough(relayed));

describe.skipIf(missing !== undefined)("through the gateway", () => compareThrough((command) => guarded(command)));

test.each(Object.entries(scripts))(
  "%s: brings back what it counts on",
  { timeout: scriptMsMax },
  async (_name, script) => {
    expect((await directly(script)).short).toEqual([]);
  },
);
