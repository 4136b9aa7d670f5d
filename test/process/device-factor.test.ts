// `approvals.factor: device`: a code that another device shows, enrolled once, and what an agent can do without it.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Device } from "./fixture/device.ts";
import { GuardedClient, asking, has } from "./fixture/guarded-client.ts";

let desk: GuardedClient;
let device: Device;
const nextCode = (): Promise<string> => device.code();

beforeEach(async () => {
  [desk, device] = [new GuardedClient(), new Device()];
  expect(await device.enrol(desk)).toContain("Enrolled");
  await desk.begin("{factor: device}");
});
afterEach(() => desk.dispose());

test("A9: a code of the device approves once, and the log names the factor", async () => {
  const id = await desk.card();
  const given = await nextCode();
  expect((await desk.finish(["approve", id, "--code", given])).stdout).toContain("Approved");
  expect(await desk.write()).toBe("written a");
  const { views } = await desk.log();
  expect(JSON.stringify(views)).toContain("operator:device");
  // The same code is no consent to another call.
  const other = await desk.card("b");
  expect((await desk.finish(["approve", other, "--code", given])).stderr).toContain("used already");
  expect(await desk.write("b")).toMatch(/^! Not executed/);
});

test("A9: without a code nothing is approved, and refusing needs none", async () => {
  const id = await desk.card();
  const plain = await desk.json("approve", id);
  expect(plain).toMatchObject({ code: 2, value: { error: { code: "SG-FACTOR" } } });
  expect(JSON.stringify(plain.value)).toContain("add `--code`");
  expect((await desk.finish(["approve", id, "--code", "000000"])).stderr).toContain("not the one");
  expect(await desk.write()).toMatch(/^! Not executed/);
  expect((await desk.finish(["approve", id, "--refuse"])).stdout).toContain("Refused");
});

test("one code approves all calls that the command names", async () => {
  const ids = [await desk.card("a"), await desk.card("b")];
  const done = await desk.finish(["approve", ...ids, "--code", await nextCode()]);
  expect(done.stdout.match(/Approved/g)).toHaveLength(2);
  expect([await desk.write("a"), await desk.write("b")]).toEqual(["written a", "written b"]);
});

test("A9: a child of the client neither enrols another device, nor removes this one, nor asks the socket", async () => {
  const id = await desk.card();
  for (const words of [
    ["factor", "add", "device"],
    ["factor", "remove", "device"],
  ]) {
    expect(await desk.byAgent(`${desk.line(...words)} < /dev/null`)).toContain("needs a code of your device");
  }
  const bare = asking(`{ kind: "approve", id: "${id}", choice: "once", tickets: ["x"] }`);
  expect(await desk.byAgentProgram(bare)).toContain("needs a code of your device");
  if (has("script"))
    expect(
      await desk.byAgent(`script -qec "${desk.line("approve", id, "--code", "000000")}" OUT < /dev/null`),
    ).toContain("not the one");
  expect(await desk.write()).toMatch(/^! Not executed/);
});

test("A9: where a client is guarded, its children enrol no first device either", async () => {
  await desk.finish(["factor", "remove", "device", "--code", await nextCode()]);
  const id = await desk.card();
  expect((await desk.finish(["approve", id])).stderr).toContain("`sluicegate factor add device`");
  expect(await desk.byAgent(`${desk.line("factor", "add", "device")} < /dev/null`)).toContain(
    "no controlling terminal",
  );
});
