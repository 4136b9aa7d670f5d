// The text that is kept of a large result: what writing the result anew would give, or none.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WrittenJson } from "./message.ts";
import { defaultWireLimits } from "./limits.ts";
import { parseMessage } from "./parse/parse.ts";

const long = "all is well. ".repeat(4_000);

function writtenOf(text: string): WrittenJson | undefined {
  const frame = parseMessage(new TextEncoder().encode(text), defaultWireLimits);
  if (!frame.ok) throw new Error(frame.error.kind);
  const message = frame.value.kind === "single" ? frame.value.message : undefined;
  if (message?.kind !== "response") throw new Error("no response");
  if (message.written !== undefined) expect(message.written.value).toBe(message.result);
  return message.written;
}

const answer = (result: string): string => `{"jsonrpc":"2.0","id":1,"result":${result}}`;
const large = JSON.stringify({ content: [{ type: "text", text: long }], isError: false });

describe("the text of a large result", () => {
  it.each([
    answer(large),
    `{"result":${large},"id":"1","jsonrpc":"2.0"}`,
    `{"jsonrpc":"2.0","result":${large},"id":7}`,
  ])("is kept wherever it stands (%#)", (text) => {
    expect(writtenOf(text)?.text).toBe(large);
  });

  it.each([
    ["is small", answer('{"a":1}')],
    ["is not ASCII", answer(JSON.stringify({ text: `${long}é` }))],
    ["has spaces between tokens", answer(large.replace(",", ", "))],
    ["has a line break between tokens", answer(large.replace(":", ":\n"))],
    ["stands in an envelope with spaces", `{"jsonrpc": "2.0","id":1,"result":${large}}`],
    ["escapes what needs none", answer(large.replace("well", "w\\u0065ll"))],
    ["escapes a slash", answer(large.replace("well", "w\\/ell"))],
    ["has a number that is written otherwise", answer(large.replace("{", '{"n":1.0,'))],
    ["has an escaped name", `{"jsonrpc":"2.0","id":1,"res\\u0075lt":${large}}`],
  ])("is not kept where it %s", (_what, text) => {
    expect(writtenOf(text)).toBeUndefined();
  });

  it("is kept from the size on from which it is worth it, wherever the result stands", () => {
    const sized = (bytes: number): string => `{"a":"${"x".repeat(bytes - 8)}"}`;
    for (const place of [
      answer,
      (result: string) => `{"id":"${"i".repeat(200)}","result":${result},"jsonrpc":"2.0"}`,
    ]) {
      expect(writtenOf(place(sized(32 * 1024)))?.text).toBe(sized(32 * 1024));
      expect(writtenOf(place(sized(32 * 1024 - 1)))).toBeUndefined();
    }
  });

  it("is none of an error", () => {
    const text = `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":${large}}}`;
    const frame = parseMessage(new TextEncoder().encode(text), defaultWireLimits);
    expect(frame).not.toMatchObject({ value: { message: { written: expect.anything() } } });
  });

  it("law: is what writing the result gives, however the message is spelt", () => {
    // Names like numbers come first where an object is built, in whatever order they were written.
    const names = fc.string({ maxLength: 6 }).filter((name) => !/^\d+$/.test(name));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, false, 0, -1.5, 1e21, '"', "\\", "\\u", "/", "\t\n", "é", "result"),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(names, tie("value"), { maxKeys: 3 }),
      ),
    }));
    const spaces = fc.constantFrom<string | number | undefined>(undefined, 1, "\t");
    const order = fc.constantFrom(
      ["jsonrpc", "id", "result"],
      ["result", "id", "jsonrpc"],
      ["id", "result", "jsonrpc"],
    );
    let kept = 0;
    fc.assert(
      fc.property(value, spaces, order, (part, space, members) => {
        const result = { first: part, padding: long, last: part };
        const whole: Record<string, unknown> = { jsonrpc: "2.0", id: "1", result };
        const text = JSON.stringify(Object.fromEntries(members.map((name) => [name, whole[name]])), undefined, space);
        const frame = parseMessage(new TextEncoder().encode(text), defaultWireLimits);
        if (!frame.ok) return; // names that differ in case, and the like
        const written = writtenOf(text);
        if (written === undefined) return;
        kept += 1;
        expect(written.text).toBe(JSON.stringify(result));
      }),
    );
    expect(kept).toBeGreaterThan(0);
  });
});
