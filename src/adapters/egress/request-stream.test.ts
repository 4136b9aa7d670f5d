import fc from "fast-check";
import { expect, test } from "vitest";
import { claimsHttp, objectionTo } from "./first-bytes.ts";
import { FirstLine, RequestStream } from "./request-stream.ts";

const destination = { host: "a.example", port: 80 };
const stream = (): RequestStream => new RequestStream((head) => objectionTo(destination, head));
const request = (host: string, more = "", body = ""): string =>
  `POST / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n${body}`;

/** What passed, and the rule that ended it, with the text cut into pieces of this size. */
function played(text: string, size = text.length): { readonly passed: string; readonly rule?: string } {
  const made = stream();
  const bytes = Buffer.from(text, "latin1");
  let passed = "";
  for (let at = 0; at < bytes.length; at += size) {
    const verdict = made.take(bytes.subarray(at, at + size));
    if ("rule" in verdict) return { passed, rule: verdict.rule };
    passed += verdict.pass.toString("latin1");
  }
  return { passed };
}

const chunked = "Transfer-Encoding: chunked\r\n";

test("attack: a later request for another host does not pass, whatever came before it", () => {
  for (const before of [
    request("a.example"),
    request("a.example", "Content-Length: 5\r\n", "hello"),
    request("a.example", chunked, "5;x=y\r\nhello\r\n0\r\n\r\n"),
    request("a.example", chunked, "5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"),
  ]) {
    for (const size of [1, 7, 4_096]) {
      expect(played(before + request("a.example"), size)).toEqual({ passed: before + request("a.example") });
      const attacked = played(before + request("b.example"), size);
      expect(attacked.rule).toBe("egress-host-differs");
      expect(before.startsWith(attacked.passed)).toBe(true);
    }
  }
});

test("attack: what would end HTTP, or has two readings, is refused", () => {
  const ok = request("a.example");
  expect(played(`${ok}CONNECT b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n`).rule).toBe("egress-connect");
  expect(played(ok + request("a.example", "Upgrade: h2c\r\n")).rule).toBe("egress-upgrade");
  expect(played(`${ok}PRI * HTTP/2.0\r\n\r\n`).rule).toBe("egress-malformed-request");
  expect(played(`${ok}\x00raw bytes`).rule).toBe("egress-not-http");
  expect(played(`${ok}\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n`).rule).toBe("egress-not-http");
  for (const more of [
    `Content-Length: 5\r\n${chunked}`,
    "Content-Length: 5\r\nContent-Length: 6\r\n",
    "Content-Length: +5\r\n",
    "Content-Length: 5, 5\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: xchunked\r\n",
    // Blanks within a value are read in one pass, and a no-break space is a part of it.
    `Content-Length: 5${" ".repeat(8_000)}5\r\n`,
    `Transfer-Encoding:${"\t ".repeat(4_000)}chunked${" \t".repeat(2_000)}x\r\n`,
    "Content-Length: 5\xa0\r\n",
  ]) {
    expect(played(request("a.example", more)).rule, more).toBe("egress-body-ambiguous");
  }
  for (const body of ["5\nhello\n0\n\n", "0x5\r\nhello", "-1\r\n", "x\r\n", "5".repeat(5_000)]) {
    expect(played(request("a.example", chunked, body)).rule, body.slice(0, 20)).toBe("egress-body-ambiguous");
  }
});

test("attack: a request that is cut within its first line is seen before its fields pass", () => {
  for (const pieces of [
    ["FETCH /a", " HTTP/1.1\r\n", "Host: b.example\r\n\r\n"],
    ["\r\n", "FETCH / HTTP/1.1\r\nHost: b.example\r\n\r\n"],
    ["fetch / ht", "tp/1.1\n", "host: b.example\n\n"],
  ]) {
    const watch = new FirstLine(claimsHttp);
    const rules = pieces.map((piece) => watch.take(Buffer.from(piece)));
    const passed = rules.flatMap((one) => ("pass" in one ? one.pass.toString() : [])).join("");
    expect(rules.some((one) => "rule" in one)).toBe(true);
    expect(
      rules.findIndex((one) => "rule" in one),
      passed,
    ).toBe(1);
  }
  const other = new FirstLine(claimsHttp);
  expect(other.take(Buffer.from("PI"))).toHaveProperty("pass");
  expect(other.take(Buffer.from("NG\r\nx HTTP/1.1\r\n"))).toHaveProperty("pass");
  expect(other.take(Buffer.from("any"))).toHaveProperty("pass");
});

test("law: requests for the granted host pass whole, however they are cut", () => {
  const body = fc.string({ maxLength: 40 }).map((text) => Buffer.from(text).toString("latin1"));
  const one = body.map((text) => request("a.example", `Content-Length: ${text.length}\r\n`, text));
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 50 }), (all, size) => {
      expect(played(all.join(""), size)).toEqual({ passed: all.join("") });
    }),
  );
});
