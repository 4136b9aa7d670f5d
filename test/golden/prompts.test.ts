// The text that language models are shown. A change of it is a new version of the prompt: answers that were measured
// or trained on the old one do not speak of the new one. `SLUICEGATE_GOLDEN=write` writes the files anew.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { evidenceText } from "../../src/oracles/foresight/llm-prompt.ts";
import { instructions, protocolVersion } from "../../src/oracles/foresight/llm-protocol.ts";
import { context, firstList } from "../oracles/contexts.ts";

const prompts: Readonly<Record<string, string>> = {
  "protocol-schema": instructions.schema,
  "protocol-tags": instructions.tags,
  "call-values": evidenceText(context, "values", "report"),
  "call-shapes": evidenceText(context, "shapes", "report"),
  "list-values": evidenceText(firstList, "values", "word"),
};

it.each(Object.entries(prompts))("%s", (name, text) => {
  const file = join(import.meta.dirname, "prompts", `v${protocolVersion}-${name}.txt`);
  if (process.env["SLUICEGATE_GOLDEN"] === "write") writeFileSync(file, `${text}\n`);
  expect(`${text}\n`).toBe(readFileSync(file, "utf8"));
});
