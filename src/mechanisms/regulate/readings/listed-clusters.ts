/**
 * Subcommands of kubectl and docker that only read. They ask the cluster or daemon that their configuration names, so an
 * option that chooses another one, or another identity, is not here: `--server`, `--kubeconfig`, `--token`, `--as`, `-H`,
 * `--context` of docker, `--config`.
 */
import type { Listing } from "./listing.ts";

/** Whole words, so that a pod may be called `secret-santa`. */
const secrets = /^(?:[\w.,/-]*,)?secrets?(?:\.v1)?(?:[,/.].*)?$/i;
/** Templates from files, and everything that is no form of output. */
const forms = /^(?:[a-z0-9-]*template-?file|jsonpath-(?:as|file)|custom-columns-file|go-template-file|templatefile)\b/i;
const never = new RegExp(`${secrets.source}|${forms.source}`, "i");

const where = "n namespace context cluster request-timeout";
const chosen = `${where} l selector o output field-selector sort-by L label-columns chunk-size`;
const list = "A all-namespaces show-labels no-headers ignore-not-found show-kind";

const rollout: Listing = { valued: where, optional: `${where} revision`, never };

export const kubectl: Listing = {
  flags: "version",
  valued: where,
  optional: where,
  subcommands: {
    "api-resources": {
      flags: "no-headers cached",
      valued: "o output api-group",
      optional: "namespaced verbs api-group sort-by output categories",
    },
    "api-versions": {},
    auth: {
      subcommands: {
        "can-i": { flags: "list A all-namespaces q quiet no-headers", valued: where, optional: `${where} subresource` },
        whoami: { valued: "o", optional: "output" },
      },
    },
    "cluster-info": { operands: 0, valued: where, optional: where },
    config: {
      subcommands: {
        "current-context": {},
        "get-clusters": {},
        "get-contexts": { flags: "no-headers", valued: "o output", optional: "output" },
        view: { flags: "minify", valued: "o output", optional: "output" },
      },
    },
    describe: {
      flags: "A all-namespaces",
      valued: `${where} l selector`,
      optional: `${where} selector show-events chunk-size`,
      never,
    },
    events: {
      flags: "A all-namespaces no-headers",
      valued: `${where} for o output types`,
      optional: `${where} for output types`,
      never,
    },
    explain: { flags: "recursive", valued: "context", optional: "api-version output recursive context" },
    get: { flags: list, valued: chosen, optional: `${chosen} show-managed-fields server-print`, never },
    logs: {
      flags: "p previous timestamps all-containers prefix ignore-errors",
      valued: `${where} c container l selector tail since since-time limit-bytes`,
      optional: `${where} container selector tail since since-time limit-bytes previous timestamps all-containers prefix`,
    },
    rollout: { subcommands: { history: rollout, status: { ...rollout, optional: `${where} watch timeout revision` } } },
    top: {
      subcommands: {
        node: { flags: "no-headers", valued: `${where} l selector sort-by`, optional: `${where} selector sort-by` },
        nodes: { flags: "no-headers", valued: `${where} l selector sort-by`, optional: `${where} selector sort-by` },
        pod: {
          flags: "A all-namespaces containers no-headers",
          valued: `${where} l selector sort-by`,
          optional: `${where} selector sort-by`,
        },
        pods: {
          flags: "A all-namespaces containers no-headers",
          valued: `${where} l selector sort-by`,
          optional: `${where} selector sort-by`,
        },
      },
    },
    version: { flags: "client", valued: "o output", optional: "client output" },
  },
};

const listed: Listing = { flags: "q quiet no-trunc", valued: "f filter format", optional: "filter format no-trunc" };
const containers: Listing = {
  flags: "a l q s all latest quiet size no-trunc",
  valued: "f n filter format last",
  optional: "filter format last no-trunc",
};
const images: Listing = {
  flags: "a q all quiet digests no-trunc tree",
  valued: "f filter format",
  optional: "filter format",
};
const inspected: Listing = { flags: "s size v verbose", valued: "f format type", optional: "format type" };
const said: Listing = { flags: "t timestamps details", valued: "n tail since until", optional: "tail since until" };
const measured: Listing = {
  flags: "a all no-stream no-trunc",
  needs: "no-stream",
  valued: "format",
  optional: "format",
};
const history: Listing = { flags: "H q quiet human no-trunc", valued: "format", optional: "format" };
const one: Listing = { operands: 1 };
const two: Listing = { operands: 2 };

const container: { readonly [name: string]: Listing } = {
  diff: one,
  inspect: inspected,
  logs: said,
  ls: containers,
  list: containers,
  ps: containers,
  port: two,
  stats: measured,
  top: one,
};

const stack = {
  flags: "a all q quiet services no-trunc",
  valued: "format filter status",
  optional: "format filter status",
};

export const docker: Listing = {
  flags: "version",
  subcommands: {
    compose: {
      subcommands: {
        images: { flags: "q quiet", optional: "format" },
        logs: {
          flags: "t timestamps no-color no-log-prefix",
          valued: "n tail since until",
          optional: "tail since until",
        },
        ls: { flags: "a all q quiet", valued: "filter format", optional: "filter format" },
        ps: stack,
        top: {},
        version: { flags: "short" },
      },
    },
    container: { subcommands: container },
    diff: one,
    history,
    image: { subcommands: { history, inspect: inspected, ls: images, list: images } },
    images,
    info: { optional: "format" },
    inspect: inspected,
    logs: said,
    network: { subcommands: { inspect: inspected, ls: listed, list: listed } },
    node: { subcommands: { inspect: inspected, ls: listed, ps: listed } },
    port: two,
    ps: containers,
    service: { subcommands: { inspect: inspected, logs: said, ls: listed, ps: listed } },
    stats: measured,
    system: { subcommands: { df: { flags: "v verbose", optional: "format" }, info: { optional: "format" } } },
    top: one,
    version: { valued: "f format", optional: "format" },
    volume: { subcommands: { inspect: inspected, ls: listed, list: listed } },
  },
};
