/** Cards over HTTP with a real server behind a real gateway: what a console asks, and what it cannot do. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { configOf } from "../../src/app/gateway/config.ts";
import { controlHeader, makeControlToken } from "../../src/app/gateway/control-token.ts";
import { type HttpComposition, listen, openGateway } from "../../src/app/gateway/http-gateway.ts";
import { type Json, member, stringMember } from "../../src/core/json.ts";

const thinking = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
);

let home: string;
let composition: HttpComposition;
let url: string;
let close: () => Promise<void> = async () => undefined;
let token: string;

async function begin(policy: string): Promise<void> {
  home = mkdtempSync(join(tmpdir(), "sg-card-routes-"));
  writeFileSync(join(home, "policy.yaml"), policy);
  const servers = { think: { command: process.execPath, args: [thinking] } };
  const config = configOf({ version: 1, policy: "policy.yaml", servers }, join(home, "gateway.yaml"));
  if (!config.ok) throw new Error(config.error.sentence);
  const opened = await openGateway(config.value, home, () => undefined);
  if (!opened.ok) throw new Error(opened.error);
  composition = opened.value;
  const control = makeControlToken(home);
  token = control.token;
  const listening = await listen(composition, config.value, { host: "127.0.0.1", port: 0, control });
  if (!listening.ok) throw new Error(listening.error);
  url = listening.value.url;
  close = async () => {
    await listening.value.close();
    await composition.close();
    rmSync(home, { recursive: true, force: true });
  };
}
beforeEach(() => begin("version: 1\n"));
afterEach(() => close());

async function asked(path: string, body?: Json, given = token): Promise<{ status: number; json: Json }> {
  const headers = { [controlHeader]: given, "content-type": "application/json" };
  const sent = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, sent);
  return { status: answer.status, json: (await answer.json()) as Json };
}

const thought = { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

async function connected(): Promise<{ readonly call: () => Promise<string>; readonly end: () => Promise<void> }> {
  const client = new Client({ name: "c", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/s/think/mcp`)));
  await client.listTools();
  const call = async (): Promise<string> =>
    JSON.stringify(await client.callTool({ name: "sequentialthinking", arguments: thought }));
  return { call, end: () => client.close() };
}

test("a card is read and answered under the control token, bound to what was shown", async () => {
  expect(await asked("/cards")).toMatchObject({ status: 200, json: { cards: [] } });
  const { call, end } = await connected();
  expect(await call()).toContain("Not executed");
  expect((await asked("/cards", undefined, "wrong")).status).toBe(403);
  expect((await asked("/cards/think", { digest: "x", choice: "accept" }, "wrong")).status).toBe(403);
  const list = await asked("/cards");
  expect(list.json).toMatchObject({ cards: [{ server: "think", state: "new", tools: 1 }] });
  const card = (await asked("/cards/think")).json;
  const doubts = member(card, "doubts");
  const digest = stringMember(card, "digest") ?? "";
  expect(JSON.stringify(member(card, "lines"))).toContain("sequentialthinking");
  const reviewed = Array.isArray(doubts) ? doubts.map((one: Json) => stringMember(one, "tool") ?? "") : [];
  for (const wrong of [
    [],
    { choice: "accept" },
    { digest, choice: "always" },
    { digest: "0", choice: "accept", reviewed },
  ])
    expect((await asked("/cards/think", wrong)).status).toBe(400);
  expect((await asked("/cards/nothing")).status).toBe(400);
  const done = await asked("/cards/think", { digest, choice: "accept", reviewed, days: 7 });
  expect(done).toMatchObject({ status: 200, json: { state: "trusted", ready: 0, doubtful: 0 } });
  expect(await call()).toContain("thoughtHistoryLength");
  await end();
});

test("an answer that needs a proof is not given over HTTP without one", async () => {
  await close();
  await begin("version: 1\napprovals: {factor: password}\n");
  const { call, end } = await connected();
  const digest = stringMember((await asked("/cards/think")).json, "digest") ?? "";
  const answer = await asked("/cards/think", { digest, choice: "isolated" });
  expect(answer).toMatchObject({ status: 400, json: { error: expect.stringContaining("password") } });
  expect((await asked("/cards/think", { digest, choice: "refuse" })).status).toBe(200);
  expect(await call()).toContain("refused");
  await end();
});
