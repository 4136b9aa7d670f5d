// Hosts that an answer opens: what is on record, what takes it away, and what is added to every policy.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ok } from "../../core/result.ts";
import { type CardAct, type CardChoice, answered } from "./card-acts.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { CardFiles } from "./card-files.ts";
import type { CardNetwork } from "./card-hosts.ts";
import { makeCard } from "./card.ts";

const hosts = { allow: ["api.example:443"], until: "2999-01-01", workspace: true };
const record = (more: Partial<ServerAnswer> = {}): ServerAnswer => ({
  answer: "accepted",
  at: "2026-01-01T00:00:00.000Z",
  by: "os:1",
  tools: {},
  ...more,
});

function answeredWith(
  choice: CardChoice,
  before: ServerAnswer | undefined,
  given?: readonly string[],
  network?: CardNetwork,
) {
  const card = makeCard({
    server: "app",
    digest: "d",
    listed: true,
    earlier: [],
    tools: [],
    answer: before,
    until: undefined,
    facts: undefined,
    declared: undefined,
    isolation: undefined,
    scope: [],
    network: network ?? { wants: [], opened: [], decided: undefined },
    packs: [],
    probe: undefined,
  });
  const act: CardAct = { choice, reviewed: [], days: 9, by: "os:1", ...(given === undefined ? {} : { hosts: given }) };
  const made = answered(card, act, Date.UTC(2026, 0, 2));
  if (!made.ok) return made.error;
  const done = made.value.change({ readings: [], servers: new Map(before === undefined ? [] : [["app", before]]) });
  return done.ok ? done.value.servers.get("app") : done.error;
}

describe("the answer `hosts`", () => {
  it("opens what it names, once and until its last day, also where no tool waits", () => {
    const after = answeredWith("hosts", undefined, ["api.example", "api.example", "b.example:8443"]);
    expect(after).toMatchObject({
      answer: "accepted",
      hosts: { allow: ["api.example", "b.example:8443"], until: "2026-01-11", workspace: false },
    });
    expect(answeredWith("hosts", record({ answer: "isolated", hosts }), ["b.example"])).toMatchObject({
      answer: "isolated",
      hosts: { allow: ["b.example"] },
    });
  });

  it("is the only one: a plain acceptance opens nothing", () => {
    expect(answeredWith("accept", undefined, ["api.example"])).toMatch(/`hosts` alone/);
    expect(answeredWith("isolated", undefined)).not.toHaveProperty("hosts");
    expect(answeredWith("hosts", undefined)).toMatch(/^Name the hosts/);
    expect(answeredWith("hosts", undefined, ["*"])).toMatch(/every host/);
    const decided = { wants: [], opened: [], decided: "Your policy says it." };
    expect(answeredWith("hosts", undefined, ["api.example"], decided)).toBe("Your policy says it.");
  });

  it("holds over other answers until it is refused, forgotten or something speaks against the server", () => {
    for (const choice of ["isolated", "later"] as const)
      expect(answeredWith(choice, record({ hosts })), choice).toMatchObject({ hosts });
    expect(answeredWith("refuse", record({ hosts }))).not.toHaveProperty("hosts");
    expect(answeredWith("forget", record({ hosts }))).toBeUndefined();
    const flagged = record({ hosts, flagged: "it left its scope" });
    expect(answeredWith("isolated", flagged)).not.toHaveProperty("hosts");
    expect(answeredWith("hosts", flagged, ["c.example"])).toMatchObject({ hosts: { allow: ["c.example"] } });
  });
});

describe("hosts on record", () => {
  const files = (): CardFiles => new CardFiles(mkdtempSync(join(tmpdir(), "sg-card-hosts-")));
  const isolationAfter = async (more: Partial<ServerAnswer>) => {
    const made = files();
    await made.change(() => ok({ readings: [], servers: new Map([["app", record(more)]]) }));
    const source = made.source();
    return source.ok ? source.value?.document.isolation : source.error;
  };

  it("are a part of every policy, until their last day, and while nothing speaks against the server", async () => {
    expect(await isolationAfter({ hosts })).toEqual({ servers: { app: { net: { allow: ["api.example:443"] } } } });
    expect(await isolationAfter({ hosts: { ...hosts, workspace: false } })).toEqual({
      servers: { app: { net: { allow: ["api.example:443"] }, files: { workspace: { mode: "none" } } } },
    });
    expect(await isolationAfter({ hosts: { ...hosts, until: "2020-01-01" } })).toBeUndefined();
    expect(await isolationAfter({ hosts, flagged: "it left its scope" })).toBeUndefined();
    expect(await isolationAfter({ hosts, answer: "refused" })).toBeUndefined();
    expect(await isolationAfter({})).toBeUndefined();
  });

  it("that are none make the file unreadable, and nothing is opened", async () => {
    const bad = [
      "x",
      { ...hosts, allow: ["*"] },
      { ...hosts, until: "soon" },
      { ...hosts, allow: [1] },
      { ...hosts, workspace: 1 },
    ];
    for (const one of bad) {
      const made = files();
      await made.change(() => ok({ readings: [], servers: new Map([["app", record({ hosts })]]) }));
      const text = JSON.parse(readFileSync(made.answers, "utf8")) as { servers: Record<string, { hosts: unknown }> };
      const app = text.servers["app"];
      if (app !== undefined) app.hosts = one;
      writeFileSync(made.answers, JSON.stringify(text));
      expect(made.source(), JSON.stringify(one)).toMatchObject({ ok: false });
    }
  });
});
