/**
 * What a client says of itself: its name, and capabilities that no revision has. A model that starts a client of its own
 * chooses these words, so they are judged as data for the server wherever the run holds any: words that may not go are
 * replaced. What a server has been told once is not judged again, since it learns nothing more by it.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import { type Json, type JsonObject, isObject, member, setOwn } from "../../core/json.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { ClientState } from "../ports/conversation.ts";
import type { Exchange } from "../ports/transport.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { exchangeOf, protocolOnly, requestWithoutSampling } from "../upstream/client-facts.ts";
import type { Catalogue } from "../upstream/listed-tools.ts";
import { clientInfo } from "../upstream/meta.ts";
import { type DataNeeds, maySendToServer } from "./client-data.ts";

/** Words of clients that are remembered as told, over all clients and servers; any more are judged again. */
const toldMax = 4_096;

/** What servers were told about clients; shared by all sessions, since a connection may live for one request. */
export class ToldWords {
  readonly #told = new BoundedMap<string, true>(toldMax);

  has(key: string): boolean {
    return this.#told.get(key) === true;
  }

  add(key: string): void {
    this.#told.set(key, true);
  }
}

type Needs = DataNeeds & { readonly server: string; readonly client: ClientState; readonly told: ToldWords };

/** Names of capabilities and of their members, over all revisions. */
const known: ReadonlySet<string> = new Set(
  `applyDefaults cancel context create createMessage elicitation form list listChanged requests roots sampling tasks tools
  url`.split(/\s+/),
);

/** Said in place of a name that may not go to a server. */
const unnamed: JsonObject = { name: "client", version: "0" };

type Place = { readonly needs: Needs; readonly catalogue: Catalogue; readonly live: LiveRun };

/** The exchange as a server may see its request: with no words of the client that are not judged. */
export function clientWordsJudged(place: Place, asked: Exchange): Exchange | Promise<Exchange> {
  const { needs, live } = place;
  const wanted = live.policy.settings.sampling === "allow" ? asked.request : requestWithoutSampling(asked.request);
  const words = wordsOf(wanted);
  const key = words === undefined ? "" : JSON.stringify([needs.server, live.principal, words.said]);
  if (words === undefined || needs.told.has(key) || holdsNothing(live)) {
    if (words !== undefined) needs.told.add(key);
    return exchangeOf(asked, learned(needs, wanted));
  }
  return mayBeTold(place, words.said).then((may) => {
    if (may) needs.told.add(key);
    return exchangeOf(asked, learned(needs, may ? wanted : words.without));
  });
}

/** Calls of the gateway itself repeat what the last request said. */
function learned({ client }: Needs, request: RequestMessage): RequestMessage {
  if (client.era !== "modern") return request;
  const kept = protocolOnly(request.params)?.["_meta"];
  client.requestMeta = isObject(kept) ? kept : undefined;
  return request;
}

type Words = { readonly said: JsonObject; readonly without: RequestMessage };

/** The words of a request that describe the client, and the request without them; undefined where it has none. */
function wordsOf({ kind, id, method, params }: RequestMessage): Words | undefined {
  const legacy = method === "initialize";
  const place = legacy ? params : member(params, "_meta");
  if (!isObject(place)) return undefined;
  const infoName = legacy ? "clientInfo" : metaKeys.clientInfo;
  const capabilitiesName = legacy ? "capabilities" : metaKeys.clientCapabilities;
  const [info, capabilities] = [member(place, infoName), member(place, capabilitiesName)];
  const plain = capabilities === undefined ? undefined : plainCapabilities(capabilities);
  const said = {
    ...(info === undefined ? {} : { client: clientInfo(info) ?? {} }),
    ...(capabilities === undefined || plain === capabilities ? {} : { capabilities }),
  };
  if (Object.keys(said).length === 0) return undefined;
  const rest = {
    ...place,
    ...(info === undefined ? {} : { [infoName]: unnamed }),
    ...(plain === undefined ? {} : { [capabilitiesName]: plain }),
  };
  return { said, without: { kind, id, method, params: legacy ? rest : { ...params, _meta: rest } } };
}

/** A run that holds nothing has nothing to tell. */
function holdsNothing({ policy, state }: LiveRun): boolean {
  return policy.contextLabel(state.q) === policy.lattice.bottom;
}

/** The words are data that the client sends of its own accord. */
function mayBeTold({ needs, catalogue, live }: Place, value: JsonObject): Promise<boolean> {
  // The contract of words that a client sends without being asked, and that do nothing.
  const method = "notifications/progress";
  return maySendToServer(needs, { live, contract: catalogue.contractOfMethod(live.policy, method), method, value });
}

/** Capabilities in the words of the protocol; the same object where there are no others. */
function plainCapabilities(value: Json): Json {
  if (!isObject(value)) return typeof value === "boolean" ? value : true;
  const kept: Record<string, Json> = {};
  let changed = false;
  for (const [name, one] of Object.entries(value)) {
    // An empty section of extensions says nothing.
    const empty = isObject(one) && Object.keys(one).length === 0 && /^(?:experimental|extensions)$/.test(name);
    const plain = empty ? one : plainCapabilities(one);
    if (!empty && !known.has(name)) changed = true;
    else {
      if (plain !== one) changed = true;
      setOwn(kept, name, plain);
    }
  }
  return changed ? kept : value;
}
