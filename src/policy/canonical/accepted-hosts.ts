/**
 * Hosts that an operator accepted on admission cards, as part of the isolation of a policy: so its canonical text has
 * them, and with it log, replay and proof. A policy that says itself what a server reaches, or a pack that does, decides alone.
 */
import type { PolicyDocument } from "./policy-document.ts";
import type { IsolationSection } from "../document/shapes-isolation.ts";

export type AcceptedHosts = Exclude<IsolationSection["servers"], undefined>;

/**
 * The section with the hosts of each server that isolation by default closes in; unchanged where that is not in force. A card
 * that opens hosts takes the view of the workspace away, unless it or the policy says otherwise: both together are a way
 * out for all that other servers write there.
 */
export function withAcceptedHosts(
  section: IsolationSection | undefined,
  hosts: AcceptedHosts,
  { servers = {} }: Pick<PolicyDocument, "servers">,
  packs: readonly PolicyDocument[],
): IsolationSection | undefined {
  if (section?.backend !== "where-possible" || decidesForAll(section)) return section;
  const known = section.servers ?? {};
  const opened = Object.entries(hosts).filter(([name, { net }]) => {
    const own = Object.hasOwn(known, name) ? known[name] : undefined;
    const pack = Object.hasOwn(servers, name) ? servers[name]?.pack : undefined;
    const scope = packs.find((one) => pack !== undefined && one.pack?.name === pack)?.pack?.scope;
    return net !== undefined && own?.net === undefined && own?.backend === undefined && scope?.net === undefined;
  });
  if (opened.length === 0) return section;
  const added = opened.map(([name, { net, files }]) => {
    const own = Object.hasOwn(known, name) ? known[name] : undefined;
    const workspace = own?.files?.workspace ?? files?.workspace;
    const seen = workspace === undefined ? {} : { files: { ...own?.files, workspace } };
    return [name, { ...own, net, ...seen }];
  });
  return { ...section, servers: { ...known, ...Object.fromEntries(added) } };
}

/** The defaults of the section name what every server reaches, which a list of one server would replace. */
function decidesForAll({ defaults, allowed_domains: domains }: IsolationSection): boolean {
  return defaults?.net !== undefined || domains !== undefined;
}
