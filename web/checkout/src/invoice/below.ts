// What may stand below the card, fetched together once it is asked for.

export { Lookup } from './lookup.tsx'
export { RateOf } from './rate-of.tsx'
