import { member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import { capabilityOf, samplingText, type Inquiry } from "./call.ts";
import { text } from "./content.ts";
import { tool, type Tool } from "./tool.ts";

function form(message: string, properties: JsonObject, required: readonly string[]): Inquiry {
  const requestedSchema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

function prompt(message: string, maxTokens: number): Inquiry {
  const messages = [{ role: "user", content: { type: "text", text: message } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens } };
}

const roots: Inquiry = { method: "roots/list", params: {} };
const nameForm = form("What is your name?", { name: { type: "string" } }, ["name"]);
const confirmForm = form("Please confirm", { ok: { type: "boolean" } }, ["ok"]);

function said(answer: Json | undefined): string {
  return `action=${stringMember(answer, "action")}, content=${JSON.stringify(member(answer, "content") ?? {})}`;
}

/** Declares a tool that asks once and shows the answers. */
function asking(
  name: string,
  inquiries: Readonly<Record<string, Inquiry>>,
  show: (answers: JsonObject) => string,
  stateful = false,
): Tool {
  const made = tool(name, `Asks for ${Object.keys(inquiries).join(", ")}`, {}, async (call) => ({
    content: [text(show(await call.ask(inquiries)))],
  }));
  return stateful ? { ...made, stateful: true } : made;
}

const option = (value: string, title: string): JsonObject => ({ const: value, title });
const options = ["option1", "option2", "option3"];
const titled = [option("value1", "First"), option("value2", "Second"), option("value3", "Third")];

const formTools: readonly Tool[] = [
  tool("test_elicitation", "Asks the user", { message: { type: "string" } }, async (call) => {
    const properties = {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    };
    const message = stringMember(call.arguments, "message") ?? "Please provide your information";
    const answers = await call.ask({ user: form(message, properties, ["username", "email"]) });
    return { content: [text(`User response: ${said(answers["user"])}`)] };
  }),
  asking(
    "test_elicitation_sep1034_defaults",
    {
      defaults: form(
        "Please review",
        {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        },
        [],
      ),
    },
    (answers) => `Elicitation completed: ${said(answers["defaults"])}`,
  ),
  asking(
    "test_elicitation_sep1330_enums",
    {
      enums: form(
        "Please choose",
        {
          untitledSingle: { type: "string", enum: options },
          titledSingle: { type: "string", oneOf: titled },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: { type: "array", items: { type: "string", enum: options } },
          titledMulti: { type: "array", items: { anyOf: titled } },
        },
        [],
      ),
    },
    (answers) => `Elicitation completed: ${said(answers["enums"])}`,
  ),
  asking("test_streaming_elicitation", { user_name: nameForm }, (answers) => said(answers["user_name"])),
];

const roundTools: readonly Tool[] = [
  tool("test_sampling", "Asks the client's model", { prompt: { type: "string" } }, async (call) => {
    const answers = await call.ask({ sample: prompt(stringMember(call.arguments, "prompt") ?? "", 100) });
    return { content: [text(`LLM response: ${samplingText(answers["sample"])}`)] };
  }),
  asking("list_client_roots", { client_roots: roots }, (answers) => JSON.stringify(answers["client_roots"] ?? null)),
  asking(
    "test_input_required_result_elicitation",
    { user_name: nameForm },
    (answers) => `Hello, ${stringMember(member(answers["user_name"], "content"), "name")}!`,
  ),
  asking(
    "test_input_required_result_sampling",
    { capital_question: prompt("What is the capital of France?", 100) },
    (answers) => samplingText(answers["capital_question"]),
  ),
  asking("test_input_required_result_list_roots", { client_roots: roots }, (answers) =>
    JSON.stringify(answers["client_roots"] ?? null),
  ),
  asking("test_input_required_result_request_state", { confirm: confirmForm }, () => "state-ok", true),
  asking("test_input_required_result_tampered_state", { confirm: confirmForm }, () => "state-ok", true),
  asking(
    "test_input_required_result_multiple_inputs",
    { user_name: nameForm, greeting: prompt("Generate a greeting", 50), client_roots: roots },
    (answers) => JSON.stringify(answers),
    true,
  ),
  {
    ...tool("test_input_required_result_multi_round", "Asks twice, one after the other", {}, async (call) => {
      const first = await call.ask({
        step1: form("Step 1: What is your name?", { name: { type: "string" } }, ["name"]),
      });
      const second = await call.ask({
        step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }, ["color"]),
      });
      return { content: [text(`${said(first["step1"])}; ${said(second["step2"])}`)] };
    }),
    stateful: true,
  },
  tool("test_input_required_result_capabilities", "Asks only what the client can answer", {}, async (call) => {
    const all: Readonly<Record<string, Inquiry>> = {
      user_name: nameForm,
      greeting: prompt("Generate a greeting", 50),
      client_roots: roots,
    };
    const possible = Object.entries(all).filter(
      ([, inquiry]) => call.capabilities[capabilityOf[inquiry.method] ?? ""] !== undefined,
    );
    return { content: [text(JSON.stringify(await call.ask(Object.fromEntries(possible))))] };
  }),
];

/** Tools that need an answer from user, model or client before they can finish. */
export const askingTools: readonly Tool[] = [...formTools, ...roundTools];
