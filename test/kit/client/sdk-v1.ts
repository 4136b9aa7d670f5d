import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  clientIdentity,
  elicited,
  rooted,
  sampled,
  type ClientKind,
  type Connection,
  type Destination,
} from "./connection.ts";

function transportTo(destination: Destination): Transport {
  if (destination.kind === "stdio") {
    const [command = "", ...args] = destination.command;
    return new StdioClientTransport({ command, args, env: { ...destination.env }, stderr: "ignore" });
  }
  // The class declares `sessionId: string | undefined`, which exactOptionalPropertyTypes tells from the interface's.
  return new StreamableHTTPClientTransport(new URL(destination.url)) as Transport;
}

async function connect(destination: Destination): Promise<Connection> {
  const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
  const client = new Client(clientIdentity, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => elicited);
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ListRootsRequestSchema, () => rooted);
  await client.connect(transportTo(destination));
  return {
    facts: () => [client.getServerCapabilities(), client.getServerVersion(), client.getInstructions()],
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    listTemplates: () => client.listResourceTemplates(),
    listPrompts: () => client.listPrompts(),
    call: (name, args, { onProgress, signal } = {}) =>
      client.callTool({ name, arguments: args }, undefined, {
        ...(onProgress === undefined ? {} : { onprogress: onProgress }),
        ...(signal === undefined ? {} : { signal }),
      }),
    read: (uri) => client.readResource({ uri }),
    subscribe: async (uri, listener) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, (update) => listener(update.params.uri));
      await client.subscribeResource({ uri });
    },
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (name, argument, value) =>
      client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } }),
    close: () => client.close(),
  };
}

export const sdkV1: ClientKind = { name: "SDK 1.32", era: "legacy", connect };
