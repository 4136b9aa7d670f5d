/** Whether the operator refused a server on its card, for the process that a session talks to. */
import type { Projection } from "../ports/projection.ts";
import type { Services } from "../ports/services.ts";

export type CardRefusalNeeds = {
  readonly services: Pick<Services, "cards">;
  readonly server: string;
  readonly link: { readonly projection: Projection | undefined };
};

/**
 * Why nothing of the server is listed, called or shown, as a sentence; undefined where it may be. A server that was accepted for
 * isolation alone is judged by this session's own process: another session's may run otherwise.
 */
export function cardRefusal({ services, server, link }: CardRefusalNeeds): string | undefined {
  return services.cards?.refusal(server, link.projection?.tier ?? "none");
}
