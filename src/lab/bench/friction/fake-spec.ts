/** What a fake service answers, as a scenario writes it. */
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";

export type FakeAnswer = {
  readonly method: string;
  /** Matches the path with its query. */
  readonly path: RegExp;
  /** A text that the body holds; absent = any body. */
  readonly holds: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type FakeSpec = {
  /** Hosts that the server's own code names; requests to them reach the fake. */
  readonly hosts: readonly string[];
  /** `redis`: the fake speaks that protocol, a store of texts. */
  readonly kind: "http" | "redis";
  /** The first that fits answers. */
  readonly answers: readonly FakeAnswer[];
};

const methods = ["get", "post", "put", "patch", "delete"] as const;

export function readFake(value: Json | undefined): Result<FakeSpec, string> {
  const hosts = member(value, "hosts") ?? [];
  const rows = member(value, "answers") ?? [];
  const kind = stringMember(value, "kind") ?? "http";
  if (kind !== "http" && kind !== "redis") return err("`fake.kind` is http or redis");
  if (!isArray(hosts) || !isArray(rows)) return err("`fake` needs lists of hosts and answers");
  const answers: FakeAnswer[] = [];
  for (const [index, row] of rows.entries()) {
    const answer = readAnswer(row);
    if (!answer.ok) return err(`answer ${index + 1} of the fake: ${answer.error}`);
    answers.push(answer.value);
  }
  return ok({ hosts: hosts.filter((one) => typeof one === "string"), kind, answers });
}

function readAnswer(row: Json): Result<FakeAnswer, string> {
  const method = methods.find((one) => stringMember(row, one) !== undefined);
  if (method === undefined) return err("it needs a method with the pattern of a path");
  const json = member(row, "json");
  const text = stringMember(row, "text");
  if (json === undefined && text === undefined) return err("it gives neither `json` nor `text`");
  const type = json === undefined ? "text/html; charset=utf-8" : "application/json";
  const more = member(row, "headers");
  const given = isObject(more)
    ? Object.entries(more).filter((one): one is [string, string] => typeof one[1] === "string")
    : [];
  const status = member(row, "status");
  try {
    return ok({
      method: method.toUpperCase(),
      path: new RegExp(`^${stringMember(row, method) ?? ""}$`),
      holds: stringMember(row, "holds"),
      status: typeof status === "number" ? status : 200,
      headers: { "content-type": type, ...Object.fromEntries(given) },
      body: text ?? JSON.stringify(json),
    });
  } catch {
    return err("its path is not a pattern");
  }
}
