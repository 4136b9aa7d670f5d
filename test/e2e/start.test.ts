// `npm start`, as a newcomer meets it: the real servers, and a client that writes where the documents say that writes pass.
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sdkV2Auto } from "../kit/client/sdk-v2.ts";

const repository = resolve(import.meta.dirname, "../..");

test("a client of `npm start` writes a file of the workspace unasked", { timeout: 60_000 }, async () => {
  // The script takes the folder above its own for the checkout, so that state and workspace stay out of the real one. A
  // new one for each try, so that the second meets nothing of the first.
  const checkout = mkdtempSync(join(tmpdir(), "sg-start-"));
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }));
  mkdirSync(join(checkout, "scripts"));
  copyFileSync(join(repository, "scripts/start.ts"), join(checkout, "scripts/start.ts"));
  for (const name of ["src", "node_modules"]) symlinkSync(join(repository, name), join(checkout, name));
  const gateway = spawn(process.execPath, [join(checkout, "scripts/start.ts")], {
    env: { ...process.env, PORT: "0", SLUICEGATE_RUNTIME_DIR: join(checkout, "run") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => gateway.on("close", done));
  try {
    let said = "";
    for await (const part of gateway.stdout.setEncoding("utf8")) {
      said += String(part);
      if (said.includes("Ctrl-C")) break;
    }
    const [url = ""] = /http:\S+:\d+\/mcp$/m.exec(said) ?? [];
    const client = await sdkV2Auto.connect({ kind: "http", url });
    const path = join(checkout, "demo", "note.txt");
    expect(await client.call("write_file", { path, content: "hello" })).not.toMatchObject({ isError: true });
    expect(readFileSync(path, "utf8")).toBe("hello");
    await client.close();
  } finally {
    gateway.kill();
    await ended;
  }
});
