/** Names for `SERVER.TOOL` in a policy, whose server ends at the first dot; `host:` are the clients' own tools. */
export const serverShape = /^(?!host:)[^.*\p{Cc}]{1,64}$/u;

/** The rule for such a name, as a clause behind the option or word that broke it. */
export const serverRule = "must be a name that policies can tell from a tool: no dot, no `*`, not `host:...`";

/** An operator's tag for a connection or a gateway, for `match: {tag}`. No such name is the name of a policy file. */
export const tagShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
