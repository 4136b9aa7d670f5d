// Answers to a server in a form that no revision has: data for that server all the same.
import { expect, it } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { plain } from "../kit/gateway/playbook.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const secret = "Operation Nightingale begins in Lisbon";
const policy = `extends: [default]
labels:
  cal.read: {effects: read.local, output: {confidentiality: private, trust: trusted}}
  far.get: {effects: read.external, args: {q: {role: query}}}
`;

it.each<[string, Json]>([
  ["a list", [secret]],
  ["a text", secret],
  ["answers by name", { a: { action: "accept", content: { note: secret } } }],
])("%s of private data does not go out as the answers to a question", async (_what, inputResponses) => {
  const talk = new Conversation(
    policy,
    { cal: ["read"], far: ["get"] },
    {
      answer: (tool) =>
        tool === "read"
          ? { content: [{ type: "text", text: secret }] }
          : { resultType: "task", taskId: "t1", status: "input_required" },
    },
  );
  await talk.call("cal.read");
  await talk.call("far.get");
  const client = talk.stage.connect({ server: "far" });
  client.say({ id: "l", method: "tools/list" });
  await talk.serve();
  client.say({ id: "a", method: "tools/call", params: { name: "get", arguments: {}, inputResponses } });
  client.say({ id: "b", method: "tasks/update", params: { taskId: "t1", inputResponses } });
  await talk.stage.settle();
  const sent = talk.stage.servers.flatMap(({ got }) => got.map(plain));
  expect(JSON.stringify(sent)).not.toContain(secret);
  expect(client.got.map(plain)).toMatchObject([{ id: "l" }, { id: "a" }, { id: "b" }]);
});
