// Chains of a test's own: anvil nodes with the contracts that a server expects, and the one that TRON has instead.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { createTestClient, defineChain, erc20Abi, http, type Address, type Chain, type Hex, publicActions, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll } from 'vitest'

/** Two of the wallets that anvil gives coins to: whoever pays, and whoever happens to send a sweep. */
export const PAYER = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
export const ANYBODY = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')

/** The server's own table. */
const { networks } = JSON.parse(readFileSync(new URL('../../../../crates/core/data/networks.json', import.meta.url), 'utf8')) as {
  networks: { id: string; chain_id: number; factory: string; tokens: { symbol: string; contract: string }[] }[]
}
/** An address as virtual machines have it, TRON's as well. */
export const evm = (address: string): Address =>
  address.startsWith('T') ? toHex(createBase58check(sha256).decode(address).slice(1)) : (address as Address)

const FACTORY_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
const MULTICALL3_CODE: Hex = `0x${readFileSync(new URL('../../../../testdata/multicall3.hex', import.meta.url), 'utf8').trim()}`
/** A token with balances, each in the slot that its owner's address names (crates/till/tests/chains/node.rs has it in words). */
const LEDGER =
  '0x60003560e01c806370a0823114601d5763a9059cbb14602a57600080fd5b6004355460005260206000f35b3354602435808210607957808203335560043580548201815590600052337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a3600160005260206000f35b600080fd'

export interface Place {
  chain: Chain
  url: string
  token: Address
}

const word = (hex: string): Hex => `0x${hex.replace('0x', '').toLowerCase().padStart(64, '0')}`

export const test = ({ chain, url }: Place) =>
  createTestClient({ chain, mode: 'anvil', transport: http(url) }).extend(publicActions)

/** A chain under a network's number, with its factory and its tokens, and of one of them the payer has plenty. */
export async function node(program: string, network: string, symbol: string): Promise<Place> {
  const known = networks.find((it) => it.id === network)
  const contract = known?.tokens.find((it) => it.symbol === symbol)?.contract
  if (!known || !contract) throw new Error(`${network} has no ${symbol}`)
  const [id, token] = [known.chain_id, evm(contract)]
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(id), '--slots-in-an-epoch', '1']
  const anvil = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  afterAll(() => void anvil.kill())
  const said = createInterface(anvil.stdout)
  const url = await new Promise<string>((found, failed) => {
    anvil.once('error', failed)
    said.on('line', (line) => line.startsWith('Listening on ') && found(`http://${line.slice(13)}`))
  })
  const chain = defineChain({
    id,
    name: `chain ${id}`,
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const place = { chain, url, token }
  const client = test(place)
  await client.setCode({ address: evm(known.factory), bytecode: FACTORY_CODE })
  await client.setCode({ address: MULTICALL3, bytecode: MULTICALL3_CODE })
  for (const it of known.tokens) await client.setCode({ address: evm(it.contract), bytecode: LEDGER })
  await client.setStorageAt({ address: token, index: word(PAYER.address), value: word('e8d4a51000') })
  await client.mine({ blocks: 5 })
  return place
}

export const balance = (place: Place, address: Address) =>
  test(place).readContract({ address: place.token, abi: erc20Abi, functionName: 'balanceOf', args: [address] })

/** What TRON's nodes refuse, and what they leave empty, of what the node behind says. */
export async function asTron({ url }: Place): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const question = JSON.parse(body) as { id: number; method: string; params: unknown[] }
    const refused = (code: number) => response.end(JSON.stringify({ jsonrpc: '2.0', id: question.id, error: { code, message: 'no' } }))
    if (question.params[0] === 'safe' || question.params[0] === 'pending') return refused(-32602)
    if (question.method === 'eth_getBlockReceipts') return refused(-32601)
    const told = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = (await told.json()) as { result?: { stateRoot?: string; logsBloom?: string } | null }
    if (answer.result?.stateRoot) Object.assign(answer.result, { stateRoot: '0x', logsBloom: `0x${'00'.repeat(256)}` })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  afterAll(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jsonrpc`
}
