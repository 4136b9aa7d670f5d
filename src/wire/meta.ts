/** Keys of `_meta` that the protocol reserves, and ours. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  relatedTask: "io.modelcontextprotocol/related-task",
  progressToken: "progressToken",
  traceparent: "traceparent",
  tracestate: "tracestate",
  baggage: "baggage",
} as const;

/** Prefix of every `_meta` key that is ours; such keys never reach a server. */
export const ownMetaPrefix = "io.github.sluicegate/";

/** Keys that exist per request only in the modern era. */
export const perRequestKeys: readonly string[] = [
  metaKeys.protocolVersion,
  metaKeys.clientInfo,
  metaKeys.clientCapabilities,
  metaKeys.logLevel,
];
