/**
 * A whole gateway in a process of its own, so that it can be killed: `node gateway-main.ts ROOT MARKER`. Writes into the
 * workspace without end and says on stdout what was acknowledged; with `--once` it makes one call and ends in order.
 */
import { writeSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { sharedCache } from "../kit/client/warm-home.ts";

module.enableCompileCache(sharedCache);
const { Stage } = await import("../kit/gateway/stage.ts");
const { policyFor, serverProgram } = await import("./kit.ts");

const [root = "", marker = "", ...flags] = process.argv.slice(2);
// What a projection needs for a while lies here, where the test can count it.
process.env["TMPDIR"] = join(root, "temporary");
const stage = await Stage.open({
  root,
  policy: policyFor({ faulty: {} }),
  servers: { faulty: { command: [process.execPath, serverProgram, marker] } },
});
const tell = (line: string): void => void writeSync(1, `${line}\n`);

async function write(path: string, text: string): Promise<void> {
  const said = await stage.call("faulty", "write", { path, text });
  tell(said.isError ? `refused ${path} ${said.text.replaceAll("\n", " ")}` : `acknowledged ${path}`);
}

tell("open");
await stage.connect("faulty");
tell("connected");
if (flags.includes("--once")) {
  await write(`once-${process.pid}.txt`, "whole ".repeat(1_000));
  for (const line of stage.told) tell(`told ${line}`);
  await stage.close();
  process.exit(0);
}
for (let index = 0; ; index += 1) {
  const name = `${process.pid}-${index}`;
  await write(`${name}.txt`, "whole ".repeat(20_000));
  // Many files in one verdict, so that a kill can fall between two of them.
  const said = await stage.call("faulty", "write_many", { path: `${name}-many`, count: 60 });
  if (!said.isError) tell(`acknowledged ${name}-many`);
}
