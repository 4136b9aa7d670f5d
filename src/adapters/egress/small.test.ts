import { expect, test } from "vitest";
import { EgressRecord, sightingsMax } from "./egress-record.ts";
import { ListenerCollection, listenedPortsMax, portsOf } from "./listeners.ts";
import { brokerAddress } from "./name-files.ts";
import { acknowledgement, everyAddressLocal, loopbackAddress, loopbackUp } from "./netlink.ts";
import { VirtualNames, virtualNamesMax } from "./virtual-names.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("messages to the kernel are those that the program `ip` sends", () => {
  expect(hex(loopbackUp(1))).toBe("20000000100005000100000000000000" + "00000000010000000100000001000000");
  expect(hex(loopbackAddress(3, [198, 18, 0, 1]))).toBe(
    "28000000140005060300000000000000" + "0220000001000000" + "08000200c6120001" + "08000100c6120001",
  );
  expect(hex(everyAddressLocal(2))).toBe(
    "24000000180005060200000000000000" + "02000000ff03fe0200000000" + "0800040001000000",
  );
});

test("an answer of the kernel is read only when it is one to this request", () => {
  const answer = (code: number, sequence = 7, type = 2): Uint8Array => {
    const bytes = Buffer.alloc(20);
    bytes.writeUInt32LE(20, 0);
    bytes.writeUInt16LE(type, 4);
    bytes.writeUInt32LE(sequence, 8);
    bytes.writeInt32LE(code, 16);
    return bytes;
  };
  expect(acknowledgement(answer(0), 7)).toBe(0);
  expect(acknowledgement(answer(-1), 7)).toBe(1);
  expect(acknowledgement(answer(0, 8), 7)).toBeUndefined();
  expect(acknowledgement(answer(0, 7, 3), 7)).toBeUndefined();
  expect(acknowledgement(answer(0).subarray(0, 19), 7)).toBeUndefined();
});

test("ports to listen on: those of the destinations and the two that are watched, bounded", () => {
  expect(portsOf([])).toEqual([80, 443]);
  expect(portsOf(["a.example", "b.example:8443", "[2606:4700::1]:5432", "nonsense:1:2", "c.example:53"])).toEqual([
    80, 443, 5432, 8443,
  ]);
  expect(portsOf(Array.from({ length: 999 }, (_, port) => `a.example:${port + 2_000}`))).toHaveLength(listenedPortsMax);
});

test("only announcements of listeners are taken", () => {
  const collection = new ListenerCollection();
  for (const message of [null, "x", { kind: "other" }, { kind: "egress-listener", transport: "sctp", port: 1 }]) {
    expect(collection.accept(message, undefined)).toBe(false);
  }
  const announced = { kind: "egress-listener", transport: "tcp", port: 80 };
  expect(collection.accept(announced, undefined), "a handle that was lost on the way").toBe(true);
  expect(collection.listeners()).toBeUndefined();
  collection.close();
});

test("each name has one address, until there are too many", () => {
  const names = new VirtualNames();
  expect(names.addressOf("a.example")).toBe("198.18.1.0");
  expect(names.addressOf("b.example")).toBe("198.18.1.1");
  expect(names.addressOf("a.example")).toBe("198.18.1.0");
  expect(names.nameOf("198.18.1.1")).toBe("b.example");
  for (const address of ["198.18.1.2", brokerAddress, "", "b.example", "198.18.1", "::1"]) {
    expect(names.nameOf(address), address).toBeUndefined();
  }
  for (let count = 2; count < virtualNamesMax; count += 1) names.addressOf(`${count}.example`);
  expect(names.addressOf("last.example")).toBeUndefined();
  expect(names.addressOf("a.example")).toBe("198.18.1.0");
});

test("what cannot be kept is told as lost, and texts are fit for a line", () => {
  const record = new EgressRecord(() => 5);
  for (let count = 0; count < sightingsMax + 3; count += 1) {
    record.add({ action: "dns-query", outcome: "denied", domain: "a\n\u001b[31mb", detail: "x".repeat(2_000) });
  }
  const drained = record.drain();
  expect(drained).toHaveLength(sightingsMax + 1);
  expect(drained[0]).toMatchObject({ at: 5, grade: "broker", domain: "a b" });
  expect(drained[0]?.detail).toHaveLength(512);
  expect(drained.at(-1)).toMatchObject({ action: "limit-hit", detail: "egress-events-lost 3" });
  expect(record.drain()).toEqual([]);
});
