import { expect, it } from "vitest";
import type { Message } from "../../wire/message.ts";
import { forwardingClient, forwardingHandler, ForwardingUpstream } from "./forwarding.ts";
import type { UpstreamConnection } from "./transport.ts";

const ping = { kind: "request", id: 1, method: "ping", params: undefined } as const;

it("a connection passes every call on, with its value", async () => {
  const calls: unknown[] = [];
  const drained = Promise.resolve();
  const inner: UpstreamConnection = {
    processGroup: 7,
    projection: undefined,
    send: (message) => calls.push(message),
    abandon: (id) => calls.push(id),
    negotiated: (revision) => calls.push(revision),
    drained: () => drained,
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
    close: async () => void calls.push("close"),
  };
  class Plain extends ForwardingUpstream {
    protected readonly inner = inner;
  }
  const outer = new Plain();
  outer.send(ping);
  outer.abandon(2);
  outer.negotiated("2025-11-25");
  outer.pause();
  outer.resume();
  await outer.close();
  expect([outer.processGroup, outer.projection, outer.drained()]).toEqual([7, undefined, drained]);
  expect(calls).toEqual([ping, 2, "2025-11-25", "pause", "resume", "close"]);
});

it("a handler passes what is not replaced, and lacks what the inner one lacks", () => {
  const got: unknown[] = [];
  const message = (one: Message, relatedTo?: unknown): unknown => got.push(one, relatedTo);
  const closed = (reason: string): unknown => got.push(reason);
  const lost = (id: unknown, reason: string): unknown => got.push(id, reason);
  const full = forwardingHandler(
    { message, lost, runOf: () => "run", unplaced: (...question) => got.push(...question), closed },
    { closed: () => got.push("replaced") },
  );
  full.message(ping, 5);
  full.lost?.(2, "cut");
  full.unplaced?.(ping, ["run"]);
  full.closed("over");
  expect(full.runOf?.(1)).toBe("run");
  expect(got).toEqual([ping, 5, 2, "cut", ping, ["run"], "replaced"]);
  const bare = forwardingHandler({ message, closed }, {});
  expect([bare.lost, bare.runOf, bare.unplaced]).toEqual([undefined, undefined, undefined]);
});

it("a client's handler passes what is not replaced", () => {
  const got: unknown[] = [];
  const exchange = { request: ping, send: () => undefined, respond: () => undefined, onAbandoned: () => undefined };
  const inner = { request: () => got.push("request"), message: () => got.push("message"), closed: got.push.bind(got) };
  const outer = forwardingClient(inner, { request: (one) => got.push(one.request.method) });
  outer.request(exchange);
  outer.message({ kind: "notification", method: "x", params: undefined });
  outer.closed("over");
  expect(got).toEqual(["ping", "message", "over"]);
});
