import { describe, expect, test } from "vitest";
import {
  emptyCompletion,
  errorCodes,
  isModernError,
  methodNotFound,
  missingClientCapability,
  refusalError,
  refusalResult,
  unsupportedVersion,
  wireErrorAnswer,
} from "./errors.ts";
import { wireError, type WireErrorKind } from "./wire-error.ts";

const refusal = { decision: "d1", sentence: "Refused: the file is private.", way: "Ask for a public copy." };

describe("answers of the gateway", () => {
  test("a refused tool call is a result that the model can read", () => {
    const legacy = refusalResult(1, refusal, false);
    expect(legacy.result).toEqual({
      content: [{ type: "text", text: "Refused: the file is private. Ask for a public copy." }],
      isError: true,
      _meta: { "io.github.sluicegate/decision": "d1" },
    });
    expect(refusalResult(1, { ...refusal, way: "" }, true).result).toMatchObject({
      resultType: "complete",
      content: [{ text: "Refused: the file is private." }],
    });
  });

  test("a refusal elsewhere is an error with decision and way", () => {
    expect(refusalError("a", refusal).error).toEqual({
      code: -32010,
      message: refusal.sentence,
      data: { decision: "d1", way: "Ask for a public copy." },
    });
  });

  test("the rest", () => {
    expect(emptyCompletion(1, false).result).toEqual({ completion: { values: [], total: 0, hasMore: false } });
    expect(emptyCompletion(1, true).result).toHaveProperty("resultType", "complete");
    expect(methodNotFound(1, `a\n${"b".repeat(200)}`).error.message).toBe(`Method not found: a?${"b".repeat(98)}`);
    expect(unsupportedVersion(1, "x", ["2026-07-28"]).error).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "x" },
    });
    expect(missingClientCapability(1, { elicitation: {} }).error.data).toEqual({
      requiredCapabilities: { elicitation: {} },
    });
    expect([-32020, -32021, -32022, -32602].map(isModernError)).toEqual([true, true, true, false]);
    expect(errorCodes.headerMismatch).toBe(-32020);
  });

  test("bytes that were no message", () => {
    expect(wireErrorAnswer(wireError("duplicate-name", { id: 4 }))).toMatchObject({
      id: 4,
      error: { code: -32600, data: { reason: "duplicate-name" } },
    });
    const unreadable = wireErrorAnswer(wireError("invalid-json"));
    expect([unreadable.id, unreadable.error.code]).toEqual([null, -32700]);
    const kinds: readonly WireErrorKind[] = ["too-large", "invalid-utf8", "too-deep", "batch-length", "invalid-id"];
    for (const kind of kinds) expect(wireError(kind).message).toMatch(/^.{20,240}$/);
  });
});
