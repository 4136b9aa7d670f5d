import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  clientIdentity,
  elicited,
  rooted,
  sampled,
  type ClientKind,
  type Connection,
  type Destination,
} from "./connection.ts";

function transportTo(destination: Destination): StdioClientTransport | StreamableHTTPClientTransport {
  if (destination.kind === "stdio") {
    const [command = "", ...args] = destination.command;
    return new StdioClientTransport({ command, args, env: { ...destination.env }, stderr: "ignore" });
  }
  return new StreamableHTTPClientTransport(new URL(destination.url));
}

async function connect(destination: Destination, mode: VersionNegotiationMode): Promise<Connection> {
  const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
  const client = new Client(clientIdentity, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", () => elicited);
  client.setRequestHandler("sampling/createMessage", () => sampled);
  client.setRequestHandler("roots/list", () => rooted);
  await client.connect(transportTo(destination));
  const modern = (client.getNegotiatedProtocolVersion() ?? "") >= "2026";
  return {
    facts: () => [client.getServerCapabilities(), client.getServerVersion(), client.getInstructions()],
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    listTemplates: () => client.listResourceTemplates(),
    listPrompts: () => client.listPrompts(),
    call: (name, args, { onProgress, signal } = {}) =>
      client.callTool(
        { name, arguments: args },
        {
          ...(onProgress === undefined ? {} : { onprogress: onProgress }),
          ...(signal === undefined ? {} : { signal }),
        },
      ),
    read: (uri) => client.readResource({ uri }),
    subscribe: async (uri, listener) => {
      client.setNotificationHandler("notifications/resources/updated", (update) => listener(update.params.uri));
      if (modern) await client.listen({ resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
    },
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (name, argument, value) =>
      client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } }),
    close: () => client.close(),
  };
}

export const sdkV2Legacy: ClientKind = {
  name: "SDK 2.4, 2025-11-25",
  era: "legacy",
  connect: (destination) => connect(destination, "legacy"),
};

export const sdkV2Modern: ClientKind = {
  name: "SDK 2.4, 2026-07-28",
  era: "modern",
  connect: (destination) => connect(destination, { pin: "2026-07-28" }),
};

/** Finds out which era the server speaks, as a host with unknown servers would. */
export const sdkV2Auto: ClientKind = {
  name: "SDK 2.4, negotiating",
  era: "modern",
  connect: (destination) => connect(destination, "auto"),
};
