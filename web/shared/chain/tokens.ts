// The contracts of tokens, cut at build time from the server's own table like the networks.

import table from 'till:tokens'

/** By asset code, without a prototype. */
export const tokens: typeof table = Object.assign(Object.create(null), table)
