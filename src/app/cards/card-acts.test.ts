import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { readTools } from "../../oracles/labels/reading.ts";
import type { ReadingText } from "../../policy/sections/readings.ts";
import { type CardAct, type CardChoice, answered } from "./card-acts.ts";
import type { CardAnswer, ServerAnswer } from "./card-answers.ts";
import type { CardState } from "./card-files.ts";
import { type Card, makeCard } from "./card.ts";

const look: JsonObject = {
  name: "get_status",
  description: "Get the status of the local desk.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const digest = "0".repeat(64);
const reading: ReadingText = {
  server: "app",
  tool: "get_status",
  digest,
  label: { effects: "read.local" },
  until: "2999-01-01",
};

const record = (answer: CardAnswer, more: Partial<ServerAnswer> = {}): ServerAnswer => ({
  answer,
  at: "2026-01-01T00:00:00.000Z",
  by: "os:1",
  tools: {},
  ...more,
});

function cardOf(answer: ServerAnswer | undefined, server = "app"): Card {
  const [read] = readTools({ server, tools: [look] });
  if (read === undefined) throw new Error("nothing was read");
  const tool = {
    name: "get_status",
    digest,
    entry: look,
    source: "unknown",
    reading: read,
    findings: [],
    change: undefined,
  } as const;
  const nothing = {
    facts: undefined,
    declared: undefined,
    isolation: undefined,
    scope: [],
    network: { wants: [], opened: [], decided: undefined },
    packs: [],
    probe: undefined,
  };
  return makeCard({
    server,
    digest: "d",
    listed: true,
    earlier: [],
    tools: [tool],
    answer,
    until: undefined,
    ...nothing,
  });
}

/** What is on record of the server after an answer to the card that showed `shown`, given where `now` stood by then. */
function after(choice: CardChoice, shown: ServerAnswer | undefined, now = shown): CardState | string {
  const act: CardAct = { choice, reviewed: [], days: 90, by: "os:1:terminal" };
  const made = answered(cardOf(shown), act, Date.UTC(2026, 0, 2));
  if (!made.ok) return made.error;
  const servers = new Map(now === undefined ? [] : [["app", now]]);
  const done = made.value.change({ readings: [reading], servers });
  return done.ok ? done.value : done.error;
}

const standing = (state: CardState | string): unknown => {
  if (typeof state === "string") return state;
  const { answer, flagged } = state.servers.get("app") ?? {};
  return flagged === undefined ? answer : [answer, flagged];
};

describe("an answer that needs no proof", () => {
  it.each(["refused", "isolated", "accepted"] as const)("`later` leaves a server %s as it was", (answer) => {
    const before = record(answer);
    const state = after("later", before);
    expect(standing(state)).toBe(answer);
    expect(typeof state === "string" ? state : state.servers.get("app")).toMatchObject({
      at: before.at,
      by: before.by,
    });
    expect(typeof state === "string" ? state : state.readings).toEqual([reading]);
  });

  it("`later` leaves open a card that was not answered, and keeps the evidence against a server", () => {
    expect(standing(after("later", undefined))).toBe("later");
    expect(standing(after("later", record("isolated", { flagged: "it left its scope" })))).toEqual([
      "isolated",
      "it left its scope",
    ]);
  });

  it("`later` lifts no refusal of another process that came after the card was shown", () => {
    expect(standing(after("later", undefined, record("refused")))).toBe("refused");
    expect(standing(after("later", record("accepted"), record("isolated")))).toBe("isolated");
  });

  it("`refuse` keeps the evidence, whatever happened since the card was shown", () => {
    const flagged = "it left its scope";
    expect(standing(after("refuse", record("accepted"), record("isolated", { flagged })))).toEqual([
      "refused",
      flagged,
    ]);
  });

  it("`refuse` is taken of a server whose name no policy can hold", () => {
    const act: CardAct = { choice: "refuse", reviewed: [], days: 90, by: "os:1" };
    expect(answered(cardOf(undefined, "a.b"), act, 0)).toMatchObject({ ok: true });
  });
});

it("an answer takes readings away whose last day is over: a clock that is set back does not bring them back", () => {
  const act: CardAct = { choice: "accept", reviewed: [], days: 90, by: "os:1" };
  const made = answered(cardOf(undefined), act, Date.UTC(2026, 0, 2));
  const ended = { ...reading, server: "other", until: "2026-01-01" };
  const last = { ...reading, server: "other", tool: "last", until: "2026-01-02" };
  const done = made.ok ? made.value.change({ readings: [ended, last], servers: new Map() }) : made;
  const left = done.ok ? done.value.readings.map(({ server, tool }) => `${server}.${tool}`) : done.error;
  expect(left).toEqual(["other.last", "app.get_status"]);
});

describe("an answer that accepts", () => {
  it.each(["accept", "reads"] as const)("by `%s` keeps that a server runs isolated only", (choice) => {
    expect(standing(after(choice, record("isolated")))).toBe("isolated");
    expect(standing(after(choice, undefined))).toBe("accepted");
  });

  it("by `reads` lifts neither a refusal nor evidence", () => {
    expect(standing(after("reads", record("refused")))).toMatch(/refused.*--forget/);
    expect(standing(after("reads", record("accepted", { flagged: "it left its scope" })))).toMatch(/left its scope/);
  });

  it.each(["accept", "reads", "isolated", "forget"] as const)(
    "by `%s` does not hold where the server was refused or flagged since the card was shown",
    (choice) => {
      const shown = record("accepted");
      for (const now of [record("refused"), record("accepted", { flagged: "it left its scope" }), undefined])
        expect(standing(after(choice, shown, now ?? record("isolated")))).toMatch(/since the card was shown/);
    },
  );

  it("explicitly lifts a refusal or evidence that its card showed", () => {
    expect(standing(after("accept", record("refused")))).toBe("accepted");
    expect(standing(after("isolated", record("refused")))).toBe("isolated");
    expect(standing(after("accept", record("accepted", { flagged: "it left its scope" })))).toBe("accepted");
    expect(standing(after("forget", record("refused")))).toBeUndefined();
  });
});
