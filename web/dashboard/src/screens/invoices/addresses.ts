// The addresses of an open invoice, each computed again here from the destinations that are registered.

import { type Offer, type Verdict, verify } from '#shared/chain/verify.ts'
import type { PinConfig } from '#shared/chain/pins.ts'
import type { Change, CheckoutPaymentOption } from '#shared/api/types.ts'

export interface CheckedAddress {
  address: string
  destination: string
  /** The networks on which it is one and the same. */
  networks: string[]
}

export interface Judged {
  addresses: CheckedAddress[]
  /** Networks whose address this page cannot compute: it is not shown. */
  unchecked: string[]
  /** Networks whose address does not follow from a registered destination: it is not shown, and somebody must know. */
  wrong: string[]
}

/** What is registered now, and what was while the invoice was made: a change leaves addresses that were given out as they are. */
export function pinned(registered: Record<string, string>, changes: Change[], madeAt: string): PinConfig {
  const destinations: Record<string, string[]> = {}
  for (const [family, address] of Object.entries(registered)) destinations[family] = [address]
  for (const { kind, status, family, from, effective_at } of changes) {
    if (kind !== 'destination' || status !== 'effective' || family === null || from === null) continue
    if (Date.parse(effective_at) < Date.parse(madeAt)) continue
    destinations[family] = [...(destinations[family] ?? []), from]
  }
  return { destinations }
}

export async function judge(options: CheckoutPaymentOption[], config: PinConfig): Promise<Judged> {
  const verdicts = await Promise.all(options.map((option: Offer): Promise<Verdict> => verify(option, config).catch(() => ({ kind: 'mismatch' }))))
  const judged: Judged = { addresses: [], unchecked: [], wrong: [] }
  options.forEach(({ network }, at) => {
    const verdict = verdicts[at]
    if (verdict?.kind !== 'checked') {
      const list = verdict?.kind === 'unpinned' ? judged.unchecked : judged.wrong
      if (!list.includes(network)) list.push(network)
      return
    }
    const known = judged.addresses.find((one) => one.address === verdict.address)
    if (!known) judged.addresses.push({ address: verdict.address, destination: verdict.destination, networks: [network] })
    else if (!known.networks.includes(network)) known.networks.push(network)
  })
  return judged
}
