import { describe, expect, it } from "vitest";
import { abilitiesOf, canAnswer } from "./client-abilities.ts";

const form = { method: "elicitation/create", params: { message: "name?" } };
const url = { method: "elicitation/create", params: { mode: "url", message: "sign in", url: "https://a.example" } };
const sampling = { method: "sampling/createMessage", params: {} };
const roots = { method: "roots/list", params: undefined };

describe("canAnswer", () => {
  it.each([
    [{}, []],
    [{ elicitation: {} }, [form]],
    [{ elicitation: { form: {} } }, [form]],
    [{ elicitation: { url: {} } }, [url]],
    [{ elicitation: { form: {}, url: {} } }, [form, url]],
    [{ sampling: {} }, [sampling]],
    [{ roots: {} }, [roots]],
    [{ elicitation: true, sampling: 1, roots: [] }, []],
  ])("%j", (capabilities, asked) => {
    expect([form, url, sampling, roots].filter((question) => canAnswer(capabilities, question))).toEqual(asked);
  });

  it("nobody is asked what the protocol does not know", () => {
    expect(canAnswer({ elicitation: {}, sampling: {}, roots: {} }, { method: "secrets/list", params: {} })).toBe(false);
  });
});

describe("abilitiesOf", () => {
  it("says what a client can be asked, and nothing of what else it declares", () => {
    expect(abilitiesOf({})).toBe("");
    expect(abilitiesOf({ elicitation: {}, experimental: { a: 1 } })).toBe("forms");
    expect(abilitiesOf({ elicitation: { url: {} }, roots: { listChanged: true } })).toBe("urls roots");
    expect(abilitiesOf({ sampling: { context: {}, tools: {} } })).toBe("sampling context tools");
  });
});
