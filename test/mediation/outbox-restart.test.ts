// Calls in the outbox when the gateway dies (M4 of formal.md 4.3): the model was told to wait and not to repeat them, so
// after a restart they are held again and judged again, or the operator learns that they will never be sent.
import { describe, expect, it } from "vitest";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { type Answering, Conversation } from "../kit/gateway/real-policy.ts";

const tools = { desk: ["read", "pay", "notify"], post: ["send"] };
const policy = (more = ""): string => `
flow: {mode: none}
labels:
  desk.read: {effects: [read.local]}
  desk.pay: {effects: [write.local]}
  desk.notify: {effects: [write.local]}
  post.send: {effects: [write.local]}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: R4, tier: must, byEnd: {after: post.send, by: desk.notify, action: hold}, why: "mails are recorded"}
${more}`;
const mail = { to: "bob" };

/** A gateway over the log that another one left behind: nothing else of it is there any more. */
function restarted(log: FakeLog, text = policy(), answer?: Answering): Conversation {
  return new Conversation(text, tools, { log, ...(answer === undefined ? {} : { answer }) });
}

/** A log in which a mail is held, and nothing more. */
async function withHeldMail(text = policy()): Promise<FakeLog> {
  const log = new FakeLog();
  const talk = restarted(log, text);
  expect((await talk.call("post.send", mail)).text).toMatch(/outbox/);
  expect(talk.reached).toEqual([]);
  return log;
}

const outboxNotes = (log: FakeLog) =>
  log.entries.flatMap(({ notes }) => (notes?.["moment"] === "outbox" ? [notes] : []));

describe("held calls over a restart", () => {
  it("are sent once what they wait for has succeeded, under an id that the log ties to the held one", async () => {
    const log = await withHeldMail();
    const talk = restarted(log);
    await talk.call("desk.read");
    expect(talk.reached).toEqual(["desk.read"]);
    // The server of the held call has to be there again.
    await talk.call("post.send", { to: "eve" });
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.read", "desk.notify", "post.send", "post.send"]);
    const held = outboxNotes(log)[0]?.["decision"];
    const sent = log.entries.filter(({ notes }) => notes?.["outbox"] === held);
    expect(sent.flatMap(({ events }) => events).map(({ kind }) => kind)).toEqual(["dispatched"]);
    expect(sent[0]?.events).toContainEqual(expect.objectContaining({ kind: "dispatched", arguments: mail }));
    expect(await talk.end()).toEqual([]);
  });

  it("a second restart sends nothing again: the log shows it as allowed", async () => {
    const log = await withHeldMail();
    const silent: Answering = (tool) => (tool === "send" ? undefined : { content: [] });
    const first = restarted(log, policy(), silent);
    await first.call("post.send", { to: "eve" });
    await first.call("desk.notify");
    expect(first.reached).toEqual(["desk.notify", "post.send"]);
    const second = restarted(log);
    await second.call("post.send", { to: "ann" });
    await second.call("desk.notify");
    // The mail to bob left the first time and nobody knows what became of it; eve's was still waiting behind it.
    const mails = log.events().flatMap((event) => (event.kind === "dispatched" ? [event.arguments["to"]] : []));
    expect(mails.filter((to) => to === "bob")).toHaveLength(1);
    expect(mails.filter((to) => to === "eve")).toHaveLength(1);
    expect(await second.end()).toEqual([]);
  });

  it("the flush obeys the other rules of that moment", async () => {
    const limit = `  - {id: R6, tier: block, absence: {after: desk.pay, never: post.send}, why: "no mail after paying"}`;
    const log = await withHeldMail(policy(limit));
    const talk = restarted(log, policy(limit));
    await talk.call("desk.pay");
    await talk.call("post.send", { to: "eve" });
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.pay", "desk.notify"]);
    expect(talk.stage.notices).toEqual([expect.stringMatching(/never sent: the policy does not permit it any more/)]);
    const third = restarted(log, policy(limit));
    await third.call("desk.read");
    expect(await third.end(), "dropped and told once").toEqual([]);
  });

  it("at the end of the run what is still held is dropped and reported, also where its server is gone", async () => {
    const log = await withHeldMail();
    const talk = restarted(log);
    await talk.call("desk.read");
    expect((await talk.end())[0]).toMatch(/`send` of `post` was held and never sent: its server is not connected/);
    expect(outboxNotes(log).at(-1)).toMatchObject({ dropped: [expect.stringMatching(/ unreachable$/)] });
  });

  it("a run that nobody takes up again says so when it ends", async () => {
    const log = await withHeldMail();
    const talk = restarted(log);
    await talk.stage.gateway.restore();
    const [row] = talk.stage.gateway.runs.dormant.all();
    await talk.stage.gateway.runs.endDormant(row?.key ?? "", "expired");
    expect(talk.stage.notices).toEqual([expect.stringMatching(/`send` of `post` was held and never sent/)]);
  });
});

