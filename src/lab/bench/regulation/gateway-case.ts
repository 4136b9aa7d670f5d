/**
 * A gateway of any size for `--latency`: tools of many servers with labels, hazards with channels, and a debt. Made by
 * arithmetic, so that every run measures the same.
 */
import type { JsonObject } from "../../../core/json.ts";
import type { Listed } from "./world.ts";

const subjects = ["invoice", "contact", "ticket", "report", "branch", "photo", "meeting", "shipment", "device", "page"];
const verbs = ["read", "search", "list", "create", "update", "share", "send", "delete", "schedule", "export"] as const;
type Verb = (typeof verbs)[number];

const effects: { readonly [verb in Verb]: string } = {
  read: "read.local",
  search: "read.local",
  list: "read.local",
  create: "write.local",
  update: "write.local",
  share: "write.local.grant",
  send: "write.external.send",
  delete: "write.local.delete",
  schedule: "write.local.schedule",
  export: "write.external.publish",
};

const toolsPerServer = 10;

export type GatewayCase = { readonly policy: JsonObject; readonly tools: readonly Listed[] };

/** `duty` adds a debt, which makes the game solve for goals, too. */
export function gatewayCase(
  size: number,
  { duty, models }: { readonly duty: boolean; readonly models: boolean },
): GatewayCase {
  const tools: Listed[] = [];
  const labels: [string, JsonObject][] = [];
  const servers: [string, JsonObject][] = [];
  const stores: [string, JsonObject][] = [];
  for (let index = 0; index < size; index += 1) {
    const number = Math.floor(index / toolsPerServer);
    const subject = subjects[number % subjects.length] ?? "thing";
    const verb = verbs[index % verbs.length] ?? "read";
    const server = `${subject}-${number}`;
    const store = `${server}:all`;
    if (index % toolsPerServer === 0) {
      servers.push([server, { reach: "local", operator: "me" }]);
      stores.push([store, { audience: "me", label: { confidentiality: "public", trust: "trusted" } }]);
    }
    const name = `${verb}_${subject}`;
    tools.push({ server, tool: toolOf(name, verb, subject) });
    labels.push([`${server}.${name}`, labelOf(verb, number, store)]);
  }
  // A policy may name few stores only, and ones that nothing opens would cost nothing.
  const named = Object.fromEntries(stores.slice(0, storesMax));
  const kept = labels.map(([name, label]) => [name, withKnownStores(label, named)] as const);
  return {
    policy: {
      version: 1,
      lattice: { categories: ["credentials"], groups: ["me", "anyone"], clearance: { anyone: "public" } },
      servers: Object.fromEntries(servers),
      stores: named,
      labels: Object.fromEntries(kept),
      hazards,
      rules: duty ? [debt] : [],
      flow: { mode: "provenance" },
      ...(models ? { regulation: { models: { embedded: true } } } : {}),
    },
    tools,
  };
}

const storesMax = 8;

const hazards: JsonObject = {
  "private-leaves": {
    consent: "never",
    never: { flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: "write.external" } } },
  },
  "keys-leave": {
    consent: "never",
    never: { flow: { from: { categories: ["credentials"] }, to: { effect: "write.external" } } },
  },
  "deleted-after-strangers": {
    consent: "never",
    never: { call: { effect: "write.local.delete", held: { trust: "untrusted" } } },
  },
  "shared-then-deleted": {
    consent: "never",
    never: { sequence: { after: "invoice-0.share_invoice", never: "invoice-0.delete_invoice" } },
  },
};

const debt: JsonObject = {
  id: "sent-then-noted",
  tier: "must",
  owed: { after: "invoice-0.send_invoice", owe: "invoice-0.update_invoice", within: 2 },
  why: "what is sent is noted",
};

function toolOf(name: string, verb: Verb, subject: string): JsonObject {
  const text = { type: "string", description: `What the ${subject} is about, in the words of the person` };
  const id = { type: "string", description: `Identifier of the ${subject} as the list gives it` };
  return {
    name,
    description: `Use this to ${verb} one ${subject}, or several that belong together, of the account of the person.`,
    inputSchema: { type: "object", properties: { id, text }, required: ["id"] },
  };
}

function labelOf(verb: Verb, number: number, store: string): JsonObject {
  const reads = verb === "read" || verb === "search" || verb === "list";
  const secret = number % 3 === 0 ? { confidentiality: "private", trust: "trusted" } : undefined;
  const strange = number % 3 === 1 ? { confidentiality: "public", trust: "untrusted" } : undefined;
  const plain = { confidentiality: "public", trust: "trusted" };
  return {
    effects: [effects[verb]],
    args: { id: "identifier", text: "content" },
    output: reads ? (secret ?? strange ?? plain) : plain,
    ...(verb === "create" || verb === "update" ? { writes: [store] } : {}),
    ...(verb === "share" ? { opens: { store, audience: "anyone" } } : {}),
  };
}

function withKnownStores(label: JsonObject, stores: JsonObject): JsonObject {
  const { writes, opens, ...rest } = label;
  const known = (store: unknown): boolean => typeof store === "string" && store in stores;
  const written = Array.isArray(writes) && known(writes[0]) ? { writes } : {};
  const opened = typeof opens === "object" && opens !== null && "store" in opens && known(opens.store) ? { opens } : {};
  return { ...rest, ...written, ...opened };
}
