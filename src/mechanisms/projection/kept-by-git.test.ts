import { expect, test } from "vitest";
import { change, grounds, orderOf, tool, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace } from "./judgement.ts";

test("git keeps what the call names in its index and objects; refs say more, and another repository is elsewhere", () => {
  const all = tool({ does: ["read", "write", "execute"] });
  const found = (paths: readonly string[], path: string): readonly string[] => {
    const changes = paths.map((one) => change(one));
    return judgeTrace(grounds(traceOf({ changes }), orderOf(), all, { path })).suspicions.map(({ rule }) => rule);
  };
  expect(found([".git/index", ".git/objects/0a/1b"], "a")).toEqual([]);
  expect(found(["sub/.git/index.lock"], "sub/a")).toEqual([]);
  const elsewhere = ["sub/.git/index", ".git/refs/heads/main", ".git/index.js", "x.git/index", "x/.gitindex"];
  for (const other of elsewhere) expect(found([other], "a"), other).toEqual(["suspicion.writes-elsewhere"]);
});
