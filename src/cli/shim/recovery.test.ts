import { expect, test } from "vitest";
import { LineTail } from "./line-tail.ts";
import { Outage, sentences } from "./outage.ts";
import { answersIn, refusalLine, requestsIn, unanswered } from "./recovery.ts";

const line = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const call = (id: number | string): Buffer => line({ jsonrpc: "2.0", id, method: "tools/call", params: {} });
const result = (id: number | string): Buffer => line({ jsonrpc: "2.0", id, result: {} });

test("requests are told from notifications, answers and noise; a batch gives all of its requests", () => {
  expect(requestsIn(call(1))).toEqual([{ id: 1, method: "tools/call" }]);
  expect(requestsIn(line([{ id: "a", method: "x" }, { method: "n" }, { id: 2, method: "y" }]))).toEqual([
    { id: "a", method: "x" },
    { id: 2, method: "y" },
  ]);
  for (const other of [result(1), line({ method: "n" }), Buffer.from("noise"), Buffer.from("7")]) {
    expect(requestsIn(other)).toEqual([]);
  }
});

test.each([
  ["id first", { jsonrpc: "2.0", id: 41, method: "tools/call", params: { text: "x".repeat(9_000) } }, 41],
  ["id last", { method: "tools/call", params: { text: "x".repeat(9_000) }, jsonrpc: "2.0", id: "q" }, "q"],
  ["id before version", { method: "tools/call", params: { t: "x".repeat(9_000) }, id: 5, jsonrpc: "2.0" }, 5],
])("a request too long to keep is known by its ends: %s", (_, message, id) => {
  const tail = new LineTail(512);
  tail.push(Buffer.from(`${JSON.stringify(message)}\n`));
  expect(tail.lines.flatMap(requestsIn)).toEqual([{ id, method: "tools/call" }]);
});

test("a long answer of the client to the server is no request, and ids inside a text are not taken", () => {
  const tail = new LineTail(256);
  tail.push(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { text: "x".repeat(900) } })}\n`));
  tail.push(Buffer.from(`${JSON.stringify({ params: { text: `"id":9}${"x".repeat(900)}"id":9` }, method: "n" })}\n`));
  expect(tail.lines.flatMap(requestsIn)).toEqual([]);
  expect(tail.lines.slice(0, 1).flatMap(answersIn)).toEqual([1]);
});

test("unanswered: what has no answer, with text and number ids apart, and an id used again open again", () => {
  const open = unanswered([call(1), call("1"), call(2), call(2)], [result("1"), result(2)]);
  expect(open.map(({ id }) => id)).toEqual([1, 2]);
});

test("a call is refused as a result that the model reads, anything else as an error with a way on", () => {
  expect(JSON.parse(refusalLine({ id: 1, method: "tools/call" }, "No.", "Wait."))).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: { content: [{ type: "text", text: "No. Wait." }], isError: true },
  });
  expect(JSON.parse(refusalLine({ id: "a", method: undefined }, "No.", "Wait."))).toEqual({
    jsonrpc: "2.0",
    id: "a",
    error: { code: -32010, message: "No. Wait.", data: { way: "Wait." } },
  });
  for (const [left, right] of [
    [sentences.unknown, sentences.unknownWay],
    [sentences.away, sentences.awayWay],
    [sentences.given, sentences.givenWay],
  ]) {
    expect(`${left} ${right}`.length).toBeLessThanOrEqual(240);
  }
});

test("an outage answers what was open, ends a torn line, refuses a torn request whole and later ones by name", () => {
  const requests = new LineTail(4_096);
  const answers = new LineTail(512);
  requests.push(Buffer.concat([call(1), Buffer.from("\n"), call(2), Buffer.from("\n"), call(3).subarray(0, 20)]));
  answers.push(Buffer.concat([result(1), Buffer.from('\n{"half')]));
  const written: string[] = [];
  const outage = new Outage((text) => written.push(text));
  outage.begin(requests, answers);
  expect(written[0]).toBe("\n");
  expect(written.slice(1).map((text) => JSON.parse(text).id)).toEqual([2]);
  expect(written[1]).toContain("unknown");
  expect(outage.atLineStart).toBe(false);
  outage.push(Buffer.concat([call(3).subarray(20), Buffer.from("\n")]));
  expect(JSON.parse(written[2] ?? "").id).toBe(3);
  expect(outage.atLineStart).toBe(true);
  outage.giveUp();
  outage.push(Buffer.from(`${call(4).toString()}\n`));
  expect(written[3]).toContain("sluicegate doctor");
});

test("an endless line in an outage does not grow memory and is refused by its ends", () => {
  const written: string[] = [];
  const outage = new Outage((text) => written.push(text));
  outage.push(Buffer.from('{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"text":"'));
  const block = Buffer.alloc(1024 * 1024, 120);
  for (let index = 0; index < 20; index += 1) outage.push(block);
  outage.push(Buffer.from('"}}\n'));
  expect(JSON.parse(written[0] ?? "")).toMatchObject({ id: 8, result: { isError: true } });
});
