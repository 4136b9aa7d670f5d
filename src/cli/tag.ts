/** What an operator may call a connection or a gateway, for `match: {tag}`. No such name is the name of a policy file. */
export const tagShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
