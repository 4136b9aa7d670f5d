/** Where a client finds the server. */
export type Destination =
  | { readonly kind: "stdio"; readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: "http"; readonly url: string };

export type CallOptions = {
  readonly onProgress?: (progress: unknown) => void;
  readonly signal?: AbortSignal;
};

/** What the scripts need of a client, so that each official client is one small adapter. */
export type Connection = {
  readonly facts: () => unknown;
  readonly listTools: () => Promise<unknown>;
  readonly listResources: () => Promise<unknown>;
  readonly listTemplates: () => Promise<unknown>;
  readonly listPrompts: () => Promise<unknown>;
  readonly call: (name: string, args: Record<string, unknown>, options?: CallOptions) => Promise<unknown>;
  readonly read: (uri: string) => Promise<unknown>;
  /** Subscribes; updates arrive at the listener. */
  readonly subscribe: (uri: string, listener: (uri: string) => void) => Promise<void>;
  readonly prompt: (name: string, args: Record<string, string>) => Promise<unknown>;
  readonly complete: (prompt: string, argument: string, value: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** An official client in one of the eras it speaks. */
export type ClientKind = {
  readonly name: string;
  readonly era: "legacy" | "modern";
  readonly connect: (destination: Destination) => Promise<Connection>;
};

export const clientIdentity = { name: "e2e", version: "1.0.0" };

/** The answers of the user behind the client. */
export const elicited = { action: "accept" as const, content: { username: "ada", email: "ada@example.com" } };
export const sampled = {
  role: "assistant" as const,
  content: { type: "text" as const, text: "Paris" },
  model: "none",
  stopReason: "endTurn" as const,
};
export const rooted = { roots: [{ uri: "file:///home/ada/project", name: "project" }] };
