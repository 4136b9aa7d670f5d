/** The parts of a drafted analysis around its unsafe control actions: stakeholders, losses, hazards, controllers. */
import type { DraftHazard } from "./draft-acts.ts";
import type {
  ControlAction,
  Feedback,
  Loss,
  Process,
  Stakeholder,
  StpaDocument,
  StpaHazard,
  UnsafeControlAction,
} from "./document.ts";

/** A draft while it is made. */
export type Making = {
  readonly ids: Set<string>;
  readonly actions: { [id: string]: ControlAction };
  readonly ucas: { [id: string]: UnsafeControlAction };
  readonly feedback: { [id: string]: Feedback };
  /** Hazards that some question leads to. */
  readonly asked: Set<DraftHazard>;
  /** Questions that found no room. */
  questions: number;
};

type Concern = {
  readonly who: "user" | "others";
  readonly value: readonly [id: string, says: string];
  readonly loss: readonly [id: string, says: string];
  readonly hazard: string;
};

/** Each hazard with the loss it leads to and the value behind it; sentences to start from. */
const concerns: Readonly<Record<DraftHazard, Concern>> = {
  disclosure: {
    who: "user",
    value: ["V-privacy", "what is private stays with those whom it concerns"],
    loss: ["L-privacy", "private data becomes known to somebody who should not have it"],
    hazard: "private data lies where others can see it",
  },
  steered: {
    who: "user",
    value: ["V-control", "the agent does what its user asked for"],
    loss: ["L-control", "the agent acts for somebody else than its user"],
    hazard: "an act is steered by text that somebody else wrote",
  },
  gone: {
    who: "user",
    value: ["V-work", "work and data are still there tomorrow"],
    loss: ["L-work", "work or data is lost for good"],
    hazard: "something is changed or gone that nothing can bring back",
  },
  money: {
    who: "user",
    value: ["V-money", "money goes only where it is owed, and once"],
    loss: ["L-money", "money is lost"],
    hazard: "money moves unchecked, wrongly or twice",
  },
  lasting: {
    who: "others",
    value: ["V-quiet", "they are left alone once a matter is done"],
    loss: ["L-quiet", "others are reached, or can reach in, oftener or longer than anybody asked"],
    hazard: "an act is repeated, or goes on, beyond what was asked",
  },
  unknown: {
    who: "user",
    value: ["V-knowledge", "it is known what the agent can do"],
    loss: ["L-knowledge", "something happens of which nobody knew that it could"],
    hazard: "a tool is used of which nobody has said what it does",
  },
};

const people: Readonly<Record<Concern["who"], Omit<Stakeholder, "values">>> = {
  user: { kind: "direct", who: "whoever works with the agent" },
  others: { kind: "indirect", who: "those whom its acts reach" },
};

/** A whole document around the questions of `make`; `processes` are the ids of servers. */
export function draftFrame(make: Making, processes: readonly string[]): StpaDocument {
  // In the order of the table, so that the draft does not depend on which tool raised a hazard first.
  const asked = Object.entries(concerns).filter(([hazard]) => [...make.asked].some((one) => one === hazard));
  const stakeholders: { [id: string]: Stakeholder } = {};
  const losses: { [id: string]: Loss } = {};
  const hazards: { [id: string]: StpaHazard } = {};
  for (const [id, { who, value, loss, hazard }] of asked) {
    stakeholders[who] = { ...people[who], values: { ...stakeholders[who]?.values, [value[0]]: value[1] } };
    losses[loss[0]] = { says: loss[1], harms: [value[0]] };
    hazards[`H-${id}`] = { says: hazard, losses: [loss[0]] };
  }
  return {
    version: 1,
    stakeholders,
    losses,
    hazards,
    control: {
      controllers: {
        agent: { kind: "agent", does: "plans and calls tools" },
        gateway: { kind: "gateway", does: "permits, asks or refuses each call, and releases each result" },
        person: { kind: "person", does: "gives the task, and consents where the gateway asks" },
      },
      processes: Object.fromEntries(processes.map((id): readonly [string, Process] => [id, { kind: "tools" }])),
      actions: make.actions,
      feedback: make.feedback,
    },
    ucas: make.ucas,
    scenarios: {},
    requirements: {},
  };
}
