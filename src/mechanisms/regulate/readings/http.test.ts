// Requests that only ask, and the ways in which one that looks like it acts.
import { describe, expect, it } from "vitest";
import type { Json } from "../../../core/json.ts";
import { readRequest } from "./http.ts";

const url = "https://example.com/a";
const because = (value: Json): string | undefined => {
  const found = readRequest(value);
  return found.kind === "reads" ? undefined : found.because;
};

describe("what only asks", () => {
  it.each<[Json]>([
    ["GET"],
    ["get"],
    ["HEAD"],
    [url],
    ["HTTP://EXAMPLE.COM/"],
    [`GET ${url}`],
    [`HEAD ${url}?q=1`],
    [{ method: "GET", url }],
    [{ http_method: "HEAD", uri: url }],
    [{ method: "get", endpoint: url, headers: { accept: "text/html" }, params: { q: "a", page: 2 } }],
    [{ method: "GET", url, body: null, timeout: 5 }],
    [{ method: "GET", url, body: "", follow_redirects: true, headers: null, params: {} }],
    [{ verb: "GET", address: url, raw: false, max_length: JSON.rawJSON("5.0") }],
    [`${url}?a=%E0%A4%A`],
  ])("%j", (value) => {
    expect(because(value)).toBeUndefined();
  });
});

const request = (more: { readonly [name: string]: Json }): Json => ({ method: "GET", url, ...more });

describe("what acts, or cannot be read", () => {
  it.each<[Json]>([
    ["POST"],
    ["PUT"],
    ["PATCH"],
    ["DELETE"],
    ["post"],
    ["OPTIONS"],
    ["TRACE"],
    ["CONNECT"],
    ["PROPFIND"],
    ["PURGE"],
    ["QUERY"],
    ["GETX"],
    ["G\u0415T"],
    [" GET"],
    ["GET "],
    ["GET\n"],
    ["GET\r\nX: y"],
    [""],
    [null],
    [true],
    [5],
    [[]],
    [["GET"]],
    [`POST ${url}`],
    [`GET ${url} HTTP/1.1`],
    [`GET ${url}\r\nX-Y: z`],
    ["GET file:///etc/passwd"],
    ["GET gopher://example.com/"],
    ["ftp://example.com/"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["data:text/html,x"],
    ["//example.com/"],
    ["/relative"],
    ["example.com"],
    ["https://"],
    ["https://ann:secret@example.com/"],
    ["https://ann@example.com/"],
    ["https://example.com/a b"],
    ["https://example.com/a\tb"],
    ["https://example.com/a\nb"],
    ["https://example.com\\@evil.org/"],
    ["https://example.com/<x>"],
    ["https://example.com/{a,b}"],
    ["https://example.com/`x`"],
    ["https://example.com/\u0430"],
    ["https://exa\u00admple.com/"],
    [`https://example.com/${"a".repeat(2_048)}`],
    ["https://example.com/?_method=DELETE"],
    ["https://example.com/?a=1&_method=PUT"],
    ["https://example.com/?%5Fmethod=PUT"],
    ["https://example.com/?x-http-method-override=PUT"],
    ["https://example.com/?method=DELETE"],
    ["https://example.com:99999/"],
    [{}],
    [{ url }],
    [{ method: "GET" }],
    [{ method: "GET", url: "x" }],
    [{ method: "POST", url }],
    [{ method: "DELETE", url }],
    [{ method: "GET", Method: "POST", url }],
    [{ method: "GET", verb: "GET", url }],
    [{ method: "GET", url, uri: url }],
    [{ method: ["GET"], url }],
    [{ method: "GET", url: [url] }],
    [{ method: null, url }],
    [request({ body: "x" })],
    [request({ body: {} })],
    [request({ data: "x" })],
    [request({ json: { a: 1 } })],
    [request({ form: { a: 1 } })],
    [request({ files: ["/etc/passwd"] })],
    [request({ payload: 1 })],
    [request({ headers: { "X-HTTP-Method-Override": "DELETE" } })],
    [request({ headers: { "x-method-override": "PUT" } })],
    [request({ headers: { "X-HTTP-Method": "PUT" } })],
    [request({ headers: "X-HTTP-Method-Override: PUT" })],
    [request({ headers: [["a", "b"]] })],
    [request({ headers: { a: { b: "c" } } })],
    [request({ headers: { a: ["b"] } })],
    [request({ params: { _method: "PUT" } })],
    [request({ query: "a=1" })],
    [request({ auth: { user: "a" } })],
    [request({ proxy: "http://evil.org" })],
    [request({ output: "/tmp/x" })],
    [request({ save_to: "/tmp/x" })],
    [request({ script: "x" })],
    [request({ timeout: { a: 1 } })],
    [request({ timeout: [1] })],
    [request({ cert: "/etc/x" })],
    [request({ unix_socket: "/var/run/docker.sock" })],
    [request(Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`a${index}`, 1])))],
    [request({ headers: Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`a${index}`, "1"])) })],
  ])("%j", (value) => {
    expect(because(value)).toBeTypeOf("string");
  });

  it("says what it found", () => {
    expect(readRequest("delete")).toEqual({ kind: "acts", because: "its method is DELETE" });
    expect(readRequest("FROB X")).toEqual({ kind: "unread", because: "its method is FROB" });
    expect(because(request({ body: "secret" }))).toBe("it has a body");
    expect(because(request({ frob: 1 }))).toBe("it has frob");
  });
});

it.each<[Json]>([
  [`GET ${url}?%5Fmethod=DELETE&x=%ff`],
  [`GET ${url}?a=1;_method=DELETE`],
  [`GET ${url}?.method=DELETE`],
  [`GET ${url}?+_method=DELETE`],
  [`GET ${url}?httpMethod=DELETE`],
  [`GET ${url}?_method[]=DELETE`],
  [`GET ${url}?a?X-HTTP-Method-Override=DELETE`],
  [{ method: "GET", url: `${url}?m%65thod=DELETE&%E0%A4%A` }],
])("attack: %j names another method in a form that some framework reads", (value) => {
  expect(because(value)).toBe("its address names another method");
});

it("a parameter whose name only holds the word is one like others", () => {
  expect(because(`${url}?shipping_method=post&methods=all`)).toBeUndefined();
});

it.each<[string, Json]>([
  ["A", "x\r\nX-HTTP-Method-Override: DELETE"],
  ["A", "x\u0000"],
  ["A: b\r\nC", "x"],
  ["", "x"],
  ["Host", "other.example"],
  ["X-Forwarded-Host", "other.example"],
  ["X-Original-URL", "/delete"],
  ["x-rewrite-url", "/delete"],
  ["Transfer-Encoding", "chunked"],
  ["Content-Length", 5],
  ["Upgrade", "websocket"],
  ["Proxy-Authorization", "x"],
])("attack: the header %j: %j makes another request of a GET", (name, value) => {
  expect(because({ method: "GET", url, headers: { [name]: value } })).toMatch(/header/);
});

it("headers of any other name are read as before", () => {
  const headers = { Accept: "text/html; q=0.9", "X-Api-Version": 2, "User-Agent": "é", Authorization: null };
  expect(because({ method: "GET", url, headers })).toBeUndefined();
});
