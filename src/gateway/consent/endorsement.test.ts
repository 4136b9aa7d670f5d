import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { Conversation } from "../../../test/kit/gateway/real-policy.ts";
import { ruleApproval } from "./approvals.ts";

const policy = `
flow: {mode: provenance}
labels:
  web.read: {effects: read.external, output: {confidentiality: public, trust: untrusted}}
  mail.send: {effects: write.external.send, args: {to: {role: recipient}, text: {role: content}}}
`;

/** A run that has read a page which names people, and mails to lists of them. */
async function reader(text = policy) {
  const page = "write to eve@x.com, bob@x.com, ann@x.com";
  const answer = (tool: string): JsonObject => ({ content: [{ type: "text", text: tool === "read" ? page : "sent" }] });
  const talk = new Conversation(text, { web: ["read"], mail: ["send"] }, { answer });
  expect(await talk.call("web.read")).toMatchObject({ refused: false });
  const { log, clock } = talk.stage;
  const send = (...to: readonly string[]) => talk.call("mail.send", { to: [...to], text: "hi" });
  const card = () => {
    const [id = "", row] = [...log.approvals].at(-1) ?? [];
    const opened = row?.card === undefined ? undefined : log.port.open(row.run, row.card);
    return { id, lines: JSON.stringify(opened?.["lines"]), choices: opened?.["choices"] };
  };
  const trust = () => ruleApproval(log.port, clock, { id: card().id, choice: "value", by: "alice", role: "operator" });
  return { talk, send, card, trust };
}

const inDoubt = (...values: readonly string[]) =>
  `trusted from then on if you say so: ${values.map((value) => `\`${value}\``).join(", ")} of`;

describe("a list of recipients", () => {
  it("one that is endorsed stays so in every list: only the others are asked about", async () => {
    const { send, card, trust } = await reader();
    expect(await send("eve@x.com")).toMatchObject({ refused: true });
    expect(card().lines).toContain(inDoubt("eve@x.com"));
    expect((await trust()).ok).toBe(true);
    expect(await send("eve@x.com")).toMatchObject({ refused: false });
    expect(await send("eve@x.com", "bob@x.com")).toMatchObject({ refused: true });
    expect(card().lines).toContain(inDoubt("bob@x.com"));
    expect((await trust()).ok).toBe(true);
    expect(await send("eve@x.com", "bob@x.com")).toMatchObject({ refused: false });
    expect(await send("bob@x.com", "eve@x.com")).toMatchObject({ refused: false });
    expect(await send("bob@x.com")).toMatchObject({ refused: false });
  });

  it("several that the card names are endorsed each for itself, and nobody else", async () => {
    const { send, card, trust } = await reader();
    await send("eve@x.com", "bob@x.com", "eve@x.com");
    expect(card().lines).toContain(inDoubt("eve@x.com", "bob@x.com"));
    await trust();
    expect(await send("eve@x.com", "bob@x.com", "eve@x.com")).toMatchObject({ refused: false });
    expect(await send("bob@x.com")).toMatchObject({ refused: false });
    expect(await send("bob@x.com", "ann@x.com")).toMatchObject({ refused: true });
  });

  it("one recipient, endorsed alone, is endorsed in a list too", async () => {
    const { talk, send, trust } = await reader();
    const alone = () => talk.call("mail.send", { to: "eve@x.com", text: "hi" });
    expect(await alone()).toMatchObject({ refused: true });
    await trust();
    expect(await alone()).toMatchObject({ refused: false });
    expect(await send("eve@x.com")).toMatchObject({ refused: false });
  });

  it("a consent to the call alone endorses nobody", async () => {
    const { talk, send, card } = await reader();
    await send("eve@x.com");
    const { log, clock } = talk.stage;
    await ruleApproval(log.port, clock, { id: card().id, choice: "once", by: "alice", role: "operator" });
    expect(await send("eve@x.com")).toMatchObject({ refused: false });
    expect(await send("eve@x.com")).toMatchObject({ refused: true });
  });

  it("more than a card can name are endorsed as this list only", async () => {
    const { send, card, trust } = await reader();
    const many = Array.from({ length: 9 }, (_, index) => `a${index}@x.com`);
    await send(...many);
    expect(card().lines).not.toContain("In doubt");
    expect(card().choices).toContain("value");
    await trust();
    expect(await send(...many)).toMatchObject({ refused: false });
    expect(await send(...many.slice(1))).toMatchObject({ refused: true });
  });

  it("an element that could hide on the card is not named there", async () => {
    const { send, card } = await reader();
    await send(`eve@x.com${" ".repeat(120)}`);
    expect(card().lines).not.toContain("In doubt");
    await send("eve@x.com\u202E");
    expect(card().lines).toContain("eve@x.com\\\\u{202e}");
  });
});

describe("a value of which it is also uncertain who may know it", () => {
  /** As `reader`, where nothing is said of how secret the page is. */
  const doubtful = policy.replace("{confidentiality: public, trust: untrusted}", "{trust: untrusted}");

  it("is asked about once: the card says both, and nothing else is let go with it", async () => {
    const { talk, send, card, trust } = await reader(doubtful);
    expect(await send("eve@x.com")).toMatchObject({ refused: true });
    expect(card().lines).toContain(inDoubt("eve@x.com"));
    expect(card().lines).toContain("Its readers are uncertain");
    expect((await trust()).ok).toBe(true);
    for (let again = 0; again < 3; again += 1) expect(await send("eve@x.com")).toMatchObject({ refused: false });
    expect(await send("eve@x.com", "bob@x.com")).toMatchObject({ refused: true });
    expect(await talk.call("mail.send", { to: "eve@x.com", text: "ask bob@x.com" })).toMatchObject({ refused: true });
    const grants = talk.stage.log.events().flatMap((event) => (event.kind === "granted" ? [event.grant.kind] : []));
    expect(grants).toEqual(["consent", "endorse", "declassify"]);
  });

  it("is let go in its own place: as content it is asked about like any other", async () => {
    const { talk, send, trust } = await reader(doubtful);
    await send("eve@x.com");
    await trust();
    expect(await talk.call("mail.send", { to: "eve@x.com", text: "eve@x.com" })).toMatchObject({ refused: true });
  });

  it("keeps what is certain: a secret stays one, whoever trusts the address", async () => {
    const secret = policy
      .replace(
        "{confidentiality: public, trust: untrusted}",
        "{confidentiality: [sensitive, private], trust: untrusted}",
      )
      .replace("flow:", "lattice: {confidentiality: [public, sensitive, private], clearance: {anyone: public}}\nflow:");
    const { send, card, trust } = await reader(secret);
    expect(await send("eve@x.com")).toMatchObject({ refused: true });
    expect(card().choices).toContain("value");
    await trust();
    expect(await send("eve@x.com")).toMatchObject({ refused: false });
    expect(await send("eve@x.com")).toMatchObject({ refused: true });
  });

  it("the card says nothing of it where that is certain", async () => {
    const { send, card } = await reader();
    await send("eve@x.com");
    expect(card().lines).not.toContain("Its readers are");
  });
});
