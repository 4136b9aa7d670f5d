/** Texts of an isolated server beside its results: they may say what a rejected result would have said. */
import { describe, expect, it } from "vitest";
import { traceOf } from "../../../test/kit/isolation/fake-projection.ts";
import { plain } from "../../../test/kit/gateway/playbook.ts";
import { callOf } from "../../../test/kit/gateway/first-calls.ts";
import { called, isolating, listening, result, staged, type Told } from "../../../test/kit/gateway/isolated-calls.ts";

describe("a text beside the result", () => {
  const log = { method: "notifications/message", params: { level: "info", data: "the secret words" } };
  const progress = (text: string, count: number) => ({
    method: "notifications/progress",
    params: { progressToken: "p", progress: count, message: text },
  });
  const counted = { ...callOf(1, "read_file") };
  const call = { ...counted, params: { ...counted.params, _meta: { progressToken: "p" } } };
  const seen = ({ stage }: Told): string => JSON.stringify(stage.client.got.map(plain));

  it("attack: of a call that went out of its scope passes only as numbers, before and after its result", async () => {
    const told = await staged(isolating(), { traces: listening });
    told.stage.client.say(call);
    await told.stage.settle();
    told.stage.server.say(log);
    told.stage.server.say(progress("secret 1", 1));
    await told.stage.settle();
    told.stage.server.say(progress("secret 2", 2));
    told.stage.server.say({ id: 1, result });
    await told.stage.settle();
    expect(seen(told)).not.toMatch(/secret|words/);
    expect(told.stage.client.got.map(plain)).toContainEqual(
      expect.objectContaining({ params: { progressToken: "p", progress: 1 } }),
    );
    expect(told.projection.did.slice(0, 3)).toEqual(["begin read_file S", "trace", "trace"]);
  });

  it("of a call within its scope passes, in order and before the result", async () => {
    const told = await staged(isolating());
    told.stage.client.say(call);
    await told.stage.settle();
    told.stage.server.say(log);
    told.stage.server.say(progress("one", 1));
    told.stage.server.say({ id: 1, result });
    await told.stage.settle();
    const [first, second, third] = told.stage.client.got.slice(-3).map(plain);
    expect(first).toMatchObject({ method: "notifications/message" });
    expect(second).toMatchObject({ params: { message: "one" } });
    expect(third).toMatchObject({ id: 1, result });
  });

  it("attack: passes only after what was done outside of calls is judged", async () => {
    const told = await staged(isolating());
    await called(told);
    told.projection.traces = () => traceOf([{ action: "net-listen", phase: "background" }]);
    told.stage.server.say(log);
    await told.stage.settle();
    expect(seen(told)).not.toContain("secret");
    expect(told.stage.gateway.state.admissions.isRevoked("files")).toBe(true);
  });
});
