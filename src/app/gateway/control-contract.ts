/**
 * The control protocol between commands and whatever guards this user: every request with its reply, and one reader for
 * both ends. A message is hostile until it is read: members that are not named here are dropped, lists are bounded, and
 * texts are as long as one line of the socket at most (`helloBytesMax`, `replyBytesMax`).
 */
import { type Json, isArray, isObject, member } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";

/** Entries of any list in a message. */
const itemsMax = 100_000;

/** Reads one value; the error is the place in it that is absent or of another kind. */
type Shape<T> = (value: Json | undefined) => Result<T, string>;
type Shapes = { readonly [name: string]: Shape<unknown> };
type Read<S> = S extends Shape<infer T> ? T : never;
type Members<R extends Shapes, O extends Shapes> = { readonly [K in keyof R]: Read<R[K]> } & {
  readonly [K in keyof O]?: Read<O[K]>;
};

const when =
  <T extends Json>(is: (value: Json) => value is T): Shape<T> =>
  (value) =>
    value !== undefined && is(value) ? ok(value) : err("");

const text = when((value): value is string => typeof value === "string");
const number = when((value): value is number => typeof value === "number");
const flag = when((value): value is boolean => typeof value === "boolean");
const json = when((value): value is Json => value !== undefined);
const budget = when((value): value is number | null => value === null || typeof value === "number");
const choice = when(
  (value): value is "once" | "value" | "refuse" => value === "once" || value === "value" || value === "refuse",
);

function list<T>(of: Shape<T>): Shape<readonly T[]> {
  return (value) => {
    if (!isArray(value) || value.length > itemsMax) return err("");
    const items: T[] = [];
    for (const [index, one] of value.entries()) {
      const read = of(one);
      if (!read.ok) return err(`[${index}]${read.error}`);
      items.push(read.value);
    }
    return ok(items);
  };
}

function record<R extends Shapes, O extends Shapes = {}>(required: R, optional?: O): Shape<Members<R, O>> {
  return (value) => {
    if (!isObject(value)) return err("");
    const found: [string, unknown][] = [];
    for (const [name, shape] of Object.entries<Shape<unknown>>({ ...required, ...optional })) {
      const given = member(value, name);
      if (given === undefined && !Object.hasOwn(required, name)) continue;
      const read = shape(given);
      if (!read.ok) return err(`.${name}${read.error}`);
      found.push([name, read.value]);
    }
    return ok(Object.fromEntries(found) as Members<R, O>); // each member was read by its own shape
  };
}

const texts = list(text);
const none = record({});
const isolation = list(record({ server: text, tier: text, missing: texts }));
const regulation = record({
  state: text,
  power: number,
  budget,
  hidden: list(record({ tool: text, why: text })),
  hiddenMore: number,
  risks: texts,
  tokensSaved: number,
});
const run = record(
  {
    run: text,
    principal: text,
    policy: text,
    context: text,
    owed: texts,
    stores: list(record({ store: text, label: text, audience: texts })),
    inFlight: texts,
    idleMs: number,
    idleMsMax: number,
    lasts: text,
  },
  { ended: flag, regulation, servers: texts, sources: list(record({ from: text, holds: texts })) },
);
const approval = { id: text, run: text, server: text, tool: text, status: text, expires: text };
const card = { title: text, lines: texts, arguments: text, risks: texts, choices: texts };
/** `policy`: file of the policy in force. `rule`: what `approve --always` would write; `why` there is none. */
const always = { always: record({}, { rule: text, why: text }), policy: text };
const holds = { label: text, audience: texts, open: texts };
const store = record({ store: text, ...holds, mark: text, declared: list(record({ policy: text, ...holds })) });
const owner = record({
  owner: text,
  process: number,
  mark: text,
  lost: flag,
  unreadable: texts,
  stores: list(store),
});
/** Proofs for an act that needs one (`factor`). */
const tickets = { tickets: texts };
const ended = record({ ended: texts, owed: texts });

const cardAbout = { server: text, state: text, tools: number, ready: number, doubtful: number };
/** `answer`: what is on record; `refused`: why nothing of the server is called now. */
const cardMore = { until: text, answer: text, refused: text };
const cardSummary = record(cardAbout, cardMore);
const doubts = list(record({ tool: text, group: text, standing: text, lines: texts }));
const shownCard = record({ ...cardAbout, digest: text, lines: texts, doubts, wants: texts }, cardMore);

