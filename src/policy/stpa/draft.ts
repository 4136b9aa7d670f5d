/**
 * Proposes unsafe control actions from what tools are believed to do: controller x action x form over the labels of a
 * real manifest. A draft is the start of an analysis; only its users know the stakes of their system.
 */
import { stringify } from "yaml";
import type { Lattice } from "../../core/label.ts";
import {
  type Act,
  type Condition,
  type DraftTool,
  acts,
  actsOf,
  isSteerable,
  isUnlabelled,
  sourceOf,
} from "./draft-acts.ts";
import { type Making, draftFrame } from "./draft-frame.ts";
import { type StpaDocument, draftToolsMax, draftUcasMax, stpaEntriesMax } from "./document.ts";

export type Draft = {
  readonly document: StpaDocument;
  /** Tools whose names cannot stand in a selector, and questions beyond the limit. */
  readonly leftOut: { readonly tools: number; readonly questions: number };
};

/** A draft that is the same for the same tools, in whatever order they are listed. */
export function draftStpa(tools: readonly DraftTool[], lattice: Lattice): Draft {
  const usable = tools.filter(isNameable).toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  const make: Making = { ids: new Set(), actions: {}, ucas: {}, feedback: {}, asked: new Set(), questions: 0 };
  const facts = factsOf(usable, lattice);
  for (const server of new Set(usable.map(({ contract }) => contract.server))) {
    const own = usable.filter(({ contract }) => contract.server === server);
    for (const act of acts) {
      const acting = own.filter((tool) => actsOf(tool).has(act.id));
      if (acting.length > 0) draftAction(make, facts, { server, act, tools: acting, own });
    }
    draftFeedback(make, server, own, lattice);
  }
  const servers = [...new Set(Object.values(make.actions).map(({ on }) => on))];
  if (servers.length > 0) draftConsent(make);
  const sources = Object.values(make.feedback).map(({ from }) => from);
  const document = draftFrame(make, [...new Set([...servers, ...sources])].toSorted());
  return { document, leftOut: { tools: tools.length - usable.length, questions: make.questions } };
}

/** The draft as text, with what a reader must know on top. */
export function draftText({ document, leftOut }: Draft): string {
  const notes = [
    "# A draft: which of these matter here, what they would cost, and what is missing, only you can say.",
    "# Complete it, then `sluicegate stpa check` says what is still open.",
    ...(leftOut.tools === 0
      ? []
      : [`# Left out: ${leftOut.tools} tools whose names hold spaces, \`*\` or control characters.`]),
    ...(leftOut.questions === 0
      ? []
      : [`# Left out: ${leftOut.questions} questions beyond the limit of ${draftUcasMax}.`]),
  ];
  return `${notes.join("\n")}\n${stringify(document, { aliasDuplicateObjects: false, lineWidth: 116 })}`;
}

type Facts = {
  readonly private: readonly string[];
  readonly untrusted: readonly string[];
  readonly backup: readonly string[];
};
type Group = {
  readonly server: string;
  readonly act: Act;
  readonly tools: readonly DraftTool[];
  /** All tools of the server. */
  readonly own: readonly DraftTool[];
};

function isNameable({ contract: { server, tool } }: DraftTool): boolean {
  const plain = /^[^\s\p{C}*]+$/u;
  return plain.test(tool) && plain.test(server) && !server.includes(".") && server.length + tool.length < 192;
}

function nameOf({ contract: { server, tool } }: DraftTool): string {
  return `${server}.${tool}`;
}

/** Tools are named where a label states that they return such data; of the others it can only be assumed. */
function factsOf(tools: readonly DraftTool[], lattice: Lattice): Facts {
  const sources = tools.map((tool) => ({
    name: nameOf(tool),
    known: !isUnlabelled(tool),
    ...sourceOf(tool.contract, lattice),
  }));
  const named = (kind: "private" | "untrusted"): readonly string[] => {
    const all = sources.filter((source) => source[kind]);
    return all.some(({ known }) => known)
      ? all.filter(({ known }) => known).map(({ name }) => name)
      : all.map(({ name }) => name);
  };
  return {
    private: named("private"),
    untrusted: named("untrusted"),
    backup: tools.filter((tool) => actsOf(tool).has("backup")).map(nameOf),
  };
}

