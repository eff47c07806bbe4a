import { networkName } from '#shared/chain/networks.ts'
import { networkOf } from './values.tsx'

/** The network of an asset by its name. */
export const networkNameOf = (asset: string) => networkName(networkOf(asset), networkOf(asset))
