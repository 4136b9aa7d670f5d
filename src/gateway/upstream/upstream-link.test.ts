import { expect, it } from "vitest";
import { FakeClock } from "../../../test/kit/gateway/playbook.ts";
import {
  chatterMessagesMax,
  chatterUsersPerMessage,
  requestMsMax,
  shortSilenceMsMax,
  silenceMsMax,
} from "../ports/limits.ts";
import { Link } from "./upstream-link.ts";
import type { Connector, UpstreamHandler } from "../ports/transport.ts";

function connected(shared: boolean) {
  const did: string[] = [];
  const handlers: UpstreamHandler[] = [];
  const connector: Connector = {
    connect: (_target, handler) => {
      handlers.push(handler);
      return {
        send: (message) => void did.push(message.kind),
        abandon: () => undefined,
        negotiated: () => undefined,
        drained: () => undefined,
        pause: () => void did.push("pause"),
        resume: () => void did.push("resume"),
        close: async () => undefined,
      };
    },
  };
  const target = { kind: "http", url: "http://127.0.0.1/", flavour: "auto", headers: {} } as const;
  const clock = new FakeClock();
  const link = new Link({
    server: "a",
    target,
    connector,
    clock,
    secrets: { hash: (text) => text, mac: (text) => text },
    shared,
  });
  return { link, did, handlers, clock };
}

it("a client that reads slowly pauses the server that is its own, until it has caught up", async () => {
  const { link, did } = connected(false);
  const slow = Promise.withResolvers<void>();
  link.slowDown(slow.promise);
  expect(did).toEqual(["pause"]);
  slow.resolve();
  await Promise.resolve();
  expect(did).toEqual(["pause", "resume"]);
});

it("a client that stops reading does not stop others on the same connection", () => {
  const { link, did } = connected(true);
  link.slowDown(new Promise(() => undefined));
  expect(did).toEqual([]);
});

it("a request of the gateway whose answer is lost ends at once, not at its time-out", async () => {
  const { link, handlers } = connected(true);
  const asked = link.ask("tools/list", undefined, { ms: 60_000 });
  handlers[0]?.lost?.("sluicegate:1", "Its stream was cut.");
  expect(await asked).toBeUndefined();
});

it.each([true, false])("a server that says very much at once is not read for a second (shared: %s)", async (shared) => {
  const { handlers, did, clock } = connected(shared);
  const said = { kind: "notification", method: "notifications/progress", params: undefined } as const;
  for (let count = 1; count < chatterMessagesMax; count += 1) handlers[0]?.message(said);
  expect(did).toEqual([]);
  handlers[0]?.message(said);
  expect(did).toEqual(["pause"]);
  clock.pass(1_000);
  await Promise.resolve();
  expect(did).toEqual(["pause", "resume"]);
});

it("a message that many users are given counts as several, and what is of one request as one", () => {
  const { link, handlers, did } = connected(true);
  const users = 10 * chatterUsersPerMessage;
  for (let user = 0; user < users; user += 1) {
    link.attach({ message: () => undefined, lost: () => undefined, closed: () => undefined });
  }
  const said = { kind: "notification", method: "notifications/message", params: undefined } as const;
  for (let count = 1; count < chatterMessagesMax / 10; count += 1) handlers[0]?.message(said);
  expect(did).toEqual([]);
  const user = { message: () => undefined, lost: () => undefined, closed: () => undefined };
  link.attach(user);
  link.send(user, { kind: "request", id: 7, method: "tools/call", params: {} });
  for (let count = 0; count < 9; count += 1) handlers[0]?.message(said, 1);
  expect(did).toEqual(["request"]);
  did.length = 0;
  handlers[0]?.message(said);
  expect(did).toEqual(["pause"]);
});

it("a request that names nothing is not put to all who share a connection, and is answered", () => {
  const { link, handlers, did } = connected(true);
  let given = 0;
  link.attach({ message: () => (given += 1), lost: () => undefined, closed: () => undefined });
  handlers[0]?.message({ kind: "request", id: 1, method: "elicitation/create", params: {} });
  expect([given, did]).toEqual([0, ["error"]]);
});