function draftAction(make: Making, facts: Facts, group: Group): void {
  const { server, act, tools } = group;
  const asked = act.questions.filter(({ when }) => applies(when, facts, group));
  if (asked.length === 0 || Object.keys(make.actions).length >= stpaEntriesMax - 1) {
    make.questions += asked.length;
    return;
  }
  const room = Math.max(0, draftUcasMax - Object.keys(make.ucas).length);
  make.questions += Math.max(0, asked.length - room);
  if (room === 0) return;
  const action = freshId(make, `A.${server}.${act.id}`);
  const does = `${act.does} (${listed(tools.map(({ contract }) => contract.tool))})`;
  make.actions[action] = { by: "agent", on: processId(server), tools: selectorsOf(server, tools), does };
  for (const question of asked.slice(0, room)) {
    make.asked.add(question.hazard);
    make.ucas[freshId(make, `UCA.${server}.${act.id}.${question.code}`)] = {
      controller: "agent",
      action,
      form: question.form,
      hazards: [`H-${question.hazard}`],
      context: filled(question.context, facts, group),
    };
  }
}

/** The approver acts too: consent is a control action of its own, and the last one before anything happens. */
function draftConsent(make: Making): void {
  make.asked.add("steered");
  make.actions["A.person.consent"] = { by: "person", on: "gateway", does: "consents to a call that asks" };
  make.ucas["UCA.person.consent.unread"] = {
    controller: "person",
    action: "A.person.consent",
    form: "provided",
    hazards: ["H-steered"],
    context: "when the card shows too little to tell what the call would do, or is one of too many to be read",
  };
}

function applies(when: Condition, facts: Facts, { tools, own }: Group): boolean {
  switch (when) {
    case "always":
      return true;
    case "private":
      return facts.private.length > 0;
    case "untrusted":
      return facts.untrusted.length > 0 && tools.some(({ contract }) => isSteerable(contract));
    case "deletes":
      return own.some((tool) => actsOf(tool).has("delete"));
    case "opens":
      return tools.some(({ contract }) => contract.opens.length > 0);
  }
}

function filled(context: string, facts: Facts, { server, tools }: Group): string {
  const copies = facts.backup.filter((name) => name.startsWith(`${server}.`));
  const stores = [...new Set(tools.flatMap(({ contract }) => contract.opens.map(({ store }) => store)))];
  // Names of tools may hold what `replace` would expand, so they are given as functions.
  return context
    .replace("{private}", () => listed(facts.private))
    .replace("{untrusted}", () => listed(facts.untrusted))
    .replace("{backup}", () => (copies.length === 0 ? "a copy" : listed(copies)))
    .replace("{stores}", () => listed(stores));
}

/** Feedback from a server to the agent, where its readers or its author matter. */
function draftFeedback(make: Making, server: string, own: readonly DraftTool[], lattice: Lattice): void {
  const told = own.filter(({ contract }) => {
    const source = sourceOf(contract, lattice);
    return source.private || source.untrusted;
  });
  if (told.length === 0 || Object.keys(make.feedback).length >= stpaEntriesMax) return;
  make.feedback[freshId(make, `F.${server}`)] = {
    from: processId(server),
    to: "agent",
    tools: selectorsOf(server, told),
    says: "returns data that is not public, or that others may have written",
  };
}

function selectorsOf(server: string, tools: readonly DraftTool[]): readonly string[] {
  return tools.length > draftToolsMax ? [`${server}.*`] : tools.map(nameOf);
}

/** Id of the process that a server is. */
export function processId(server: string): string {
  return plainId(`server.${server}`);
}

/** Other characters than an id may have become `-`; a long name is cut. */
function plainId(text: string): string {
  return text.replace(/[^A-Za-z0-9_.:-]/g, "-").slice(0, 60);
}

function freshId(make: Making, wanted: string): string {
  const plain = plainId(wanted);
  let id = plain;
  for (let count = 2; make.ids.has(id); count += 1) id = `${plain.slice(0, 56)}-${count}`;
  make.ids.add(id);
  return id;
}

/** Up to three names, and how many more there are. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => `\`${name}\``);
  return names.length > 3 ? `${shown.join(", ")} and ${names.length - 3} more` : shown.join(" or ");
}
