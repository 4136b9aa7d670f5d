import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { BodyReader } from "./http-body.ts";
import { defaultHttpLimits } from "./http-limits.ts";

/** A request whose body has begun and not ended. */
function begun(bytes: number): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.push(Buffer.alloc(bytes));
  return request;
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

it("one user's bodies take half of the room at most, and give it back", async () => {
  const reader = new BodyReader({ ...defaultHttpLimits, bodyBytesMax: 100, bodiesBytesMax: 200 });
  const [slow, other] = [begun(90), begun(90)];
  const waiting = reader.read(slow, "greedy");
  await turn();
  expect(await reader.read(begun(20), "greedy")).toMatchObject({ ok: false, error: { status: 503 } });
  const honest = reader.read(other, "honest");
  other.push(null);
  expect(await honest).toMatchObject({ ok: true });
  slow.push(null);
  expect(await waiting).toMatchObject({ ok: true });
  const again = begun(90);
  again.push(null);
  expect(await reader.read(again, "greedy")).toMatchObject({ ok: true });
});
