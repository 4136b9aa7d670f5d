/**
 * The form that a client shows its user about one call (gateway.md 5), and what an answer in it stands for. A client may
 * fill forms by itself, so a form is the consent only where the call cannot do lasting harm outside; everywhere else it
 * shows the card and where to answer, and of its answers only a refusal counts.
 */
import type { Decision } from "../../core/decision.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { type Json, type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import { takesForms } from "../../wire/elicitation.ts";
import type { Call } from "../decision/call.ts";
import { scopeOf } from "../decision/obligations.ts";
import type { Projection } from "../ports/projection.ts";
import type { ApprovalCard, ApprovalChoice } from "../ports/services.ts";

/** `consents`: an answer in the form is the consent. `shows`: it shows the card, and only a refusal in it counts. */
export type FormRole = "consents" | "shows";

/** What a form said: a choice, or that the user answered elsewhere, which the gateway then looks up. */
export type FormAnswer = ApprovalChoice | "elsewhere";

/** The role of a form about this call; undefined where the client shows none, or the policy excludes forms. */
export function formRole(
  call: Pick<Call, "live" | "contract">,
  decision: Decision,
  facts: { readonly capabilities: JsonObject; readonly projection: Projection | undefined },
): FormRole | undefined {
  const { approvals } = call.live.policy.settings;
  if (approvals.form === "none" || !takesForms(facts.capabilities)) return undefined;
  if (approvals.by === "other") return "shows";
  if (!lasting(call, decision, facts.projection)) return "consents";
  // A form proves nothing about who answers it.
  return approvals.form === "all" && approvals.factor === undefined ? "consents" : "shows";
}

/**
 * True unless something excludes that the call has irreversible effects outside: its label, or the projection that it
 * runs in. A call that touches the gateway's own files is never excluded: a consent to it may change all later ones.
 */
export function lasting(
  { live, contract }: Pick<Call, "live" | "contract">,
  decision: Decision,
  projection: Projection | undefined,
): boolean {
  if (decision.reasons.some(({ code }) => code === "SG-ASK-OWN")) return true;
  if (!contract.flags.irreversible) return false;
  const order = live.policy.isolation(contract.server);
  return order === undefined || !encloses(order, { tool: contract.tool, decision, projection });
}

type Enclosed = {
  readonly tool: string;
  readonly decision: Decision;
  readonly projection: Projection | undefined;
};

/** Whether a projection with namespaces of its own lets this call reach nothing but the overlay of the workspace. */
function encloses(order: IsolationOrder, { tool, decision, projection }: Enclosed): boolean {
  const walled = order.mode === "auto" || order.mode === "where-possible";
  if (!walled || projection === undefined) return false;
  if (projection.tier !== "A" && projection.tier !== "A-") return false;
  const { files, net, sockets, tools } = order.scope;
  const own = tools.get(tool);
  const closed = net.mode !== "open" && net.allow.length === 0 && sockets.length === 0;
  const kept = files.workspace.mode !== "direct" && files.write.length === 0;
  return closed && kept && (own === undefined || own.allow.length + own.write.length === 0) && opensNothing(decision);
}

/** Whether the scope of this very call adds no destination, as its trusted arguments may. */
function opensNothing({ obligations }: Decision): boolean {
  const scope = scopeOf(obligations);
  if (scope === undefined) return true;
  const allow = member(parsed(scope), "allow");
  return isArray(allow) && allow.length === 0;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json; // every member that is used is checked
  } catch {
    return undefined;
  }
}

const wordOf: Readonly<Record<FormAnswer, string>> = {
  once: "approve once",
  value: "trust this value in this run",
  refuse: "refuse",
  elsewhere: "I have answered there",
};

/** Parameters of `elicitation/create` for a card. */
export function formOf(card: ApprovalCard, role: FormRole): JsonObject {
  const answers: readonly FormAnswer[] = role === "consents" ? card.choices : ["elsewhere", "refuse"];
  const where = role === "consents" ? [] : [elsewhereText(card.approval)];
  return {
    mode: "form",
    message: [card.title, ...card.lines, card.arguments, ...where].join("\n"),
    requestedSchema: {
      type: "object",
      properties: {
        decision: { type: "string", title: "Decision", enum: answers.map((answer) => wordOf[answer]) },
      },
      required: ["decision"],
    },
  };
}

function elsewhereText(approval: string): string {
  return `This form cannot approve it. To approve, run \`sluicegate approve ${approval}\` in a terminal of your own, then answer here.`;
}

/** The answer in an elicitation result; anything but an accepted form with a word of this role is a refusal or nothing. */
export function answerIn(result: Json | undefined, role: FormRole): FormAnswer | undefined {
  const action = stringMember(result, "action");
  if (action === "decline") return "refuse";
  if (action !== "accept") return undefined;
  const word = stringMember(member(result, "content"), "decision");
  const answers = role === "consents" ? (["once", "value", "refuse"] as const) : (["elsewhere", "refuse"] as const);
  return answers.find((answer) => wordOf[answer] === word);
}

/** Content of the gateway's sealed `requestState`: everything that a retry must match. */
export type SealedState = {
  readonly approval: string;
  readonly digest: string;
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
};

/** The state in an unsealed text; undefined where a member is absent or of another kind. */
export function sealedState(plain: string): SealedState | undefined {
  const value = parsed(plain);
  const approval = stringMember(value, "approval");
  const digest = stringMember(value, "digest");
  const run = stringMember(value, "run");
  const expires = member(value, "expires");
  if (approval === undefined || digest === undefined || run === undefined || typeof expires !== "number")
    return undefined;
  return { approval, digest, run, expires };
}
