/**
 * Notifications of a server across the eras, and the subscriptions that let them through.
 *
 * | legacy server, modern client | modern server, legacy client |
 * |---|---|
 * | list_changed, updated: only on streams whose filter asks, with that stream's id | the id is removed |
 * | `notifications/tasks/status` → `notifications/tasks` | the other way, without the inlined result |
 * | – | `subscriptions/acknowledged` is for the gateway, which opened the stream |
 * | `elicitation/complete` has no modern form and is dropped | – |
 * | progress, message, cancelled: unchanged | unchanged |
 */
import { isObject, member, stringMember } from "../../core/json.ts";
import { metaKeys } from "../meta.ts";
import type { NotificationMessage, RequestId, Revision } from "../message.ts";
import { filterJson, type SubscriptionFilter } from "../modern.ts";
import { isEmpty, withMeta, without } from "../object.ts";
import { findMethod } from "../registry.ts";
import { latestLegacyRevision, modernRevision } from "../revision.ts";
import { taskToLegacy, taskToModern } from "./task.ts";

/** True when a subscription's filter asked for this notification; others must not be sent on its stream. */
export function filterAdmits(filter: SubscriptionFilter, message: NotificationMessage): boolean {
  switch (message.method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged;
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged;
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged;
    case "notifications/resources/updated":
      return filter.resourceSubscriptions.includes(stringMember(message.params, "uri") ?? "\0");
    case "notifications/tasks":
      return filter.taskIds.includes(stringMember(message.params, "taskId") ?? "\0");
  }
  return false;
}

/** The first message of a subscription's stream: what of the wish is honoured. */
export function acknowledged(id: RequestId, filter: SubscriptionFilter): NotificationMessage {
  const params = { notifications: filterJson(filter), _meta: { [metaKeys.subscriptionId]: id } };
  return { kind: "notification", method: "notifications/subscriptions/acknowledged", params };
}

/** A notification stamped with the subscription on whose stream it goes out. */
export function withSubscription(message: NotificationMessage, id: RequestId): NotificationMessage {
  const given = member(message.params, "_meta");
  const meta = { ...(isObject(given) ? given : {}), [metaKeys.subscriptionId]: id };
  return { kind: "notification", method: message.method, params: { ...message.params, _meta: meta } };
}

/** A legacy server's notification for a modern client, without a subscription id yet; undefined if it has no form. */
export function notificationToModern(message: NotificationMessage): NotificationMessage | undefined {
  if (message.method === "notifications/tasks/status" && message.params !== undefined) {
    return { kind: "notification", method: "notifications/tasks", params: taskToModern(message.params) };
  }
  // Translation does not admit a message that is not legal in the sender's era.
  return known(latestLegacyRevision, message) && known(modernRevision, message) ? message : undefined;
}

/** A modern server's notification for a legacy client; undefined if its revision has no such notification. */
export function notificationToLegacy(
  message: NotificationMessage,
  revision: Revision,
): NotificationMessage | undefined {
  if (!known(modernRevision, message)) return undefined;
  const task = message.method === "notifications/tasks" && message.params !== undefined;
  const method = task ? "notifications/tasks/status" : message.method;
  if (!known(revision, { ...message, method })) return undefined;
  const params = task && message.params !== undefined ? taskToLegacy(message.params) : message.params;
  const meta = member(params, "_meta");
  if (params === undefined || !isObject(meta) || !Object.hasOwn(meta, metaKeys.subscriptionId)) {
    return task ? { kind: "notification", method, params } : message;
  }
  const next = withMeta(params, without(meta, [metaKeys.subscriptionId]));
  return { kind: "notification", method, params: isEmpty(next) ? undefined : next };
}

function known(revision: Revision, message: NotificationMessage): boolean {
  const { method } = message;
  return findMethod(revision, { method, kind: "notification", direction: "to-client" }) !== undefined;
}
