/** Grants that begin and end, quotas, and ends of the broker in the middle of things: nobody hangs. */
import { afterEach, describe, expect, test } from "vitest";
import { connectionsMax } from "../../../src/adapters/egress/arrivals.ts";
import { closeDatagrams } from "../../../src/adapters/egress/listeners.ts";
import { largeBytes, publicAddress } from "./fixture/internet.ts";
import { missing } from "./fixture/network.ts";
import { openScene, type Scene, told } from "./fixture/scene.ts";

const why = missing();
if (why !== undefined) console.log(`skipped: ${why}`);

let scene: Scene;
afterEach(() => scene?.close());

const late = "late.example.com";
const raw = (send: readonly string[]) => ({ kind: "tcp", host: late, port: 5432, send }) as const;

async function until(holds: () => boolean): Promise<void> {
  for (let count = 0; count < 500 && !holds(); count += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(holds(), "waited in vain").toBe(true);
}

describe.skipIf(why !== undefined)("bounds in time and bytes", () => {
  test("a grant opens a name and its end closes what it opened", async () => {
    scene = await openScene({ allow: [], tools: [`${late}:5432`] });
    const { network, broker, internet } = scene;
    const [before] = await network.client([raw(["x"])]);
    expect(before?.how).toBe("ENOTFOUND");
    broker.grant("call 1", [`${late}:5432`]);
    const open = network.client([raw(["held"])]);
    await until(() => internet.received === 4);
    broker.revoke("call 1");
    const [cut] = await open;
    // What was sent back may have been on its way still.
    expect(cut?.text).toMatch(/^(?:held)?$/);
    expect(cut?.how).toMatch(/end|ECONNRESET/);
    const [after] = await network.client([raw(["x"])]);
    expect(after?.how).toBe("ENOTFOUND");
    expect(internet.received).toBe(4);
    const sent = broker.drain().find(({ action }) => action === "net-send");
    expect(sent).toMatchObject({ domain: late, port: 5432, bytes: 4 });
  });

  test("a grant that ends while a name is being resolved connects to nothing any more", async () => {
    let answer: ((addresses: readonly string[]) => void) | undefined;
    const resolver = (): Promise<readonly string[]> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    scene = await openScene({ allow: [], tools: [`${late}:5432`], resolver });
    const { network, broker, internet } = scene;
    broker.grant("call 1", [`${late}:5432`]);
    const pending = network.client([raw(["x"])]);
    await until(() => answer !== undefined);
    broker.revoke("call 1");
    answer?.([publicAddress]);
    expect((await pending)[0]?.how).toBe("ECONNRESET");
    expect(internet.received).toBe(0);
    expect(told(broker.drain())).toContain(`net-connect denied ${late} 5432 egress-not-granted-now`);
  });

  test("an address that was learned in one call is of no use in the next", async () => {
    scene = await openScene({ allow: [], tools: [`${late}:5432`] });
    const { network, broker } = scene;
    broker.grant("call 1", [`${late}:5432`]);
    const [known] = await network.client([{ kind: "lookup", name: late }]);
    broker.revoke("call 1");
    const [refused] = await network.client([{ kind: "tcp", host: known?.text ?? "", port: 5432, send: ["x"] }]);
    expect(refused?.how).toBe("ECONNRESET");
    expect(told(broker.drain())).toContain(`net-connect denied ${late} 5432 egress-not-granted-now`);
  });

  test("the quota of a call cuts at the byte, and the next call has its own", async () => {
    scene = await openScene({ allow: [`${late}:80`, `${late}:5432`], callBytesMax: 200_000 });
    const { network, broker, internet } = scene;
    broker.grant("call 1", []);
    const outcomes = await network.client([{ kind: "fetch", url: `http://${late}/large` }, raw(["x", "end"])]);
    expect(outcomes.map(({ how }) => how)).toEqual([expect.stringMatching(/ECONNRESET|terminated/), "ECONNRESET"]);
    const seen = told(broker.drain());
    expect(seen.filter((line) => line.startsWith("limit-hit"))).toEqual([
      `limit-hit denied ${late} 80 egress-call-bytes`,
    ]);
    expect(seen).toContain(`net-connect denied ${late} 5432 egress-call-bytes`);
    broker.revoke("call 1");
    broker.grant("call 2", []);
    const [outcome] = await network.client([raw(["x", "end"])]);
    expect(outcome?.text).toBe("xgoodbye");
    const [flooded] = await network.client([raw(["endless"])]);
    expect(flooded?.how).toMatch(/ECONNRESET|EPIPE/);
    expect(internet.received).toBeLessThanOrEqual(200_000);
  });

  test("the quota of a server ends its network for good, outside of calls as well", async () => {
    scene = await openScene({ allow: [`${late}:80`, `${late}:5432`], serverBytesMax: largeBytes / 2 });
    const { network, broker } = scene;
    const steps = [{ kind: "fetch", url: `http://${late}/large` } as const, raw(["x", "end"])];
    await network.client(steps);
    broker.grant("call", []);
    broker.revoke("call");
    const [again] = await network.client([raw(["x", "end"])]);
    expect(again?.how).toBe("ECONNRESET");
    expect(told(broker.drain())).toContain(`limit-hit denied ${late} 80 egress-server-bytes`);
  });

  test("a transfer in full is whole, and as fast as the slower side", async () => {
    scene = await openScene({ allow: [`${late}:80`] });
    const [outcome] = await scene.network.client([{ kind: "fetch", url: `http://${late}/large` }]);
    expect(outcome).toMatchObject({ how: "200", bytes: largeBytes });
  });

  test.each([
    ["questions", "questions for names"],
    ["questions over streams", "questions for names"],
    ["connections", "connections"],
  ] as const)("a flood of %s ends the network of the server, in a sentence", async (kind, words) => {
    // Far below what is sent: on a busy machine the kernel drops most datagrams and delays connections.
    scene = await openScene({ allow: [`${late}:5432`], perSecondMax: { questions: 20, connections: 20 } });
    const { network, broker } = scene;
    await network.client([{ kind, count: 1_500 }]);
    expect(broker.failure).toBe(`The server's network broke: it was flooded with ${words}. Restart the server.`);
    expect(
      told(broker.drain())
        .filter((line) => line.startsWith("limit-hit"))
        .join(),
    ).toContain(`egress-flood ${words}`);
    expect((await network.client([raw(["x"])]))[0]?.how).toMatch(/EAI_AGAIN|ENOTFOUND|ECONNREFUSED/);
  });

  test("a broker that closes ends every connection, and nothing is reached after", async () => {
    scene = await openScene({ allow: [`${late}:80`, `${late}:5432`] });
    const { network, broker, internet } = scene;
    const transfers = network.client([
      { kind: "fetch", url: `http://${late}/slow` },
      { kind: "tcp", host: "198.18.1.0", port: 5432, send: ["x"] },
    ]);
    await until(() => internet.connected.length === 1);
    broker.close();
    broker.close();
    expect(() => closeDatagrams(network.listeners.dns), "the launcher may clean up after it").not.toThrow();
    const outcomes = await transfers;
    expect(outcomes[0]?.how).toMatch(/ECONNRESET|terminated|UND_ERR_SOCKET/);
    expect(outcomes[1]?.how).toBe("ECONNREFUSED");
  });

  test("connections beyond the limit are reset, and those within it live on", async () => {
    scene = await openScene({ allow: [`${late}:5432`] });
    const script = `const net = require("node:net"); const open = []; let reset = 0;
      for (let n = 0; n < ${connectionsMax + 20}; n += 1) {
        const one = net.connect(5432, "${late}"); open.push(one);
        one.on("error", () => { reset += 1; if (reset === 20) speak(); });
      }
      function speak() {
        const alive = open.filter((one) => !one.destroyed);
        alive[0].once("data", (echo) => { console.log(JSON.stringify([alive.length, reset, String(echo)])); process.exit(0); });
        alive[0].write("still here");
      }`;
    const outcome = await scene.network.run(process.execPath, ["-e", script]);
    expect(JSON.parse(outcome.stdout)).toEqual([connectionsMax, 20, "still here"]);
    expect(told(scene.broker.drain())).toContain("net-connect denied - 5432 egress-connections-max");
  });
});
