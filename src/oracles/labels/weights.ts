/**
 * Weights of evidence, in log-odds, by question and sign. `bias` is the evidence before anything is seen. Signs without a
 * row tell nothing about the question.
 */
export const questions = [
  "acts",
  "runs",
  "outside",
  "send",
  "publish",
  "delete",
  "pay",
  "grant",
  "share",
  "schedule",
  "webhook",
  "credential",
  "config",
  "actuate",
] as const;

export type Question = (typeof questions)[number];

type Weights = { readonly [sign: string]: number };

/** An action is asked about only of a tool that acts. */
function action(kind: string): Weights {
  return {
    bias: -3.5,
    [`name:${kind}`]: 5,
    [`name-later:${kind}`]: 2,
    [`text:${kind}`]: 2.5,
    [`text-later:${kind}`]: 0.5,
  };
}

export const weights: { readonly [question in Question]: Weights } = {
  acts: {
    bias: 0,
    "name:read": -3,
    "name:none": -0.3,
    "text:read": -1.5,
    "text:read-only": -1,
    "readOnlyHint=true": -1.5,
    "readOnlyHint=false": 3,
    "destructiveHint=true": 2,
    "name:write": 3,
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
    "name:carry": 2,
    "name:move": 2,
    "text:write": 1.5,
    "text:delete": 2,
    "text:send": 2,
    "text:execute": 2,
    "arg:content": 0.7,
    "arg:content!": 1,
    "arg:query!": -0.5,
    "arg:none": -0.7,
    "schema:outlet": 2,
    "schema:switch": 2,
    "schema:choice": 1.5,
  },
  runs: {
    bias: -4,
    "name:execute": 4,
    "name-later:execute": 1,
    "text:execute": 1.5,
    "arg:command": 1,
    "arg:command!": 2.5,
    "name:read": -2,
  },
  outside: {
    bias: 0,
    "place:remote": 5,
    "server:external": 1.5,
    "server:local": -1.5,
    "name:external": 1,
    "name:local": -1,
    "openWorldHint=true": 2,
    "openWorldHint=false": -2,
    "arg:destination!": 2.5,
    "arg:destination": 2,
    "arg:recipient!": 2,
    "arg:recipient": 1,
    "arg:path!": -2,
    "arg:path": -1,
  },
  send: action("send"),
  publish: action("publish"),
  delete: action("delete"),
  pay: action("pay"),
  grant: action("grant"),
  share: action("share"),
  schedule: action("schedule"),
  webhook: action("webhook"),
  credential: action("credential"),
  config: action("config"),
  actuate: action("actuate"),
};
