// What else loosens demands the factor of the policy as `approve` does: clean runs, accepted risks, resets, held changes.
import { afterEach, beforeEach, expect, test } from "vitest";
import { factorOnRecord } from "../../src/app/factors/factor-on-record.ts";
import { Device } from "./fixture/device.ts";
import { GuardedClient, asking } from "./fixture/guarded-client.ts";

let desk: GuardedClient;
let device: Device;
beforeEach(async () => {
  [desk, device] = [new GuardedClient(), new Device()];
  expect(await device.enrol(desk)).toContain("Enrolled");
  await desk.begin("{factor: device}");
});
afterEach(() => desk.dispose());

type Runs = { readonly runs: readonly { readonly run: string }[] };
const openRun = async (): Promise<string> => ((await desk.json("runs")).value as Runs).runs[0]?.run ?? "none";

test("A9: no act that loosens passes without the proof, neither as a command nor over the socket", async () => {
  await desk.write();
  const run = await openRun();
  for (const words of [
    ["runs", "new"],
    ["runs", "close", run],
    ["runs", "accept", run, "H1", "desk.write"],
    ["changes", "apply", "c1"],
  ]) {
    expect(await desk.json(...words), words.join(" ")).toMatchObject({
      code: 2,
      value: { error: { code: "SG-FACTOR" } },
    });
  }
  const process = ((await desk.json("daemon", "status")).value as { readonly daemon: { readonly pid: number } }).daemon
    .pid;
  const bare = [
    `{ kind: "runs-new" }`,
    `{ kind: "runs-close", run: "${run}" }`,
    `{ kind: "runs-accept", run: "${run}", hazard: "H1", move: "desk.write" }`,
    `{ kind: "stores-reset", owner: "os:0", process: ${process}, mark: "x" }`,
    `{ kind: "changes-apply", id: "c1", over: false, factor: "none" }`,
  ];
  for (const request of bare)
    expect(await desk.byAgentProgram(asking(request)), request).toContain("needs a code of your device");
  expect(await openRun()).toBe(run);
});

test("A9: the factor of a run is known from the log where no gateway runs any more", async () => {
  await desk.write();
  const run = await openRun();
  await desk.finish(["daemon", "stop"]);
  expect(await factorOnRecord(desk.env, run)).toBe("device");
  expect(await factorOnRecord(desk.env, "another")).toBeUndefined();
});

test("A9: with the proof each is done, and the log names act and factor", async () => {
  await desk.write();
  const run = await openRun();
  const closed = await desk.finish(["runs", "close", run, "--code", await device.code()]);
  expect(closed.stdout).toContain("is closed");
  const clean = await desk.finish(["runs", "new", "--code", await device.code()]);
  expect(clean.stdout).toContain("clean run");
  const { views, valid } = await desk.log();
  const proved = views.filter(({ kind }) => kind === "proved").map(({ clear }) => clear);
  expect(proved).toMatchObject([
    { notes: { act: "runs-close", role: "operator:device" } },
    { notes: { act: "runs-new", role: "operator:device" } },
  ]);
  expect(valid).toBe(true);
  expect((await desk.finish(["audit", "tail"])).stdout).toContain("runs-new, by os:");
});
