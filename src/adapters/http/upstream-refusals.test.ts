import { expect, test } from "vitest";
import { UpstreamRefusals } from "./upstream-refusals.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import { UpstreamDelivery } from "./upstream-delivery.ts";

test("a sentence leads back to its refusal, also when it is quoted and cut", () => {
  const refusals = new UpstreamRefusals();
  const first = refusals.keep("api.example", 401, 'Bearer realm="a"');
  const second = refusals.keep("h".repeat(253), 403, undefined);
  expect(refusals.of(`The server \`${"s".repeat(32)}\` is not running. ${first}`.slice(0, 240))).toEqual({
    status: 401,
    challenge: 'Bearer realm="a"',
  });
  expect(refusals.of(`The server went away before it answered (${second}`.slice(0, 240))).toMatchObject({
    status: 403,
  });
});

test("no reference that was not given leads anywhere, nor one to another gateway's refusal", () => {
  const refusals = new UpstreamRefusals();
  const foreign = new UpstreamRefusals().keep("api.example", 401, "Bearer");
  for (const text of ["", "Sign in again (reference 0123456789abcdef)", foreign]) {
    expect(refusals.of(text)).toBeUndefined();
  }
});

test("a challenge that fits no header is left out, and old refusals make room", () => {
  const refusals = new UpstreamRefusals();
  for (const challenge of ["Bearer\r\nset-cookie: a=b", "é", "x".repeat(5_000)]) {
    expect(refusals.of(refusals.keep("h", 401, challenge))).toEqual({ status: 401, challenge: undefined });
  }
  const oldest = refusals.keep("h", 401, "Bearer");
  for (let index = 0; index < 1_024; index += 1) refusals.keep("h", 401, undefined);
  expect(refusals.of(oldest)).toBeUndefined();
});

test.each([
  ["a repeated id", '{"jsonrpc":"2.0","id":1,"id":9,"result":{}}'],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"result":{}}]'],
  ["an id that is none", '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
])("an answer with %s ends its request at once, and no other", (_what, text) => {
  const lost: string[] = [];
  const handler = {
    message: () => undefined,
    lost: (id: unknown) => void lost.push(String(id)),
    closed: () => undefined,
  };
  const how = { wire: defaultWireLimits, diagnostic: () => undefined, received: () => undefined };
  const delivery = new UpstreamDelivery(handler, how);
  delivery.asked(1);
  delivery.asked(2);
  delivery.bytes(new TextEncoder().encode(text), 1);
  expect(lost).toEqual(["1"]);
  expect(delivery.awaits(2)).toBe(true);
});
