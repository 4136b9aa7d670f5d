// The one way in which what stores hold is forgotten: by a person, on record, and never under an open run.
import { describe, expect, it } from "vitest";
import { fakePolicy, fakeState } from "../../../test/kit/gateway/fake-policy.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";
import { member } from "../../core/json.ts";
import { type KnownStores, type RowReader, type StoreReset, knownStores, resetStores } from "./store-resets.ts";

/** The one store of the fake policy is a number; 0 is what it declares. */
const reader: RowReader = {
  inWords: (value) => {
    const held = member(value, "shared");
    const words = { store: "store", label: `${JSON.stringify(held)}`, audience: ["me"], open: ["anyone"] };
    return typeof held === "number" ? [words] : undefined;
  },
  without: (_value, store) => (store === "store" ? { shared: 0 } : undefined),
  nothing: { shared: 0 },
};

const reset: StoreReset = { owner: "", store: "store", by: "os:7", asShown: () => true };

async function tainted(): Promise<{ stage: Stage; owner: string; key: string }> {
  const stage = new Stage({ policy: fakePolicy() });
  await callTool(stage, stage.client, "write_store");
  const [live] = [...stage.gateway.runs.all()];
  return { stage, owner: live?.principal ?? "", key: live?.key ?? "" };
}

async function closed(): Promise<{ stage: Stage; owner: string }> {
  const { stage, owner } = await tainted();
  for (const live of stage.gateway.runs.all()) await stage.gateway.runs.end(live, "closed");
  return { stage, owner };
}

/** What a run that begins now finds in the store. */
async function found(stage: Stage): Promise<number | undefined> {
  await callTool(stage, stage.client, "read_file");
  return [...stage.gateway.runs.all()].map(({ state }) => fakeState(state.q).shared)[0];
}

describe("what is known of stores", () => {
  it("is listed by owner, newest from memory", async () => {
    const { stage, owner } = await tainted();
    const row = { owner: "a", policyDigest: "", top: false, value: { shared: 5 } };
    stage.log.shared.set("a", row);
    stage.log.shared.set(owner, { ...row, owner, value: { shared: 0 } });
    const known = await knownStores(stage.gateway.state, reader);
    expect(known.ok && known.value.map((one) => [one.row.owner, one.lost, one.stores[0]?.label])).toEqual([
      ["a", false, "5"],
      [owner, false, "1"],
    ]);
  });
});

