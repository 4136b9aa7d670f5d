/** What the bench compares: policies, with or without the user's instruction registered, and what the user accepted before. */
import { toolDigest } from "../../../app/policy/policy-source.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import type { HandServer, HandTool } from "../labels/hand-labels.ts";
import type { CardWord } from "./ways.ts";

/** What a policy is made for. */
export type Target = {
  readonly server: string;
  /** Its entries as listed. */
  readonly tools: readonly Json[];
  /** Its labels by hand, where it has some. */
  readonly hand: HandServer | undefined;
};

export type Configuration = {
  readonly name: string;
  readonly about: string;
  readonly policy: (target: Target) => JsonObject;
  /** Whether the run knows what the user asked for. */
  readonly instructed: boolean;
  /** How the admission card of the server is answered before the first call. */
  readonly card?: CardWord;
};

const plain = { version: 1, extends: ["default"] } as const;

const allowAll: JsonObject = {
  version: 1,
  extends: [],
  rules: [{ id: "allow-all", tier: "allow", when: { tool: "*" }, why: "the baseline that lets everything pass" }],
  flow: { mode: "none" },
  host: { sampling: "allow" },
};

const trusted = ({ server }: Target): JsonObject => ({ ...plain, servers: { [server]: { trust: "trusted" } } });
const bare = ({ server }: Target): JsonObject => ({
  ...plain,
  isolation: { servers: { [server]: { backend: "off" } } },
});

/** The labels by hand, accepted as a card would have them accepted: what is left is not for want of knowledge. */
const byHand = (target: Target): JsonObject => {
  const readings = handReadings(target);
  return readings.length === 0 ? plain : { ...plain, readings };
};

/** A day that no run of the bench lives to see. */
const until = "2099-12-31";

function handReadings({ server, tools, hand }: Target): readonly JsonObject[] {
  return tools.filter(isObject).flatMap((listed): readonly JsonObject[] => {
    const tool = stringMember(listed, "name") ?? "";
    const label = hand?.tools.get(tool);
    return label === undefined ? [] : [{ server, tool, digest: toolDigest(listed), label: labelOf(label), until }];
  });
}

function labelOf({ must, may, args, output }: HandTool): JsonObject {
  const roles = [...args].map(([name, [role = "content"]]): [string, string] => [name, role]);
  const { confidentiality, categories } = output;
  return { effects: { must, may }, args: Object.fromEntries(roles), output: { confidentiality, categories } };
}

/** The accepted readings that a policy holds. */
export function readingsOf(policy: JsonObject): readonly Json[] {
  const readings = member(policy, "readings");
  return isArray(readings) ? readings : [];
}

const carded = (name: string, card: CardWord, about: string): readonly Configuration[] => [
  { name, about, policy: () => plain, instructed: false, card },
  {
    name: `${name}+user`,
    about: "the same, the user's instruction registered",
    policy: () => plain,
    instructed: true,
    card,
  },
];

export const configurations: readonly Configuration[] = [
  { name: "default", about: "the built-in policy", policy: () => plain, instructed: false },
  { name: "default+user", about: "the same, the user's instruction registered", policy: () => plain, instructed: true },
  { name: "trusted", about: "the server declared `trust: trusted`", policy: trusted, instructed: false },
  { name: "trusted+user", about: "the same, the user's instruction registered", policy: trusted, instructed: true },
  { name: "none", about: "the built-in policy, isolation off", policy: bare, instructed: false },
  { name: "none+user", about: "the same, the user's instruction registered", policy: bare, instructed: true },
  ...carded("card", "card", "the admission card accepted with one key"),
  ...carded("reviewed", "reviewed", "the card accepted with every tool in doubt confirmed unread"),
  { name: "card none+user", about: "as card+user, isolation off", policy: bare, instructed: true, card: "card" },
  { name: "hand", about: "the labels by hand accepted as readings", policy: byHand, instructed: false },
  { name: "hand+user", about: "the same, the user's instruction registered", policy: byHand, instructed: true },
  { name: "allow-all", about: "a policy that objects to nothing", policy: () => allowAll, instructed: false },
];
