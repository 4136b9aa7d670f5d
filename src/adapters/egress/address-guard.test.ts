import fc from "fast-check";
import { expect, test } from "vitest";
import { guarded } from "./address-guard.ts";

test.each([
  ["127.0.0.1", "loopback"],
  ["127.255.0.9", "loopback"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::127.0.0.1", "reserved"],
  ["::", "reserved"],
  ["0.0.0.0", "reserved"],
  ["169.254.169.254", "metadata"],
  ["::ffff:169.254.169.254", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["100.100.100.200", "metadata"],
  ["192.0.0.192", "metadata"],
  ["168.63.129.16", "metadata"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["2002:7f00:0001::1", "loopback"],
  ["169.254.0.1", "link-local"],
  ["fe80::1", "link-local"],
  ["10.1.2.3", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["100.64.0.1", "private"],
  ["fc00::1", "private"],
  ["198.18.0.1", "reserved"],
  ["224.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["2001:db8::1", "reserved"],
  ["2001:0:1::1", "reserved"],
  ["ff02::1", "reserved"],
  ["203.0.114.9", "own-address"],
  ["::ffff:203.0.114.9", "own-address"],
  ["2606:4700::9", "own-address"],
  ["api.example.com", "no-address"],
  ["0x7f.1", "no-address"],
  ["2130706433", "no-address"],
  ["fe80::1%eth0", "no-address"],
])("%s is guarded: %s", (address, why) => {
  expect(guarded(address, ["203.0.114.9", "2606:4700::9", "fe80::2%eth0"])).toBe(why);
});

test.each(["93.184.215.14", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"])(
  "%s is public",
  (address) => {
    expect(guarded(address, ["203.0.114.9"])).toBeUndefined();
  },
);

test("law: an IPv4 address is judged alike in every form of IPv6 that leads to it", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const plain = guarded(address, []);
      expect(guarded(`::ffff:${address}`, [])).toBe(plain);
      expect(guarded(`64:ff9b::${address}`, [])).toBe(plain);
      const groups = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
      expect(guarded(`2002:${groups[0]}${groups[1]}:${groups[2]}${groups[3]}::1`, [])).toBe(plain);
    }),
  );
});

test("law: text is judged without a throw", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV6()), (text) => void guarded(text, [text])));
});
