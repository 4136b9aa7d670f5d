import fc from "fast-check";
import { expect, test } from "vitest";
import { inspectFirstBytes, mustSpeakFirst } from "./first-bytes.ts";

const api = "api.example.com";
const inspect = (port: number, text: string, host = api): string => {
  const inspection = inspectFirstBytes({ host, port }, Buffer.from(text, "latin1"));
  return inspection.kind === "refused" ? inspection.rule : inspection.kind;
};
const request = (host: string, target = "/"): string => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

test("C21: a refusal says which host was asked for, as it was written, and nothing where none was", () => {
  const asked = (port: number, text: string): string | undefined => {
    const inspection = inspectFirstBytes({ host: api, port }, Buffer.from(text, "latin1"));
    return inspection.kind === "refused" ? inspection.asked : inspection.kind;
  };
  expect(asked(80, request("b.example"))).toBe("b.example");
  expect(asked(80, request("10.0.0.1:99"))).toBe("10.0.0.1:99");
  expect(asked(80, request(api, "http://b.example/"))).toBe("b.example");
  expect(asked(80, request(`${api}:443`))).toBe(`${api}:443`);
  expect(asked(80, `CONNECT b.example:22 HTTP/1.1\r\nHost: ${api}\r\n\r\n`)).toBe("b.example:22");
  expect(asked(8080, request("not a host"))).toBe("not a host");
  expect([asked(80, request("")), asked(80, "SSH-2.0\r\n"), asked(443, request(api))]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("on 80 the host must be the name, in field and target, with this port or none", () => {
  for (const host of [api, "API.example.com", `${api}:80`, `${api}.`])
    expect(inspect(80, request(host)), host).toBe("pass");
  expect(inspect(80, request(api, `http://${api}/x`))).toBe("pass");
  expect(inspect(80, request(`${api}:443`))).toBe("egress-host-differs");
  expect(inspect(80, request(api, "http://b.example/"))).toBe("egress-host-differs");
  expect(inspect(80, request(api, `http://${api}@b.example/`))).toBe("egress-host-differs");
  expect(inspect(80, request("not a host"))).toBe("egress-host-differs");
  expect(inspect(80, request(""))).toBe("egress-host-absent");
  expect(inspect(80, "GET / HTTP/1.0\r\n\r\n")).toBe("egress-host-absent");
  expect(inspect(80, "GET / HTTP/1.1\r\nHost")).toBe("more");
  expect(inspect(80, "GET\n")).toBe("egress-not-http");
  expect(inspect(80, "GET /\n")).toBe("egress-malformed-request");
});

test("on 443 nothing but TLS passes", () => {
  expect(inspect(443, request(api))).toBe("egress-not-tls");
  expect(inspect(443, "\x16\x03\x01\0\0")).toBe("egress-malformed-hello");
  expect(inspect(443, "\x16")).toBe("more");
});

test("elsewhere every protocol passes that does not contradict the name", () => {
  expect(inspect(8080, request(`${api}:8080`))).toBe("pass");
  expect(inspect(8080, request(api))).toBe("pass");
  expect(inspect(8080, request("b.example"))).toBe("egress-host-differs");
  expect(inspect(5432, "\0\0\0\bstart")).toBe("pass");
  expect(inspect(25, "EHLO there\r\n")).toBe("pass");
  expect(inspect(25, "GET nothing\r\n")).toBe("pass");
  expect(inspect(22, "SSH-2.0-x\r\n")).toBe("pass");
  expect(inspect(6379, "*1\r\n$4\r\nPING\r\n")).toBe("pass");
  expect(inspect(6379, "PING\r\n")).toBe("pass");
  expect(inspect(6379, "\x16\x03\x01\0\0")).toBe("egress-malformed-hello");
  expect(inspect(8080, "GE")).toBe("more");
});

test("elsewhere what claims to be HTTP or TLS is read as that, however it is written", () => {
  const other = request("b.example");
  expect(inspect(8080, `\r\n${other}`)).toBe("egress-not-http");
  expect(inspect(8080, `\n \r\n${other}`)).toBe("egress-not-http");
  expect(inspect(8080, other.replace("GET", "FETCH"))).toBe("egress-host-differs");
  expect(inspect(8080, other.replace("GET", "get"))).toBe("egress-not-http");
  expect(inspect(8080, other.replaceAll("\r\n", "\n"))).toBe("egress-malformed-request");
  expect(inspect(8080, "GET  / HTTP/1.1\r\nHost: b.example\r\n\r\n")).toBe("egress-malformed-request");
  expect(inspect(8080, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).toBe("egress-malformed-request");
  expect(inspect(8080, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "93.184.215.14")).toBe("pass");
  // The line is followed while its bytes pass: a client of another protocol may wait for an answer.
  expect(inspectFirstBytes({ host: api, port: 8080 }, Buffer.from("FETCH /a"))).toMatchObject({ follow: "first-line" });
  expect(inspectFirstBytes({ host: api, port: 8080 }, Buffer.from("\r\n"))).toMatchObject({ follow: "first-line" });
  expect(inspect(8080, "FETCH / HTTP/1.1")).toBe("more");
  for (const port of [80, 8080]) {
    expect(inspect(port, request(api).replace("GET /", "CONNECT b.example:443"))).toBe("egress-connect");
    expect(inspect(port, request(api).replace("\r\n\r\n", "\r\nUpgrade: h2c\r\n\r\n"))).toBe("egress-upgrade");
  }
});

test("the two spellings of this machine are one host", () => {
  expect(inspect(80, request("127.0.0.1"), "localhost")).toBe("pass");
  expect(inspect(80, request("localhost"), "127.0.0.1")).toBe("pass");
  expect(inspect(80, request("b.example"), "localhost")).toBe("egress-host-differs");
});

test("only where the protocol is known must the client speak first", () => {
  expect([80, 443, 5432].map((port) => mustSpeakFirst({ host: api, port }))).toEqual([true, true, false]);
});

test("law: on 80 a request passes only with the granted host", () => {
  const host = fc.oneof(fc.constant(api), fc.domain(), fc.string({ maxLength: 20 }));
  fc.assert(
    fc.property(host, (one) => {
      if (inspect(80, request(one)) === "pass")
        expect(
          one
            .trim()
            .toLowerCase()
            .replace(/[.]?(:80)?$/, ""),
        ).toBe(api);
    }),
  );
});