const callOf = (id: number, token?: string) =>
  ({
    kind: "request",
    id,
    method: "tools/call",
    params: { name: "build", ...(token === undefined ? {} : { _meta: { progressToken: token } }) },
  }) as const;

/** A user of a connection, and what it was told. */
function user(link: Link) {
  const told: string[] = [];
  const one = {
    message: () => undefined,
    lost: (id: string | number, reason: string) => void told.push(`${id}: ${reason}`),
    closed: () => undefined,
  };
  link.attach(one);
  return { one, told };
}

it.each([true, false])(
  "a request that a server is silent on ends with a reason and a cancel (shared: %s)",
  (shared) => {
    const { link, did, clock } = connected(shared);
    const { one, told } = user(link);
    link.send(one, callOf(7));
    clock.pass(silenceMsMax - 1);
    expect(told).toEqual([]);
    clock.pass(1);
    expect(told).toEqual([
      "7: The server was silent for 30 minutes and was notified to stop. Longer work needs progress or a task.",
    ]);
    expect(did).toEqual(["request", "notification"]);
  },
);

it("a handshake that a server is silent on ends sooner, and is not cancelled", () => {
  const { link, did, clock } = connected(false);
  const { one, told } = user(link);
  link.send(one, { kind: "request", id: 1, method: "initialize", params: {} });
  clock.pass(shortSilenceMsMax);
  expect(told).toHaveLength(1);
  expect(did).toEqual(["request"]);
});

it.each([true, false])("progress gives a request new time, up to a day (shared: %s)", (shared) => {
  const { link, handlers, clock } = connected(shared);
  const { one, told } = user(link);
  link.send(one, callOf(7, "p"));
  const progressToken = shared ? 1 : "p";
  const progress = { kind: "notification", method: "notifications/progress", params: { progressToken } } as const;
  for (let past = 0; past < requestMsMax; past += silenceMsMax / 2) {
    expect(told).toEqual([]);
    handlers[0]?.message(progress);
    clock.pass(silenceMsMax / 2);
  }
  expect(told).toEqual(["7: It took longer than 24 hours, so the server was notified to stop."]);
});

it("a server that waits for an answer of its client does not run out of time", () => {
  const { link, handlers, clock } = connected(false);
  const { one, told } = user(link);
  link.send(one, callOf(7));
  handlers[0]?.message({ kind: "request", id: "q", method: "elicitation/create", params: {} });
  clock.pass(silenceMsMax);
  expect(told).toEqual([]);
  link.send(one, { kind: "response", id: "q", result: {} });
  clock.pass(silenceMsMax);
  expect(told).toHaveLength(1);
});

it.each([undefined, 7])("an answer gives the request that asked its whole time anew (asked for: %s)", (relatedTo) => {
  const { link, handlers, clock } = connected(false);
  const { one, told } = user(link);
  link.send(one, callOf(7));
  clock.pass(silenceMsMax / 2);
  handlers[0]?.message({ kind: "request", id: "q", method: "elicitation/create", params: {} }, relatedTo);
  clock.pass(silenceMsMax / 2 - 1);
  link.send(one, { kind: "response", id: "q", result: {} });
  clock.pass(silenceMsMax - 1);
  expect(told).toEqual([]);
  clock.pass(1);
  expect(told).toHaveLength(1);
});

it("what is answered, cancelled, given up or a stream of changes does not run out of time", () => {
  const { link, handlers, clock, did } = connected(false);
  const { one, told } = user(link);
  for (const id of [1, 2, 3]) link.send(one, callOf(id));
  link.send(one, { kind: "request", id: 4, method: "subscriptions/listen", params: {} });
  handlers[0]?.message({ kind: "response", id: 1, result: {} });
  link.send(one, { kind: "notification", method: "notifications/cancelled", params: { requestId: 2 } });
  link.abandon(one, 3);
  const before = did.length;
  clock.pass(requestMsMax);
  expect(told).toEqual([]);
  expect(did).toHaveLength(before);
});
