// Talking to a wallet: who it is, which network it is on, and the one transfer it is asked to make.

import coins from 'till:coins'
import type { Binding } from '../api/asked.ts'
import { toHex } from '#shared/chain/bytes.ts'
import { networks } from '#shared/chain/networks.ts'
import type { Provider, TronProvider, TronWeb, Wallet } from './discover.ts'

/** Why a wallet did not do what it was asked. */
export class WalletTrouble extends Error {
  override name = 'WalletTrouble'
  constructor(readonly why: 'declined' | 'network' | 'account' | 'unfit' | 'error') {
    super(why)
  }
}

/** EIP-1193: the user said no; the wallet does not know the network. */
const DECLINED = 4001
const UNKNOWN_CHAIN = 4902

/** What TRON may take for the call at most; what is left of it is not spent. */
const TRON_FEE_LIMIT_SUN = 100_000_000

function wrapped(error: unknown): WalletTrouble {
  if (error instanceof WalletTrouble) return error
  const said = error as { code?: unknown; message?: unknown } | null
  const declined = said?.code === DECLINED || /declined|rejected|denied/i.test(String(said?.message ?? error))
  return new WalletTrouble(declined ? 'declined' : said?.code === UNKNOWN_CHAIN ? 'network' : 'error')
}

async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw wrapped(error)
  }
}

const chainHex = (network: string) => `0x${BigInt(network.split(':')[1] ?? '0').toString(16)}`

/** The wallet's address, once it is on the right network. */
export function connect(wallet: Wallet, network: string): Promise<string> {
  return asking(async () => {
    const accounts = await wallet.provider.request({ method: 'eth_requestAccounts' })
    const sender = wallet.family === 'evm' ? (accounts as unknown[])[0] : tronWeb(wallet.provider).defaultAddress?.base58
    if (typeof sender !== 'string') throw new WalletTrouble('unfit')
    await toNetwork(wallet, network)
    return sender
  })
}

/** Whether the account is the one its owner has chosen: wallets name that first. EVM's come with capitals or without. */
export const isChosen = (accounts: unknown, sender: string) =>
  Array.isArray(accounts) && String(accounts[0]).toLowerCase() === sender.toLowerCase()

/** What was true when the wallet was bound is asked again before it sends: its owner may have changed it meanwhile. */
async function stillAs(wallet: Wallet, network: string, sender: string): Promise<void> {
  const accounts =
    wallet.family === 'evm' ? await wallet.provider.request({ method: 'eth_accounts' }) : [tronWeb(wallet.provider).defaultAddress?.base58]
  if (!isChosen(accounts, sender)) throw new WalletTrouble('account')
  await toNetwork(wallet, network)
}

async function toNetwork(wallet: Wallet, network: string): Promise<void> {
  const provider: Provider = wallet.provider
  const chainId = chainHex(network)
  const known = wallet.family === 'evm' ? null : wallet.provider.chainId
  const current = known ?? (await provider.request({ method: 'eth_chainId' }))
  if (sameChain(current, chainId)) return
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] })
  } catch (error) {
    if (wrapped(error).why !== 'network') throw error
    await addNetwork(provider, network, chainId)
  }
  const now = await provider.request({ method: 'eth_chainId' })
  if (!sameChain(now, chainId)) throw new WalletTrouble('network')
}

/**
 * EIP-3085, without a node's address: which node to believe is for the wallet and its owner to say. One that asks for
 * it anyway leaves its owner to add the network by hand.
 */
async function addNetwork(provider: Provider, network: string, chainId: string): Promise<void> {
  const known = networks[network]
  if (!known || !coins[network]) throw new WalletTrouble('network')
  const chain = { chainId, chainName: known.name, nativeCurrency: coins[network], blockExplorerUrls: [new URL(known.explorer).origin] }
  try {
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
  } catch (error) {
    throw wrapped(error).why === 'declined' ? error : new WalletTrouble('network')
  }
}

export const isChain = (said: unknown, network: string) => sameChain(said, chainHex(network))
const sameChain = (said: unknown, chainId: string) => typeof said === 'string' && said.toLowerCase() === chainId

function tronWeb(provider: TronProvider): TronWeb {
  if (!provider.tronWeb) throw new WalletTrouble('unfit')
  return provider.tronWeb
}

/** 65 bytes: what a key signs. Contracts sign at other lengths, and prove nothing by it here. */
const SIGNATURE = /^(0x)?[0-9a-fA-F]{130}$/

/**
 * The wallet's word that the binding is its own: a signature over four lines (EIP-191, TIP-191). Null from a wallet
 * that cannot sign; one whose owner declines has declined.
 */
export async function prove(wallet: Wallet, invoice: string, asset: string, sender: string): Promise<string | null> {
  const message = ['Till wallet binding', invoice, asset, sender].join('\n')
  const hex = `0x${toHex(new TextEncoder().encode(message))}`
  try {
    const signed =
      wallet.family === 'evm'
        ? await wallet.provider.request({ method: 'personal_sign', params: [hex, sender] })
        : await tronWeb(wallet.provider).trx.signMessageV2?.(message)
    return typeof signed === 'string' && SIGNATURE.test(signed) ? signed : null
  } catch (error) {
    const trouble = wrapped(error)
    if (trouble.why === 'declined') throw trouble
    return null
  }
}

/** `transfer(address,uint256)` of the token. */
export function transferData(destination: string, units: string): string {
  const word = (hex: string) => hex.padStart(64, '0')
  return `0xa9059cbb${word(destination.slice(2).toLowerCase())}${word(BigInt(units).toString(16))}`
}

/** Asks the wallet to make the transfer. That it says yes is news, never proof: the network decides. */
export function transfer(wallet: Wallet, binding: Binding): Promise<void> {
  const { destination, amount_base_units: units, network, sender, token_contract: contract } = binding
  return asking(async () => {
    if (contract === null) throw new WalletTrouble('unfit')
    await stillAs(wallet, network, sender)
    if (wallet.family === 'evm') {
      const call = { to: contract, data: transferData(destination, units), value: '0x0' }
      const transaction = { from: sender, ...call, chainId: chainHex(network) }
      await wallet.provider.request({ method: 'eth_sendTransaction', params: [transaction] })
      return
    }
    const tron = tronWeb(wallet.provider)
    const parameters = [
      { type: 'address', value: destination },
      { type: 'uint256', value: units },
    ]
    const options = { feeLimit: TRON_FEE_LIMIT_SUN }
    const made = await tron.transactionBuilder.triggerSmartContract(contract, 'transfer(address,uint256)', options, parameters, sender)
    if (!made.result?.result) throw new WalletTrouble('error')
    const sent = await tron.trx.sendRawTransaction(await tron.trx.sign(made.transaction))
    if (!sent.result) throw new WalletTrouble('error')
  })
}
