/**
 * Packs for servers whose one tool runs any command: which commands they take for a read. Each way around that was tried stands
 * here, and asks.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { judgeExpectation } from "../../src/app/policy/expectations.ts";
import type { CompiledPolicy } from "../../src/policy/compile/compile.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { shippedOptions } from "../kit/policy/load-packs.ts";

function withPack(pack: string): CompiledPolicy {
  const text = `version: 1\nextends: [default]\nservers: {it: {pack: ${pack}}}\n`;
  const loaded = loadPolicy({ file: "reads.yaml", text }, shippedOptions);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy;
}

type Cases = { readonly tool: string; readonly reads: readonly JsonObject[]; readonly asks: readonly JsonObject[] };

const command = (cli_command: string | readonly string[]): JsonObject => ({ cli_command });
const gcloud = (...args: readonly string[]): JsonObject => ({ args });
const azure = (name: string): JsonObject => ({ intent: "look at web-1", command: name, parameters: {} });
const pipeline = (...stages: readonly JsonObject[]): JsonObject => {
  return { connectionId: "preconfigured", database: "shop", collection: "orders", pipeline: stages };
};

const cases: { readonly [pack: string]: Cases } = {
  aws: {
    tool: "call_aws",
    reads: [
      command("aws ec2 describe-instances --region eu-west-1 --query Reservations[*].Instances[*].InstanceId"),
      command("aws logs describe-log-groups --end-time 5"),
      command("aws s3 ls s3://otters/photos/ --recursive"),
      command("aws sts get-caller-identity"),
    ],
    asks: [
      command("aws ec2 terminate-instances --instance-ids i-1"),
      command("aws iam delete-user list-users"),
      command("aws secretsmanager get-secret-value --secret-id db"),
      command("aws ec2 describe-instances --endpoint-url http://169.254.169.254/"),
      command("aws ec2 describe-instances --endpoint-url=//eve.example.org"),
      command("aws ec2 describe-instances --filters file:///etc/passwd"),
      command("aws ec2 describe-instances; aws iam create-user --user-name eve"),
      command("aws ec2 describe-instances\naws iam create-user --user-name eve"),
      command("aws ec2 describe-instances\n"),
      command("aws ec2 describe-instances > /home/ann/.bashrc"),
      command("aws s3 ls s3://otters --endpoint-url x"),
      command(["aws ec2 describe-instances"]),
      command(["aws ec2 describe-instances", "aws ec2 terminate-instances --instance-ids i-1"]),
    ],
  },
  gcp: {
    tool: "run_gcloud_command",
    reads: [
      gcloud("projects", "list", "--format=json(name)"),
      gcloud("compute", "instances", "describe", "web-1", "--zone", "europe-west1-b"),
      gcloud("storage", "buckets", "describe", "gs://otters"),
    ],
    asks: [
      gcloud("compute", "instances", "delete", "list"),
      gcloud("compute", "instances", "delete", "web-1", "--format=list"),
      gcloud("projects", "list", "--flags-file=/tmp/x"),
      gcloud("projects", "list", "--impersonate-service-account=eve@x.iam.gserviceaccount.com"),
      gcloud("projects", "list", "--configuration", "eve", "--log-http"),
      gcloud("projects", "list", "--filter=a\n--flags-file=/tmp/x"),
      gcloud("beta", "projects", "list"),
      gcloud("auth", "list"),
      gcloud("secrets", "versions", "access", "latest"),
      gcloud("projects list"),
      gcloud("projects"),
      { args: "projects list" },
    ],
  },
  azure: {
    tool: "compute",
    reads: [azure("compute_vm_get"), azure("acr_registry_repository_list")],
    asks: [
      azure("compute_vm_delete"),
      azure("communication_email_send"),
      azure("sql_db_get_delete"),
      azure("compute_vm_get "),
      azure("compute_vm_delete\ncompute_vm_get"),
      azure("compute_vm_get\n"),
      { intent: "delete web-1", command: ["compute_vm_get", "compute_vm_delete"] },
      { intent: "delete web-1" },
      { intent: "delete web-1", learn: true },
    ],
  },
  mongodb: {
    tool: "aggregate",
    reads: [pipeline({ $match: { state: "open" } }, { $group: { _id: "$state" } })],
    asks: [
      pipeline({ $match: {} }, { $out: "other" }),
      pipeline({ $merge: { into: "other" } }),
      pipeline({ $match: {}, $out: "other" }),
      pipeline({ $changeStream: {} }),
      { ...pipeline(), pipeline: "[{$out: 1}]" },
    ],
  },
};

describe.each(Object.entries(cases))("pack %s", (pack, { tool, reads, asks }) => {
  const policy = withPack(pack);
  const verdictOf = (call: JsonObject): string => {
    // A document was read, so that a call which does more than read asks; commands of clouds ask always.
    const trace = [...(pack === "mongodb" ? ["find"] : []), { [tool]: call }];
    return judgeExpectation(policy, { trace, verdict: "allow" }, "it").verdict;
  };

  test.each(reads)("%j is a read", (call) => expect(verdictOf(call)).toBe("allow"));
  test.each(asks)("%j asks", (call) => expect(verdictOf(call)).toBe("confirm"));
});
