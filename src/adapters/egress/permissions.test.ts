import { expect, test } from "vitest";
import { canonicalDestination, Permissions } from "./permissions.ts";

const at = (host: string, port = 443): { host: string; port: number } => ({ host, port });

test("the scope of the server holds always, a grant until its call ends", () => {
  const permissions = new Permissions(["*.example.com:443"], ["api.example.net:443", "10.0.0.7:80"]);
  expect(permissions.allows(at("a.example.com"))).toBe(true);
  expect(permissions.allows(at("a.example.com", 80))).toBe(false);
  expect(permissions.allowsName("a.example.com")).toBe(true);
  expect(permissions.allows(at("example.com"))).toBe(false);
  permissions.grant("1", ["api.example.net:443"]);
  permissions.grant("1", ["10.0.0.7:80"]);
  permissions.grant("2", ["api.example.net:443"]);
  permissions.revoke("1");
  expect(permissions.allows(at("api.example.net")), "another call still has it").toBe(true);
  expect(permissions.allows(at("10.0.0.7", 80))).toBe(false);
  permissions.revoke("2");
  permissions.revoke("never granted");
  expect(permissions.allows(at("api.example.net"))).toBe(false);
});

test("a refusal tells never from not now", () => {
  const permissions = new Permissions([], ["api.example.net:443", "10.0.0.7:80"]);
  expect(permissions.refusal(at("api.example.net"))).toBe("egress-not-granted-now");
  expect(permissions.refusal(at("api.example.net", 80))).toBe("egress-not-in-scope");
  expect(permissions.refusal(at("10.0.0.7", 80))).toBe("egress-not-granted-now");
  expect(permissions.refusal(at("10.0.0.8", 80))).toBe("egress-address-not-listed");
  expect(permissions.refusalOfName("api.example.net")).toBe("egress-not-granted-now");
  expect(permissions.refusalOfName("api.example.org")).toBe("egress-not-in-scope");
});

test("what is no pattern grants nothing", () => {
  const permissions = new Permissions(["*", "*:443", "", "0.0.0.0/0:443", "a.example:99999"], []);
  for (const host of ["a.example", "93.184.215.14"]) expect(permissions.allows(at(host))).toBe(false);
});

test("one spelling of a host", () => {
  expect(canonicalDestination("API.Example.com.")).toBe("api.example.com");
  expect(canonicalDestination("127.0.0.1")).toBe("127.0.0.1");
  expect(canonicalDestination("0x7f.1")).toBeUndefined();
});

test("a server that is only watched reaches every public name at usual ports, and nothing that is guarded", () => {
  const permissions = new Permissions(["10.0.0.7:443"], [], [443]);
  for (const host of ["example.com", "93.184.215.14"]) {
    expect(permissions.allows(at(host))).toBe(true);
    expect(permissions.names(at(host)), "a guarded address behind it stays shut").toBe(false);
    expect(permissions.allows(at(host, 8443))).toBe(false);
  }
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "10.0.0.8", "169.254.169.254", "::1"]) {
    expect(permissions.allows(at(host)), host).toBe(false);
  }
  expect(permissions.allows(at("10.0.0.7"))).toBe(true);
  expect(permissions.allowsName("example.com")).toBe(true);
  expect(permissions.allowsName("localhost")).toBe(false);
});