const contract = {
  status: {
    request: none,
    reply: record(
      {
        runs: number,
        regulation: record({ states: record({ safe: number, critical: number, unsafe: number }), tokensSaved: number }),
        isolation,
        log: record({ state: text }, { sentence: text }),
      },
      {
        lasts: text,
        sources: list(record({ run: text, from: text, holds: texts })),
        owed: list(record({ run: text, sentence: text })),
        unstarted: list(record({ server: text, why: text })),
      },
    ),
  },
  runs: {
    request: none,
    reply: record({
      runs: list(run),
      isolation,
      dormant: list(record({ run: text, principal: text, idleMs: number })),
      approvals: list(record(approval)),
    }),
  },
  "runs-new": { request: record({}, tickets), reply: ended },
  "runs-close": { request: record({ run: text }, tickets), reply: ended },
  "runs-accept": {
    request: record({ run: text, hazard: text, move: text }, tickets),
    reply: record({ run: text, accepted: text }),
  },
  stores: { request: none, reply: record({ owners: list(owner) }) },
  "stores-reset": {
    request: record({ owner: text, process: number, mark: text }, { ...tickets, store: text }),
    /** Neither member: another gateway than the one that showed the store. */
    reply: record({}, { reset: record({ owner: text, stores: text }), refused: text }),
  },
  /** Puts the consent on record; the command then writes. `factor`: what the policy of the run that made it demands. */
  "changes-apply": {
    request: record({ id: text, over: flag }, { ...tickets, factor: text }),
    reply: record({ agreed: flag }),
  },
  approvals: { request: none, reply: record({ approvals: list(record(approval, { ...card, ...always })) }) },
  approve: { request: record({ id: text, choice }, tickets), reply: record({ id: text, choice }) },
  cards: { request: none, reply: record({ cards: list(cardSummary) }) },
  card: { request: record({ server: text }), reply: shownCard },
  /** Calls a local server with made-up data; the reply is its card with the verdict. */
  "card-probe": { request: record({ server: text }), reply: shownCard },
  /** `digest`: of the card that was answered. `reviewed`: tools in doubt that were looked at one by one. `hosts`: opened to it; `workspace`: it sees that as before. */
  "card-answer": {
    request: record(
      { server: text, digest: text, choice: text, reviewed: texts, days: number },
      { ...tickets, hosts: texts, workspace: flag },
    ),
    reply: cardSummary,
  },
  /** Tickets for the acts that need a proof, each a request as it will be made. `file`: what to hold open for it; `url`: the page to open. */
  factor: {
    request: record({ acts: list(json) }),
    reply: record({ tickets: list(record({ ticket: text, factor: text }, { file: text, url: text })) }),
  },
  "factor-prove": {
    request: record({ ticket: text }, { pid: number, code: text, password: text }),
    reply: record({ proven: flag }),
  },
  factors: { request: none, reply: record({ factors: list(record({ factor: text, enrolled: flag })) }) },
  /** What the new device has to be given, or the page of the new key; `factor-confirm` ends it. A `password` is enrolled at once. */
  "factor-add": {
    request: record({ factor: text }, { ...tickets, password: text }),
    reply: record({}, { uri: text, secret: text, url: text }),
  },
  "factor-confirm": { request: record({ factor: text }, { code: text }), reply: record({ enrolled: flag }) },
  "factor-remove": { request: record({ factor: text }, tickets), reply: record({ removed: flag }) },
  /** Its parts come before the reply: cards that wait, cards that are withdrawn, notices. */
  "approve-watch": { request: none, reply: record({ ended: flag }) },
  hook: {
    request: record(
      { client: text, event: text },
      {
        process: json,
        above: json,
        conversation: text,
        cwd: text,
        agent: text,
        source: text,
        prompt: text,
        tool: text,
        call: text,
        arguments: json,
        result: json,
        failed: flag,
      },
    ),
    reply: record({ verdict: text, sentence: text }, { decision: text }),
  },
} as const;

export type RequestKind = keyof typeof contract;
export type Request<K extends RequestKind> = { readonly kind: K } & Read<(typeof contract)[K]["request"]>;
export type Reply<K extends RequestKind> = Read<(typeof contract)[K]["reply"]>;
export type AnyRequest = { readonly [K in RequestKind]: Request<K> }[RequestKind];

export type RunView = Reply<"runs">["runs"][number];
export type OwnerView = Reply<"stores">["owners"][number];
export type StoreView = OwnerView["stores"][number];
export type ApprovalView = Reply<"approvals">["approvals"][number];

/** A part of `approve-watch`. */
export const readWatched = record({}, { ...card, id: text, notice: text, withdrawn: text });
export type Watched = Read<typeof readWatched>;

/** An act as its tickets name it: the request as it was read, without them. */
export function actText({ tickets: _tickets, ...act }: { readonly kind: string; readonly tickets?: unknown }): string {
  return JSON.stringify(act);
}

function isKind(name: Json | undefined): name is RequestKind {
  return typeof name === "string" && Object.hasOwn(contract, name);
}

export function readRequest(value: Json): Result<AnyRequest, string> {
  const kind = member(value, "kind");
  const read = isKind(kind) ? contract[kind].request(value) : err("");
  if (read.ok) return ok({ kind, ...read.value } as AnyRequest); // the request was read by the shape of its kind
  return err("The daemon does not know this request: the command and the daemon are of different versions.");
}

export function readReply<K extends RequestKind>(kind: K, value: Json): Result<Reply<K>, string> {
  const read = contract[kind].reply(value);
  if (read.ok) return ok(read.value as Reply<K>); // the reply was read by the shape of its kind
  const place = read.error === "" ? "" : ` (at \`${read.error.slice(1, 61)}\`)`;
  return err(
    `The daemon and this command are of different versions${place}: run \`sluicegate daemon stop\`, then repeat.`,
  );
}
