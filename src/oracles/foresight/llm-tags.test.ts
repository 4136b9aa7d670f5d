import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../../test/kit/policy/cpu-time.ts";
import { labelTailCharsMax } from "./llm-limits.ts";
import { readTags } from "./llm-tags.ts";

const whole = (safety: string, list = '["mail.send"]'): string =>
  `<|next_state|> a mail is sent <|next_state|> It leaves. ${safety} The mailer is a risk. <|filtered_tools|> ${list} <|filtered_tools|>`;

function labelOf(text: string): string {
  const read = readTags(text);
  return read.ok ? read.value.safety : `no: ${read.error}`;
}

describe("SafeMCP's tags", () => {
  it("are read as they should be written", () => {
    expect(readTags(whole("<|safety|> unsafe <|safety|>"))).toEqual({
      ok: true,
      value: { nextState: " a mail is sent ", reasoning: " It leaves. ", safety: "unsafe", filtered: ["mail.send"] },
    });
  });

  it.each([
    "<safety|>unsafe<safety|>",
    "<safety>unsafe</safety>",
    "<|safety>unsafe<|safety>",
    "<|safety|>unsafe</|safety|>",
    "<|/safety|>unsafe<|/safety|>",
    "<| safety |>unsafe<| safety |>",
    "<|safety|unsafe<|safety|",
    "|safety|>unsafe|safety|>",
    "<|SAFETY|>Unsafe.<|SAFETY|>",
    "<|safety|>\n**unsafe**\n<|safety|>",
    "<|safety|>unsafe\n",
    '<|safety|>"unsafe"<|safety|>',
  ])("are read when they are broken like %j", (broken) => {
    expect(labelOf(whole(broken))).toBe("unsafe");
  });

  it.each([
    "unsafe",
    "<|safety|>safe|critical|unsafe<|safety|>",
    "<|safety|>safe tools are many<|safety|>",
    "<|safety|><|safety|>",
    "<|safety|>sicher<|safety|>",
    "safety unsafe safety",
  ])("give no label for %j", (text) => {
    expect(labelOf(whole(text))).toBe("no: its answer has no label");
  });

  it("that differ mean the strictest", () => {
    expect(labelOf(whole("<|safety|>safe<|safety|> or <|safety|>critical<|safety|>"))).toBe("critical");
    expect(labelOf(whole("<|safety|>unsafe<|safety|> or <|safety|>safe<|safety|>"))).toBe("unsafe");
  });

  it("count only at the end of an answer", () => {
    const label = "<|safety|>safe<|safety|>";
    expect(labelOf(`${label}${"x".repeat(labelTailCharsMax - label.length)}`)).toBe("safe");
    expect(labelOf(`${label}${"x".repeat(labelTailCharsMax)}`)).toBe("no: its answer has no label");
  });

  it.each([
    ["[]", []],
    ['["a", "b.c"]', ["a", "b.c"]],
    ["['a', 'b']", ["a", "b"]],
    ["[a, b]", ["a", "b"]],
    ["none", undefined],
    ["", undefined],
    ['["a", {"b": 1}]', undefined],
    ["[a b]", undefined],
    ['["a"', undefined],
  ])("hold the list %s", (list, wanted) => {
    const read = readTags(whole("<|safety|>critical<|safety|>", list));
    expect(read.ok ? read.value.filtered : "?").toEqual(wanted);
  });

  it("in any text take linear time and never throw", () => {
    const pieces = ["<|safety|>", "<|", "|", "safety", "<", "/", "[", "]", "safe", " ", "\n", "<|filtered_tools|>"];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 200 }).map((parts) => parts.join(""));
    fc.assert(fc.property(text, (given) => void readTags(given)));
    for (const long of ["<|".repeat(32_000), `<|filtered_tools|>[${"'a',".repeat(16_000)}`])
      expect(cpuMsOf(() => readTags(long))).toBeLessThan(2_000);
  });
});
