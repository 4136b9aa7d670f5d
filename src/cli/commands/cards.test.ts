import { expect, it } from "vitest";
import type { Reply } from "../../app/gateway/control-contract.ts";
import { doneText, listText, offeredKeys } from "./cards.ts";

const summary = { server: "app", state: "probation", tools: 3, ready: 1, doubtful: 2 };
const card = (more: Partial<Reply<"card">> = {}): Reply<"card"> => ({
  ...summary,
  digest: "d",
  lines: [],
  doubts: [{ tool: "send", group: "acts outside", standing: "doubtful", lines: [] }],
  wants: [],
  ...more,
});

it("offers the keys that can do something, and says what they take back or keep", () => {
  expect(Object.keys(offeredKeys(card(), 90))).toEqual(["a", "r", "i", "x", "l"]);
  expect(Object.keys(offeredKeys(card({ ready: 0 }), 90))).toEqual(["r", "i", "x", "l"]);
  expect(Object.keys(offeredKeys(card({ doubtful: 0, doubts: [] }), 90))).toEqual(["a", "i", "x", "l"]);
  const refused = offeredKeys(card({ state: "quarantined" }), 90);
  expect(refused).toMatchObject({ a: expect.stringContaining("take the refusal back") });
  expect(refused).not.toHaveProperty("x");
  const wanting = offeredKeys(card({ ready: 0, wants: ["a.example", "b.example"] }), 90);
  expect(wanting).toMatchObject({ h: "h accept, and open a.example, b.example to it instead of the workspace" });
  const isolated = offeredKeys(card({ answer: "isolated" }), 90);
  expect(isolated).toMatchObject({ a: expect.stringContaining("isolated only as before") });
  expect(isolated).not.toHaveProperty("i");
});

it("opens by one key no more hosts than a card shows", () => {
  const few = offeredKeys(card({ wants: ["a.example", "b.example:8443"] }), 90);
  expect(few).toMatchObject({ h: "h accept, and open a.example, b.example:8443 to it instead of the workspace" });
  const many = Array.from({ length: 20 }, (_, at) => `host-with-a-long-name-${at}.example`);
  expect(offeredKeys(card({ wants: many }), 90)).toMatchObject({
    h: "h accept, and open the 20 hosts above to it instead of the workspace",
  });
});

it("says after an answer that a server runs isolated only, and where that refuses it now", () => {
  const until = "2027-01-01";
  const answer = "isolated";
  expect(doneText("isolated", { ...summary, until, answer })).toBe(
    "Accepted until 2027-01-01, only where it runs isolated, from the next call on. 3 tools of 3 still ask.",
  );
  const refused = "You accepted this server only where it runs isolated, and now it does not.";
  expect(doneText("isolated", { ...summary, until, answer, refused })).toMatch(/from the next call on\. Now: You acc/);
  expect(doneText("isolated", { ...summary, answer })).toMatch(/^`app` may be called, only where it runs isolated\./);
  expect(doneText("accept", { ...summary, ready: 0, doubtful: 0, until })).toBe(
    "Accepted until 2027-01-01, from the next call on.",
  );
});

it("lists what waits, and nothing of a refused server", () => {
  const refused = { ...summary, server: "bad", state: "quarantined", answer: "refused" };
  const text = listText({ cards: [refused, { ...summary, answer: "isolated", until: "2027-01-01" }] });
  expect(text).toMatch(/bad +quarantined +3 tools +nothing waits/);
  expect(text).toMatch(/app +probation +3 tools +1 to accept, 2 in doubt +until 2027-01-01, isolated only/);
  expect(text).toContain("`sluicegate cards app`");
});
