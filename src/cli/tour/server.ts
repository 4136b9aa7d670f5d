/**
 * The two servers of `sluicegate tour`, as one program: `files FOLDER` reads the files of a folder, `outbox FILE` writes down
 * what it is told to send. Real MCP over stdio, small enough to come with the package.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { resolve, sep } from "node:path";
import { createInterface } from "node:readline";

const [kind = "files", place = "."] = process.argv.slice(2);

const path = { type: "string", description: "Absolute path of the file" };
const tools = {
  files: {
    name: "read_text_file",
    description: "Read a file of the workspace as text.",
    inputSchema: { type: "object", properties: { path }, required: ["path"] },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  outbox: {
    name: "send_message",
    description: "Send a message to a recipient outside of this machine.",
    inputSchema: {
      type: "object",
      properties: { to: { type: "string" }, subject: { type: "string" }, body: { type: "string" } },
      required: ["to", "body"],
    },
    annotations: { readOnlyHint: false, openWorldHint: true },
  },
};

type Request = {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: Readonly<Record<string, string>> };
};

const said = (text: string): object => ({ content: [{ type: "text", text }] });

function called(given: Readonly<Record<string, string>>): object {
  if (kind === "outbox") {
    appendFileSync(place, `${JSON.stringify(given)}\n`);
    return said("sent");
  }
  const file = resolve(place, given["path"] ?? "");
  if (!file.startsWith(`${resolve(place)}${sep}`))
    return { ...said("That is outside of the workspace."), isError: true };
  return said(readFileSync(file, "utf8"));
}

function answer({ method, params }: Request): object {
  switch (method) {
    case "initialize": {
      const serverInfo = { name: kind, version: "1.0.0" };
      return { protocolVersion: params?.protocolVersion ?? "2025-11-25", capabilities: { tools: {} }, serverInfo };
    }
    case "tools/list":
      return { tools: [kind === "outbox" ? tools.outbox : tools.files] };
    case "tools/call":
      return called(params?.arguments ?? {});
    default:
      return {};
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line) as Request; // the gateway of the tour is the only client
  if (request.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer(request) })}\n`);
});