describe("a reset", () => {
  it("lets new runs begin as declared, with who did it and what was, in one append", async () => {
    const { stage, owner } = await closed();
    const before = stage.log.entries.length;
    const shown: KnownStores[] = [];
    const asShown = (known: KnownStores): boolean => shown.push(known) > 0;
    expect(await resetStores(stage.gateway.state, reader, { ...reset, owner, asShown })).toEqual({
      ok: true,
      value: undefined,
    });
    expect(shown[0]?.stores[0]?.label).toBe("1");
    expect(stage.log.entries.slice(before)).toMatchObject([
      {
        run: "",
        kind: "stores-reset",
        events: [],
        context: { principal: owner },
        notes: { by: "os:7", role: "operator", stores: "store", lost: false, was: [{ label: "1", open: ["anyone"] }] },
      },
    ]);
    expect(stage.log.shared.get(owner)).toMatchObject({ top: false, value: { shared: 0 } });
    expect(await found(stage)).toBe(0);
  });

  it("is refused while a run of the owner is open: live, of an earlier start, or only in the log", async () => {
    const { stage, owner, key } = await tainted();
    const { state, runs } = stage.gateway;
    expect(await resetStores(state, reader, { ...reset, owner })).toMatchObject({
      ok: false,
      error: expect.stringContaining(`\`sluicegate runs close ${key}\``),
    });
    for (const live of runs.all()) await runs.end(live, "closed");
    const old = {
      key: "x".repeat(81),
      principal: owner,
      policyDigest: "",
      begunWallMs: 0,
      idleExpiresWallMs: 0,
      top: false,
      resume: {},
    };
    stage.log.runs.set(old.key, old);
    expect(await resetStores(state, reader, { ...reset, owner })).toMatchObject({
      ok: false,
      error: expect.stringContaining("daemon stop"),
    });
    runs.dormant.load([old]);
    const refused = await resetStores(state, reader, { ...reset, owner });
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining("`sluicegate runs close ID`") });
    stage.log.runs.delete(old.key);
    runs.dormant.forget(old.key);
    expect((await resetStores(state, reader, { ...reset, owner })).ok).toBe(true);
  });

  it("does nothing where the append fails, and says so", async () => {
    const { stage, owner } = await closed();
    stage.log.failing = true;
    const { state } = stage.gateway;
    const failed = await resetStores(state, reader, { ...reset, owner });
    expect(failed).toMatchObject({ ok: false, error: expect.stringContaining("nothing was reset") });
    stage.log.port.append = () => Promise.reject(new Error("gone"));
    expect(await resetStores(state, reader, { ...reset, owner })).toEqual(failed);
    expect(stage.log.shared.get(owner)?.value).toEqual({ shared: 1 });
    expect(await state.runs.shared.row(owner)).toMatchObject({ ok: true, value: { value: { shared: 1 } } });
  });

  it("holds back a run that begins meanwhile, and a second reset", async () => {
    const { stage, owner } = await closed();
    let open = (): void => undefined;
    stage.log.gate = new Promise((resolve) => (open = resolve));
    const { state } = stage.gateway;
    const first = resetStores(state, reader, { ...reset, owner });
    await new Promise((resolve) => setTimeout(resolve, 1));
    const begun = found(stage);
    const second = resetStores(state, reader, { ...reset, owner });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect([...stage.gateway.runs.all()].map((live) => live.ready !== undefined)).toEqual([true]);
    stage.log.gate = undefined;
    open();
    expect((await first).ok).toBe(true);
    expect(await begun).toBe(0);
    expect((await second).ok).toBe(false);
  });

  it("is one at a time", async () => {
    const { stage, owner } = await closed();
    const both = [1, 2].map(() => resetStores(stage.gateway.state, reader, { ...reset, owner }));
    expect(await Promise.all(both)).toMatchObject([
      { ok: true },
      { ok: false, error: expect.stringContaining("on its way") },
    ]);
  });

  it("is refused for what nobody knows, and for what changed after it was shown", async () => {
    const { stage, owner } = await closed();
    const { state } = stage.gateway;
    const unknown = { ok: false, error: expect.stringContaining("Nothing is known") };
    expect(await resetStores(state, reader, { ...reset, owner: "nobody" })).toMatchObject(unknown);
    expect(await resetStores(state, reader, { ...reset, owner, store: "other" })).toMatchObject(unknown);
    const stale = await resetStores(state, reader, { ...reset, owner, asShown: () => false });
    expect(stale).toMatchObject({ ok: false, error: expect.stringContaining("have changed") });
    expect(stage.log.shared.get(owner)?.value).toEqual({ shared: 1 });
  });

  it.each([
    { top: true, value: { shared: 1 } },
    { top: false, value: { shared: "?" } },
  ])("of what was lost is of all stores at once (%j)", async (lost) => {
    const stage = new Stage({ policy: fakePolicy() });
    const { state } = stage.gateway;
    stage.log.shared.set("os:1", { owner: "os:1", policyDigest: "", ...lost });
    expect(await resetStores(state, reader, { ...reset, owner: "os:1" })).toMatchObject({
      ok: false,
      error: expect.stringContaining("`sluicegate stores reset --all`"),
    });
    expect((await resetStores(state, reader, { ...reset, owner: "os:1", store: undefined })).ok).toBe(true);
    expect(stage.log.entries.at(-1)?.notes).toMatchObject({ stores: "all", lost: true });
    expect(stage.log.shared.get("os:1")).toMatchObject({ top: false, value: { shared: 0 } });
  });
});
