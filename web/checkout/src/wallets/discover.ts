// Wallets that live in the browser and say so: EIP-6963, and TIP-6963 which is the same for TRON.

export interface Provider {
  request(call: { method: string; params?: unknown }): Promise<unknown>
  on?(event: string, listener: (value: unknown) => void): void
  removeListener?(event: string, listener: (value: unknown) => void): void
}

export interface TronWeb {
  defaultAddress?: { base58?: unknown }
  transactionBuilder: {
    triggerSmartContract(
      contract: string,
      method: string,
      options: { feeLimit: number },
      parameters: { type: string; value: string }[],
      from: string,
    ): Promise<{ result?: { result?: boolean }; transaction?: unknown }>
  }
  trx: {
    sign(transaction: unknown): Promise<unknown>
    sendRawTransaction(signed: unknown): Promise<{ result?: boolean }>
    signMessageV2?(message: string): Promise<unknown>
  }
}

export interface TronProvider extends Provider {
  tronWeb: TronWeb | false
  chainId?: unknown
}

export type Wallet =
  | { family: 'evm'; id: string; name: string; icon: string | null; provider: Provider }
  | { family: 'tron'; id: string; name: string; icon: string | null; provider: TronProvider }

/** How long wallets get to announce themselves before the old places are looked at. */
const ANNOUNCE_MS = 300

const isProvider = (value: unknown): value is Provider =>
  typeof value === 'object' && value !== null && typeof (value as Provider).request === 'function'
const isTron = (value: unknown): value is TronProvider => isProvider(value) && 'tronWeb' in value

/** Pictures only as the standard has them; they are shown by `img` and by nothing else. */
const readIcon = (value: unknown) => (typeof value === 'string' && /^data:image\//.test(value) ? value : null)

/** A name is shown in a sentence: nothing in it may hide, or turn the sentence round. */
export const readName = (name: string) => name.replace(/[\p{C}\u2028\u2029]/gu, '').trim().slice(0, 40)

function read(detail: unknown): Wallet | null {
  const { info, provider } = (detail ?? {}) as { info?: Record<string, unknown>; provider?: unknown }
  const { uuid, name, icon } = info ?? {}
  if (typeof uuid !== 'string' || typeof name !== 'string') return null
  const said = { id: uuid, name: readName(name), icon: readIcon(icon) }
  // Some TRON wallets announce themselves under the other standard's name: what it can do decides.
  if (isTron(provider)) return { ...said, family: 'tron', provider }
  return isProvider(provider) ? { ...said, family: 'evm', provider } : null
}

/** Where wallets stood before they announced themselves. */
function old(family: 'evm' | 'tron'): Wallet[] {
  const place = window as unknown as Record<string, unknown>
  if (family === 'evm') {
    const provider = place.ethereum
    return isProvider(provider) ? [{ family, id: 'ethereum', name: 'Ethereum', icon: null, provider }] : []
  }
  const provider = [place.tron, place.tronLink].find(isTron)
  return provider ? [{ family, id: 'tron', name: 'TRON', icon: null, provider }] : []
}

/** Calls back with every list of wallets that is longer than the last; the returned function ends it. */
export function discover(family: 'evm' | 'tron', found: (wallets: Wallet[]) => void): () => void {
  const standards = ['eip6963', 'TIP6963']
  let wallets: Wallet[] = []
  const announced = (event: Event) => {
    const wallet = read((event as CustomEvent<unknown>).detail)
    if (wallet?.family !== family || wallets.some((one) => one.id === wallet.id)) return
    wallets = [...wallets, wallet]
    found(wallets)
  }
  for (const name of standards) addEventListener(`${name}:announceProvider`, announced)
  for (const name of standards) dispatchEvent(new Event(`${name}:requestProvider`))
  const timer = setTimeout(() => wallets.length === 0 && found(old(family)), ANNOUNCE_MS)
  return () => {
    clearTimeout(timer)
    for (const name of standards) removeEventListener(`${name}:announceProvider`, announced)
  }
}
