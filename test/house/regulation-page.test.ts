// What docs/regulation.md shows is what happens: its policies load, its example is the one that is shipped, and the gateway
// hides, and says, what the page tells.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/regulation.md"), "utf8");
const readme = readFileSync(join(root, "README.md"), "utf8");
const shipped = readFileSync(join(root, "examples/regulation/policy.yaml"), "utf8");
const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text);
const [example = "", ...parts] = blocks;

describe("docs/regulation.md", () => {
  it("shows the example that is shipped", () => {
    expect(shipped).toContain(example);
  });

  it("shows what can be kept beside it", () => {
    const [kept = "", ...more] = parts.filter((part) => part.startsWith("keep:"));
    expect(more).toEqual([]);
    const compiled = compiledFrom({ file: "regulation.md", text: example.replace(/^keep: .*\n/m, kept) });
    expect(compiled.ok ? "" : compiled.error).toBe("");
  });

  const tools = { files: ["read_notes", "read_salaries"], wiki: ["edit", "publish"], mail: ["order", "announce"] };
  const policy = example.replace(/^(?:version|extends|regulation): .*\n/gm, "");

  /** The answer to the last of some calls. */
  async function last(...names: readonly string[]): Promise<string> {
    const conversation = new Conversation(policy, tools);
    let text = "";
    for (const name of names)
      ({ text } = await conversation.call(name, /edit|announce/.test(name) ? { text: "x" } : {}));
    return text;
  }

  it("tells what the agent is told", async () => {
    const told = await last("files.read_salaries", "wiki.edit", "wiki.publish");
    const sentence = told.replace(/ \(decision .*\)$/, "");
    expect(page).toContain(sentence);
    expect(readme.replaceAll("\n", " ")).toContain(sentence);
  });

  it.each([
    [
      ["wiki.publish", "files.read_salaries", "wiki.edit"],
      /^Not executed: after `wiki\.edit` nothing can stop that `anyone` reads `pages`/,
    ],
    [["mail.order", "files.read_salaries"], /`files\.read_salaries` is hidden: .* It comes back after mail\.announce/],
    [["mail.order", "mail.announce", "files.read_salaries"], /^read_salaries done$/],
    [["files.read_salaries", "mail.order"], /`mail\.order` is hidden.* It comes back in a new run/],
  ] as const)("hides what its table says: %s", async (calls, told) => {
    expect(await last(...calls)).toMatch(told);
  });
});
