/** Messages between the gateway and the launcher of one server, over Node's channel between processes. */
import type { MountStep } from "../parts.ts";

/** A program and how it is started, after the launcher has done its work. */
export type LauncherCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

export type LauncherPlan =
  /** First step of a root caller: in a mount namespace of its own, before its rights are given up. */
  | {
      readonly kind: "stage";
      readonly uid: number;
      readonly gid: number;
      /** Files and folders that the service user is to reach, under their own names. */
      readonly paths: readonly string[];
      readonly command: LauncherCommand;
    }
  /** In the user namespace: mounts, network, tracer; then bubblewrap. */
  | {
      readonly kind: "project";
      /** A folder that no server needs: covered by one in memory, which holds the gateway's files. */
      readonly folder: string;
      readonly files: readonly { readonly path: string; readonly text: string }[];
      readonly mounts: readonly MountStep[];
      /** Ports to listen on; undefined = the server keeps the network of the machine. */
      readonly ports: readonly number[] | undefined;
      readonly trace: "full" | "effects" | "none";
      readonly command: LauncherCommand;
    }
  /** Without namespaces: Landlock and the filter stay with this process when it becomes the server. */
  | {
      readonly kind: "restrict";
      readonly read: readonly string[];
      readonly write: readonly string[];
      /** The filter program, in base64. */
      readonly filter: string;
      readonly trace: "full" | "effects" | "none";
      readonly command: LauncherCommand;
    };

export type LauncherReady = {
  /** The descriptor on which the tracer listens, in the launcher; undefined = nothing is traced. */
  readonly notify: number | undefined;
  /** Sentences about optional parts that could not be made. */
  readonly notes: readonly string[];
};

export type LauncherReport =
  /** The launcher waits for its plan; a root caller receives this twice. */
  | { readonly kind: "launcher-waits" }
  /** The plan is carried out; the launcher waits for `launcher-go`. */
  | ({ readonly kind: "launcher-ready" } & LauncherReady)
  | { readonly kind: "launcher-failed"; readonly reason: string };

/** Descriptors that the launcher hands on: the gateway's channel, and what bubblewrap reads. */
export const launcherDescriptors = { channel: 4, filter: 5, options: 6 } as const;
