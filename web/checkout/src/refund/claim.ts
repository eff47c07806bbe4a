// What both halves of the refund page know of a claim.

import { segment } from '../api/client.ts'
import type { Claim } from '../api/asked.ts'
import { networkName } from '#shared/chain/networks.ts'

export const claimPath = (token: string) => `/v1/refund_claims/${segment(token)}`

export function nameOf(claim: Claim, network: string): string {
  return networkName(network, claim.networks.find((one) => one.network === network)?.network_name ?? network)
}
