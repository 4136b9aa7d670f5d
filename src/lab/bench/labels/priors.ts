/**
 * What each sign is thought to say before any label is seen, in log-odds, by question. A sign without a row is thought to
 * say nothing.
 */
import { type Role, roles } from "../../../core/contract.ts";
import type { Weights } from "./fit.ts";

/** An action is asked about only of a tool that acts. */
function action(kind: string, more: Weights = {}): Weights {
  return {
    ...more,
    bias: -3.5,
    [`name:${kind}`]: 5,
    [`name-mid:${kind}`]: 2,
    [`name-carried:${kind}`]: 5,
    [`name-later:${kind}`]: 1,
    [`text:${kind}`]: 2.5,
    [`text-later:${kind}`]: 0.5,
  };
}

const acting: Weights = {
  bias: 0,
  "name:read": -3.5,
  "name-mid:read": -0.7,
  "name:none": -0.3,
  "text:read": -1.5,
  "text:read-only": -1,
  "readOnlyHint=true": -1.5,
  "readOnlyHint=false": 3,
  "destructiveHint=true": 2,
  "name:write": 3.5,
  "name:delete": 4,
  "name:send": 3,
  "name:publish": 3,
  "name:pay": 3,
  "name:grant": 3,
  "name:share": 3,
  "name:schedule": 3,
  "name:config": 2,
  "name:credential": 2,
  "name:actuate": 3,
  "name:execute": 3,
  "name:carry": 3,
  "name:touch": 3,
  "name:visit": 2,
  "name:download": 1,
  "name-mid:write": 1.5,
  "name-mid:delete": 2,
  "name-carried:delete": 3,
  "session:state": -6,
  "noun:process": 2,
  "noun:job": 2,
  "vcs:pull": 4,
  "text:write": 1.5,
  "text:delete": 2,
  "text:send": 2,
  "text:execute": 2,
  "arg:content": 0.7,
  "arg:content!": 1,
  "arg:command!": 2,
  "arg:query!": -0.5,
  "arg:none": -0.7,
  "schema:outlet": 2,
  "schema:switch": 2,
  "schema:statement": 2.5,
  "schema:uploads": 1.5,
  "schema:choice": 1.5,
  "schema:saves": 4,
};

/** That it writes for sure: a file that a result may be saved to, or a page that is visited, is no certain write. */
const writing: Weights = {
  ...acting,
  "name:visit": -3,
  "name:touch": 1,
  "name:download": -0.5,
  "schema:saves": 0.5,
  "schema:statement": 0,
  "schema:uploads": 0.5,
  "schema:outlet": 0.5,
  "schema:switch": 0.7,
  "schema:choice": 0.5,
  "arg:command!": 0,
};

function against(weights: Weights): Weights {
  return Object.fromEntries(Object.entries(weights).map(([sign, weight]) => [sign, -weight]));
}

export const priors: { readonly [question: string]: Weights } = {
  acts: acting,
  reads: { ...against(writing), "vcs:pull": 6, "name:download": 3 },
  writes: writing,
  runs: {
    bias: -4,
    "name:execute": 5,
    "name-mid:execute": 1,
    "text:execute": 1.5,
    "arg:command": 1,
    "arg:command!": 2.5,
    "name:read": -2,
    "noun:process": 7,
    "noun:job": 5,
  },
  outside: {
    bias: 1.5,
    "place:remote": 6,
    "server:service": 5,
    "server:machine": -4,
    "page:acts": 4,
    "page:sends": 9,
    "page:reads": -4,
    "tools:service": 1,
    "tools:account": 1,
    "tools:files": -1.5,
    "says:service": 0.5,
    "says:account": 0.3,
    "says:files": -0.7,
    "says:machine": -0.5,
    "within:account": 0.3,
    "within:files": -1,
    "within:page": -1,
    "openWorldHint=true": 1,
    "openWorldHint=false": -2,
    "place:address": 6,
    "place:recipient": 1,
    "place:path": -1.5,
    "place:session": -8,
    "own:noun": -6,
    "own:offline": -8,
    "vcs:push": 9,
    "vcs:pull": 9,
  },
  send: action("send", { "noun:message": 1.5, "noun:public": -4, "vcs:push": -6, "noun:sent": 6 }),
  publish: action("publish", { "noun:public": 4, "vcs:push": 6 }),
  delete: action("delete", { "noun:membership": -5 }),
  pay: action("pay", { "noun:money": 1, "noun:payment": 5 }),
  grant: action("grant", { "noun:right": 2, "noun:membership": 8 }),
  share: action("share"),
  schedule: action("schedule", { "noun:time": 1.5 }),
  webhook: action("webhook", { "noun:webhook": 6 }),
  credential: action("credential", { "noun:secret": 1, "noun:account": 4 }),
  config: action("config", { "noun:setting": 4 }),
  actuate: action("actuate"),
};

/** What a read chooses its results by, and what a record is made of. */
const choosing =
  "state status sort order direction scope since until before after from depth topic prompt question keyword pattern regex filter mode unit country region location place format type language category".split(
    " ",
  );
const carried = "title name description summary color status state priority label due date start end value note".split(
  " ",
);

/** What one object among others is told by. */
const naming = "selector ref sha slug uid guid uuid hash target branch owner repo repository".split(" ");
const remotePath = "at=service&rule=path";
const extra: { readonly [role: string]: Weights } = {
  destination: { "f=include": -4, "f=exclude": -4, "map&rule=destination": -6, "at=browser&rule=destination": -2 },
  path: { [remotePath]: -4, "says=local": 4 },
  identifier: {
    [remotePath]: 1.5,
    "type=boolean": -3,
    "ends-id": 1.5,
    "at=browser&rule=destination": 2,
    ...Object.fromEntries(naming.map((word) => [`r=${word}`, 2])),
  },
  query: {
    "type=boolean": 2,
    "type=integer": 1,
    "type=number": 1,
    enum: 1,
    "map&rule=destination": 4,
    "map&rule=none": 1.5,
    "map&rule=identifier": 1,
    "f=include": 3,
    "f=exclude": 3,
    ...Object.fromEntries(choosing.map((word) => [`reads&r=${word}`, 2])),
  },
  content: Object.fromEntries(
    carried.flatMap((word) => [`v=create&r=${word}`, `v=update&r=${word}`].map((id) => [id, 2])),
  ),
};

/** A first guess from the name of an argument is worth this much; a role without any sign is rare. */
export function rolePrior(role: Role): Weights {
  const others = roles.filter((one) => one !== role).map((one) => [`rule=${one}`, -0.5] as const);
  const said = { recipient: "recipient", destination: "url", identifier: "id" } as { readonly [role: string]: string };
  return {
    bias: -2,
    [`rule=${role}`]: 3,
    [`says=${said[role] ?? role}`]: 0.7,
    "acts&addressee": role === "recipient" ? 5 : -1,
    ...extra[role],
    ...Object.fromEntries(others),
  };
}
