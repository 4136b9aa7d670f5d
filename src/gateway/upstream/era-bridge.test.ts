import { expect, it } from "vitest";
import { FakeClock } from "../../../test/kit/gateway/playbook.ts";
import type { Message } from "../../wire/message.ts";
import { bridgedConnector } from "./era-bridge.ts";
import { waitingRequestsMax } from "../ports/limits.ts";
import type { UpstreamConnection, UpstreamHandler } from "../ports/transport.ts";

const ping = (id: number): Message => ({ kind: "request", id, method: "ping", params: undefined });

/** A connection whose server has not said yet of which era it is. */
function starting() {
  const [sent, got]: [Message[], Message[]] = [[], []];
  const handlers: UpstreamHandler[] = [];
  const inner: UpstreamConnection = {
    send: (message) => sent.push(message),
    abandon: () => undefined,
    negotiated: () => undefined,
    drained: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => undefined,
  };
  const connector = { connect: (_target: unknown, handler: UpstreamHandler) => (handlers.push(handler), inner) };
  const handler: UpstreamHandler = {
    message: (message) => got.push(message),
    runOf: (id) => `run of ${id}`,
    closed: () => undefined,
  };
  const target = { kind: "http", url: "http://127.0.0.1/", flavour: "auto", headers: {} } as const;
  const bridge = bridgedConnector(connector, new FakeClock()).connect(target, handler);
  bridge.send({ kind: "request", id: "i", method: "initialize", params: {} });
  const started = (): void => handlers[0]?.message({ kind: "response", id: "i", result: {} });
  return { bridge, sent, got, started, handlers };
}

it("a request beyond those that may wait for the era gets an error, and the others are sent", async () => {
  const { bridge, sent, got, started } = starting();
  for (let id = 0; id <= waitingRequestsMax; id += 1) bridge.send(ping(id));
  expect(got).toEqual([]);
  await Promise.resolve();
  expect(got).toMatchObject([{ kind: "error", id: waitingRequestsMax }]);
  started();
  expect(sent).toHaveLength(1 + waitingRequestsMax);
});

it("a request that is given up while it waits is never sent", () => {
  const { bridge, sent, started } = starting();
  for (const id of [1, 2, 3]) bridge.send(ping(id));
  bridge.send({ kind: "notification", method: "notifications/cancelled", params: { requestId: 1 } });
  bridge.abandon(3);
  started();
  expect(sent).toMatchObject([{ id: "i" }, { id: 2 }]);
});

it("the transport below learns the run of a request that passes as it is", () => {
  const { started, handlers } = starting();
  started();
  expect(handlers[0]?.runOf?.(4)).toBe("run of 4");
});
