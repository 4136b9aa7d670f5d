// What a call does follows from its values: labels of a pack, of a card and of no source, with the gateway's own readers.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { digest } from "../../src/wire/canonical.ts";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const tool = (name: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: "object", properties },
  ...more,
});
const text = { type: "string" };
const query = tool("query", { sql: text }, { annotations: { readOnlyHint: true, openWorldHint: true } });

describe("a pack", () => {
  const talk = (): Conversation =>
    new Conversation("extends: [default]\nservers: {db: {pack: postgres}}\n", { db: [query] });

  it("lets a plain SELECT pass also after untrusted rows, and asks about what does more, with its reason", async () => {
    const db = talk();
    expect(await db.call("db.query", { sql: "select name from orders" })).toMatchObject({ refused: false });
    expect(await db.call("db.query", { sql: "select count(*) from orders where state = 'open'" })).toMatchObject({
      refused: false,
    });
    const sleeping = await db.call("db.query", { sql: "select pg_sleep(9)" });
    expect(sleeping.refused).toBe(true);
    expect(sleeping.text).toContain("`sql` was not read as a plain SELECT of PostgreSQL: it calls pg_sleep");
    expect((await db.call("db.query", { sql: "with x as (delete from orders returning 1) select 1" })).refused).toBe(
      true,
    );
    expect((await db.call("db.query", {})).refused).toBe(true);
    expect((await db.call("db.query", { sql: ["select 1"] })).refused).toBe(true);
    expect(db.reached).toEqual(["db.query", "db.query"]);
  });
});

describe("a card, or the word of a trusted server", () => {
  const accepted = `extends: [default]
readings:
  - {server: box, tool: query, digest: ${digest(query, sha256)}, label: {effects: [read.external], args: {sql: command}}, until: "2099-01-01"}
`;
  it.each([
    ["accepted", accepted],
    ["trusted", "extends: [default]\nservers: {box: {trust: trusted}}\n"],
  ])("%s: a query asks when it is sent something else", async (_name, policy) => {
    const box = new Conversation(policy, { box: [query] });
    expect(await box.call("box.query", { sql: "select 1" })).toMatchObject({ refused: false });
    const dropped = await box.call("box.query", { sql: "DROP TABLE users" });
    expect(dropped.refused).toBe(true);
    expect(dropped.text).toContain("`sql` is not read as a plain SELECT");
    expect((await box.call("box.query", { other: { command: "rm -rf /" } })).refused).toBe(true);
    expect(box.reached).toEqual(["box.query"]);
  });
});
