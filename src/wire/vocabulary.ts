/**
 * The names to which the protocol gives a meaning, and the places where a message leaves the protocol and becomes data.
 *
 * Some JSON readers match names without regard to case (the Go MCP SDK before 1.3.1, CVE-2026-27896). To them `Name`
 * is `name`, to us it would be an unknown extra: the call we judge and the call they run differ. So inside protocol
 * objects a name that differs from a protocol name only in case is refused, even when it appears alone. Inside free
 * data (tool arguments, structured content, JSON schemas, log data) `{"a":1,"A":2}` is ordinary JSON and stays legal:
 * no one maps it onto protocol fields, and a tool that folds its own names sees both values, as the judge does.
 */
export const region = {
  free: 0,
  protocol: 1,
  envelope: 2,
  meta: 3,
  result: 4,
  inputRequests: 5,
  inputResponses: 6,
  /** Not decided by the name alone: free if the value is an object, protocol if it is a list. */
  formOrBlocks: 7,
} as const;

/** Region of an object: what its names mean. */
export type Region = (typeof region)[keyof typeof region];

/** Members whose value belongs to a tool, a schema author or a user. */
const freeNames =
  "arguments structuredContent inputSchema outputSchema requestedSchema input data metadata experimental extensions";

/** Every member name in the schemas of the five revisions and the tasks extension that is read as protocol. */
const protocolNames = `
  _meta action annotations argument audience blob cacheScope cancel capabilities clientInfo code completion completions
  content contents context costPriority create createMessage createdAt cursor description destructiveHint elicitation
  elicitationId elicitations error execution form hasMore hints icons id idempotentHint includeContext inputRequests
  inputResponses instructions intelligencePriority isError jsonrpc lastModified lastUpdatedAt level list listChanged
  logger logging maxTokens message messages method mimeType mode model modelPreferences name nextCursor notifications
  openWorldHint params pollInterval pollIntervalMs priority progress progressToken prompts promptsListChanged
  protocolVersion readOnlyHint reason ref requestId requestState requested requests requiredCapabilities resource
  resourceSubscriptions resourceTemplates resources resourcesListChanged result resultType role roots sampling
  serverInfo size sizes speedPriority src status statusMessage stopReason stopSequences subscribe supported
  supportedVersions systemPrompt task taskId taskIds taskSupport tasks temperature text theme title toolChoice
  toolUseId tools toolsListChanged total ttl ttlMs type uri uriTemplate url value values version websiteUrl`;

/** Names with a meaning inside `_meta`; everything else there is namespaced by its owner. */
const metaNames = `
  progressToken traceparent tracestate baggage io.modelcontextprotocol/protocolVersion
  io.modelcontextprotocol/clientCapabilities io.modelcontextprotocol/clientInfo io.modelcontextprotocol/logLevel
  io.modelcontextprotocol/serverInfo io.modelcontextprotocol/subscriptionId
  io.modelcontextprotocol/related-task io.modelcontextprotocol/model-immediate-response`;

/** One known name. `child` is the region of an object found as its value inside a protocol object. */
export type KnownName = {
  readonly name: string;
  readonly folded: string;
  readonly child: Region;
  readonly inMeta: boolean;
  readonly inProtocol: boolean;
};

/**
 * Folds case the way the laxest known reader does. Upper-casing first maps the long s and its like, lower-casing then
 * maps the Kelvin sign, so both reach the ASCII letter that Go's folding gives them. Lower-casing leaves a dot over what
 * was the dotted capital I; readers that compare letter by letter, as Java's do, see the plain letter.
 */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase().replaceAll("i\u0307", "i");
}

/** Polynomial hash of a folded name; the guard computes the same value while it walks over the characters. */
export function hashFolded(folded: string): number {
  let hash = 0;
  for (let index = 0; index < folded.length; index += 1) hash = (Math.imul(hash, 31) + folded.charCodeAt(index)) | 0;
  return hash;
}

const childRegions: ReadonlyMap<string, Region> = new Map<string, Region>([
  ["_meta", region.meta],
  ["result", region.result],
  ["inputRequests", region.inputRequests],
  ["inputResponses", region.inputResponses],
]);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function collectNames(): readonly KnownName[] {
  const free = new Set(words(freeNames));
  const meta = new Set(words(metaNames));
  const protocol = new Set([...words(protocolNames), ...free]);
  return [...new Set([...protocol, ...meta])].map((name) => ({
    name,
    folded: foldCase(name),
    child: free.has(name) ? region.free : (childRegions.get(name) ?? region.protocol),
    inMeta: meta.has(name),
    inProtocol: protocol.has(name),
  }));
}

export const knownNames: readonly KnownName[] = collectNames();

const none: readonly KnownName[] = [];
const byHash = new Map<number, readonly KnownName[]>();
for (const known of knownNames) {
  const hash = hashFolded(known.folded);
  byHash.set(hash, [...(byHash.get(hash) ?? none), known]);
}

/** Protocol names whose folded form has this hash; mostly none or one. */
export function candidates(hash: number): readonly KnownName[] {
  return byHash.get(hash) ?? none;
}
