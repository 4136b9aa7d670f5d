// Cards that cannot be read: such a card says so, and an approver cannot approve what the card does not show.
import { userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { openMemoryStore } from "../../adapters/store/memory.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { readJsonObject } from "../../gateway/log/json-text.ts";
import type { Composition } from "./composition.ts";
import { control } from "./control.ts";
import { Waiters } from "./waiters.ts";

const expiresWallMs = Date.UTC(2100, 0, 1);
const whole = {
  approval: "a1",
  title: "Sluicegate asks",
  lines: ["It leaves the machine."],
  server: "mail",
  tool: "send",
  arguments: '{"to":"ann"}',
  risks: ["leak host.send"],
  endorses: ["d1"],
  choices: ["once", "value", "refuse"],
  by: "anyone",
};

/** A gateway in which one call waits, with this card; without one the card cannot be opened. */
async function waitsWith(
  card: JsonObject | undefined,
  principal = "ann",
): Promise<(request: Json) => Promise<unknown>> {
  const store = openMemoryStore();
  const match = { run: "r1", principal, server: "mail", tool: "send", argumentDigest: "d", policyDigest: "p" };
  const sealed = new TextEncoder().encode(JSON.stringify(card));
  await store.createApproval({ ...match, id: "a1", createdWallMs: 1, expiresWallMs, status: "pending", card: sealed });
  const log = { store, open: (_run: string, bytes: Uint8Array) => readJsonObject(new TextDecoder().decode(bytes)) };
  const clock = { wallMs: Date.now };
  const gateway = { state: { services: { clock } }, runs: { find: () => undefined }, ruled: () => undefined };
  // The requests about approvals touch only these.
  const composition = { log, gateway, waiters: new Waiters(() => undefined) } as unknown as Composition;
  const context = undefined as never; // of `approve-watch` alone
  return (request) => control(composition, request, context);
}

const damages: readonly (readonly [string, JsonObject | undefined])[] = [
  ["cannot be opened", undefined],
  ...Object.keys(whole).map((name) => [`has no text or list as ${name}`, { ...whole, [name]: 7 }] as const),
  ["has a line that is no text", { ...whole, lines: ["It leaves the machine.", {}] }],
  ["has a risk that is no text", { ...whole, risks: [null] }],
  ["is of another approval", { ...whole, approval: "a2" }],
];
// The store has its own columns for these two; the card only repeats them.
const unreadable = damages.filter(([name]) => !/ as (server|tool)$/.test(name));

describe("a card", () => {
  it("that can be read is shown with all its members, and is approved", async () => {
    const ask = await waitsWith(whole);
    const { by: _by, approval: _approval, endorses: _endorses, ...shown } = whole;
    expect(await ask({ kind: "approvals" })).toMatchObject({ value: { approvals: [{ id: "a1", ...shown }] } });
    expect(await ask({ kind: "approve", id: "a1", choice: "value" })).toMatchObject({ ok: true });
  });

  it.each(unreadable)(
    "that %s is shown as a card that cannot be read, with its id and the way on",
    async (_name, card) => {
      const ask = await waitsWith(card);
      expect(await ask({ kind: "approvals" })).toEqual({
        ok: true,
        value: {
          approvals: [
            {
              id: "a1",
              run: "r1",
              server: "mail",
              tool: "send",
              status: "pending",
              expires: "2100-01-01T00:00:00.000Z",
              title: "This card cannot be read.",
              lines: [
                "It can only be refused: `sluicegate approve a1 --refuse`.",
                "After 2100-01-01T00:00:00.000Z, repeat the call to get a new card.",
              ],
              choices: ["refuse"],
            },
          ],
        },
      });
    },
  );

  it.each(unreadable)("that %s can be refused and not approved", async (_name, card) => {
    const ask = await waitsWith(card, `os:${userInfo().uid}`);
    const error =
      "The card of approval `a1` cannot be read, so it can only be refused. After it has expired, repeat the call to get a new card.";
    for (const choice of ["once", "value"]) {
      expect(await ask({ kind: "approve", id: "a1", choice })).toEqual({ ok: false, error });
    }
    expect(await ask({ kind: "approve", id: "a1", choice: "refuse" })).toMatchObject({ ok: true });
  });
});
