/** Files of an adversary on the real command line: a bound, a sentence, and nothing that moves the cursor. */
import { afterAll, expect, test } from "vitest";
import { Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

const tools = '[{"name":"send","inputSchema":{"type":"object"}}]';
const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
const files: Readonly<Record<string, string>> = {
  "a trace with deep arguments": `{"version":1,"tools":${tools},"steps":[{"tool":"send","arguments":{"a":${deep}}}]}`,
  "a trace with a deep tool": `{"version":1,"tools":[{"name":"send","inputSchema":${deep}}],"steps":[]}`,
  "a trace with a tool that clears the screen": `{"version":1,"tools":${tools},"steps":[{"tool":"x\\n\\u001b[2J","arguments":{}}]}`,
  "a trace that names a prototype": `{"version":1,"tools":${tools},"steps":[{"server":"__proto__","tool":"toString","arguments":{}}]}`,
};

// The point of the test is that none of these comes through.
const control = /\p{Cc}/u;

test.each(Object.keys(files))("%s is refused in a sentence", async (name) => {
  const done = await terminal.run("replay", terminal.file("trace.json", files[name] ?? ""));
  expect(done.code).toBe(2);
  expect(done.stderr).not.toContain("bug of Sluicegate");
  expect(done.stderr.trimEnd()).not.toMatch(control);
});

test("a configuration with a name that clears the screen is refused in a sentence", async () => {
  const config = terminal.file("gateway.yaml", 'version: 1\n"\\e[2Jx": 1\nservers: {a: {command: x}}\n');
  const done = await terminal.run("gateway", "--config", config, "--check");
  expect(done.code).toBe(2);
  expect(done.stderr).toContain("x` is unknown");
  expect(done.stderr.trimEnd()).not.toMatch(control);
});
