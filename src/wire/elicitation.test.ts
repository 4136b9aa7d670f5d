import { expect, it } from "vitest";
import { takesForms } from "./elicitation.ts";

it.each([
  [{}, false],
  [{ elicitation: null }, false],
  [{ elicitation: {} }, true],
  [{ elicitation: { form: {} } }, true],
  [{ elicitation: { form: {}, url: {} } }, true],
  [{ elicitation: { url: {} } }, false],
  [{ elicitation: { form: false, url: {} } }, false],
])("a client that says %j: forms %s", (capabilities, forms) => {
  expect(takesForms(capabilities)).toBe(forms);
});
