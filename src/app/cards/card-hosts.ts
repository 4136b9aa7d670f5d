/** Hosts on a card: which can be opened to a server, what it wants of them, and whether the card decides at all. */
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { hasSecret } from "../../core/secret.ts";
import { destinationFault } from "../../policy/isolation/destination-faults.ts";
import { destinationGivesAway } from "../../policy/isolation/sensitive.ts";
import { shown } from "../state/sentences.ts";

/** `wants`: what this card could open; `opened`: what it has opened. `decided`: why neither can be, as a sentence. */
export type CardNetwork = {
  readonly wants: readonly string[];
  readonly opened: readonly string[];
  readonly decided: string | undefined;
};

/** Hosts that a card opens at most. */
export const hostsMax = 32;

/** Why a host cannot be opened on a card, as a sentence. */
export function whyNoHost(host: string): string | undefined {
  const name = `\`${shown(host, 100)}\``;
  const fault = destinationFault(host);
  if (fault !== undefined) return `${name} ${fault.why}: ${fault.remedy}.`;
  const gives = destinationGivesAway(host);
  return gives === undefined ? undefined : `${name} gives away ${gives}: only a line of your policy can open that.`;
}

/** Why an answer with these hosts cannot be given; undefined where it can. */
export function whyNoHosts(network: CardNetwork, hosts: readonly string[]): string | undefined {
  if (network.decided !== undefined) return network.decided;
  if (hosts.length === 0) return "Name the hosts to open: it has not wanted any since it started.";
  if (hosts.length > hostsMax) return `A card opens at most ${hostsMax} hosts: write more into your policy.`;
  return hosts.map(whyNoHost).find((why) => why !== undefined);
}

/**
 * What the card says of the network. `order`: under which the server runs, undefined where nothing isolates it; `wanted`:
 * what it tried in vain, in its own words; `opened`: what a card opened.
 */
export function networkOf(
  server: string,
  order: IsolationOrder | undefined,
  wanted: readonly string[],
  opened: readonly string[],
): CardNetwork {
  const name = `\`${shown(server, 64)}\``;
  const closed = (decided: string): CardNetwork => ({ wants: [], opened: [], decided });
  if (order === undefined) return closed(`Nothing is closed to ${name}: your policy does not isolate it.`);
  const { mode, scope } = order;
  if (mode === "off" || mode === "learn") return closed(`Nothing is closed to ${name}: its isolation is \`${mode}\`.`);
  const byPolicy = mode === "auto" || (scope.net.mode !== "none" && opened.length === 0);
  if (byPolicy)
    return closed(
      `Your policy or a pack says what ${name} reaches: add hosts to \`net\` under isolation.servers.${shown(server, 64)}.`,
    );
  // A name that may hold a key is no name to be shown or opened.
  const usable = (host: string): boolean => !hasSecret(host) && whyNoHost(host) === undefined;
  const wants = wanted.filter((host) => usable(host) && !opened.some((one) => isSame(one, host))).slice(0, hostsMax);
  return { wants, opened, decided: undefined };
}

/** `api.example.com` stands for its port 443. */
function isSame(left: string, right: string): boolean {
  const whole = (host: string): string => (host.includes(":") ? host : `${host}:443`).toLowerCase();
  return whole(left) === whole(right);
}