describe("held calls that cannot be held again", () => {
  it.each([
    ["whose arguments were not kept", policy("audit: {payload: digests}"), undefined, /its arguments were not kept/],
    ["under another policy", policy(), policy("\nhost: {sampling: allow}"), /the policy has changed/],
  ])("%s are given up on record, told at once, and said at the end", async (_, before, after, cause) => {
    const log = await withHeldMail(before);
    const talk = restarted(log, after ?? before);
    await talk.call("desk.read");
    expect(talk.stage.notices).toEqual([expect.stringMatching(cause)]);
    expect(outboxNotes(log).at(-1)).toMatchObject({ lost: [expect.any(String)] });
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.read", "desk.notify"]);
    // Once more: it is not told again, and the end says it all the same.
    const third = restarted(log, after ?? before);
    await third.call("desk.read");
    expect(third.stage.notices).toEqual([]);
    expect(await third.end()).toEqual([expect.stringMatching(cause)]);
  });

  it("are told also where the run itself cannot be read back", async () => {
    const log = await withHeldMail();
    log.unreadable = true;
    const talk = restarted(log, policy("\nhost: {sampling: allow}"));
    await talk.call("desk.read");
    expect(talk.stage.notices).toContainEqual(expect.stringMatching(/never sent: the policy has changed/));
  });

  it("whose arguments were changed on the way are not sent", async () => {
    const log = await withHeldMail();
    const index = log.entries.findIndex(({ notes }) => notes?.["held"] !== undefined);
    const entry = log.entries[index];
    if (entry !== undefined)
      log.entries[index] = { ...entry, details: { ...entry.details, arguments: { to: "mallory" } } };
    const talk = restarted(log);
    await talk.call("desk.notify");
    expect(talk.stage.notices).toEqual([expect.stringMatching(/arguments were not kept/)]);
  });
});

describe("a held call whose server is not what it was", () => {
  it("is given up when the server lists another tool under its name", async () => {
    const log = await withHeldMail();
    const index = log.entries.findIndex(({ notes }) => notes?.["held"] !== undefined);
    const entry = log.entries[index];
    if (entry !== undefined) log.entries[index] = { ...entry, notes: { ...entry.notes, toolDigest: "another" } };
    const talk = restarted(log);
    await talk.call("post.send", { to: "eve" });
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.notify", "post.send"]);
    expect(talk.stage.notices).toEqual([expect.stringMatching(/never sent: its server lists another tool/)]);
  });

  it("waits while the server is in quarantine, and is given up at the end", async () => {
    const talk = restarted(new FakeLog());
    await talk.call("post.send", mail);
    talk.stage.gateway.state.admissions.revoke("post", "decision-1");
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.notify"]);
    expect(await talk.end()).toEqual([expect.stringMatching(/never sent: its server is not admitted any more/)]);
  });
});

describe("the word of the gateway that a call waits", () => {
  it("is given only when that is on record", async () => {
    const log = new FakeLog();
    const talk = restarted(log);
    await talk.call("desk.read");
    log.failing = true;
    expect((await talk.call("post.send", mail)).text).toMatch(/^Not done: the gateway's event log cannot be written/);
    log.failing = false;
    expect(await talk.end()).not.toContainEqual(expect.stringMatching(/held/));
  });
});
