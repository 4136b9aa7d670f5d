import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readHands } from "./hand-labelled.ts";
import { handLabelFolder, readHandLabels } from "./hand-labels.ts";

const noLists = { data: undefined, lists: undefined };

test("every server with labels has its list, or is named as one without", () => {
  const [hands, labels] = [readHands(noLists), readHandLabels(handLabelFolder)];
  if (!hands.ok || !labels.ok) throw new Error("the labels of the package are read");
  for (const name of labels.value.keys()) expect(hands.value.absent).toContain(name);
  expect(hands.value.servers).toEqual([]);
});

test("a slip in a label is an error and no label that says less", () => {
  const folder = mkdtempSync(join(tmpdir(), "labels-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(handLabelFolder, folder, { recursive: true });
  const file = join(folder, "filesystem.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("sink: true", "sinks: true"));
  expect(readHands(noLists, folder)).toMatchObject({ ok: false, error: expect.stringContaining("filesystem.yaml") });
});
