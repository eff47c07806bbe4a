// From a wallet's own library (viem) to the merchant: paid on several chains at once, followed by webhook, stream and status,
// and taken home by transactions that `till sweep` printed and an ordinary wallet signed.

import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWalletClient, erc20Abi, type Address, type Hex, http } from 'viem'
import { afterAll, describe, expect, test } from 'vitest'
import { ANYBODY, asTron, balance, evm, node, PAYER, type Place, test as chain } from './nodes.ts'
import { BASE, type Made, openWatchingShop, SEPOLIA, TRON, type WatchingShop } from './shop.ts'

const program = process.env.TILL_TEST_ANVIL_PROGRAM
if (!program && process.env.TILL_REQUIRE_ANVIL === '1') throw new Error('TILL_REQUIRE_ANVIL is 1 but there is no anvil')

const DESTINATION: Address = '0x52908400098527886E0F7030069857D2E4169EE7'
const TRON_DESTINATION = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

interface Told {
  type: string
  data: { object: { id: string } }
}

/** The merchant's own server: keeps what was told, and whether it was signed. */
async function receiver() {
  const told: (Told & { raw: string; signature: string })[] = []
  const waiting: (() => void)[] = []
  const server = createServer(async (request, response) => {
    let raw = ''
    for await (const piece of request) raw += piece
    told.push({ ...(JSON.parse(raw) as Told), raw, signature: String(request.headers['x-service-signature']) })
    response.end()
    for (const look of waiting.splice(0)) look()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  afterAll(() => void server.close())
  const until = async (type: string, id: string) => {
    for (;;) {
      const found = told.find((it) => it.type === type && it.data.object.id === id)
      if (found) return found
      await new Promise<void>((look) => waiting.push(look))
    }
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, until }
}

/** The types that an invoice's live stream tells, up to one. */
async function streamed(shop: WatchingShop, id: string, last: string): Promise<string[]> {
  const stop = new AbortController()
  const response = await fetch(`${shop.base_url}/v1/invoices/${id}/events`, {
    headers: { authorization: `Bearer ${shop.secret_key}` },
    signal: stop.signal,
  })
  const types: string[] = []
  let text = ''
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(piece)
    types.splice(0, types.length, ...[...text.matchAll(/^event: ?(.+)$/gm)].map((found) => found[1] as string))
    if (types.includes(last)) break
  }
  stop.abort()
  return types
}

/** A wallet that signs by itself and hands in what it signed. */
const wallet = (place: Place, account: typeof PAYER) => createWalletClient({ account, chain: place.chain, transport: http(place.url) })

interface Unsigned {
  network: string
  chain_id: number
  to: Address
  data: Hex
  value: Hex
  gas: Hex
  addresses: { address: string; asset: string; amount: string; deployed: boolean }[]
}

describe.skipIf(!program)('with a wallet library', async () => {
  if (!program) return
  const base = await node(program, 'eip155:84532', 'USDC')
  const sepolia = await node(program, 'eip155:11155111', 'USDC')
  const nile = await node(program, 'tron:3448148188', 'USDT')
  const hooks = await receiver()
  const shop = await openWatchingShop(
    { 'eip155:84532': [base.url], 'eip155:11155111': [sepolia.url], 'tron:3448148188': [await asTron(nile)] },
    [`eip155=${DESTINATION}`, `tron=${TRON_DESTINATION}`],
  )
  const { webhook_secret } = shop
  await shop.call('POST', '/v1/merchant/settings', { webhook_url: hooks.url })

  const pay = async (place: Place, made: Made, units: bigint) => {
    const to = made.payment_options[0]?.address as string
    const hash = await wallet(place, PAYER).writeContract({
      address: place.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [evm(to), units],
    })
    expect((await chain(place).waitForTransactionReceipt({ hash })).status).toBe('success')
    return hash
  }

  test('invoices are paid on three chains, and webhook, stream and status say so', async () => {
    const paid = [
      { place: base, made: await shop.invoice([BASE], '48.00'), units: 48_000_000n },
      { place: sepolia, made: await shop.invoice([SEPOLIA], '12.50'), units: 12_500_000n },
      { place: nile, made: await shop.invoice([TRON], '7.25'), units: 7_250_000n },
    ]
    const streams = paid.map(({ made }) => streamed(shop, made.id, 'invoice.paid'))
    const hashes: Hex[] = []
    for (const { place, made, units } of paid) {
      hashes.push(await pay(place, made, units))
      await hooks.until('invoice.detected', made.id)
      // Nothing is final yet, and so nothing is paid.
      expect((await shop.call<Made>('GET', `/v1/invoices/${made.id}`)).status).toBe('detected')
    }
    for (const { place } of paid) await chain(place).mine({ blocks: 2 })
    for (const [at, { made }] of paid.entries()) {
      const { raw, signature } = await hooks.until('invoice.paid', made.id)
      const t = /t=(\d+)/.exec(signature)?.[1]
      expect(signature).toContain(createHmac('sha256', webhook_secret).update(`${t}.${raw}`).digest('hex'))
      expect(await streams[at]).toEqual(expect.arrayContaining(['invoice.detected', 'invoice.paid']))
      expect((await shop.call<Made>('GET', `/v1/invoices/${made.id}`)).status).toBe('paid')
      const { data } = await shop.call<{ data: object[] }>('GET', `/v1/payments?invoice=${made.id}`)
      const tx_hash = at === 2 ? hashes[at]?.slice(2) : hashes[at]
      expect(data).toMatchObject([{ tx_hash, status: 'credited', finality: 'final', attributed_by: 'deposit_address' }])
    }
  })

  test('what was paid goes home by what till sweep prints, signed by anybody', async () => {
    const second = await shop.invoice([BASE], '3.00')
    await pay(base, second, 3_000_000n)
    await chain(base).mine({ blocks: 2 })
    await hooks.until('invoice.paid', second.id)
    const sweep = async (...more: string[]) =>
      JSON.parse(await shop.till('sweep', '--config', 'till.toml', '--account', shop.account, '--mode', 'test', '--json', ...more)) as Unsigned[]
    const places: Record<string, Place> = { 'eip155:84532': base, 'eip155:11155111': sepolia }
    for (const [network, units] of [['eip155:84532', 51_000_000n], ['eip155:11155111', 12_500_000n]] as const) {
      const place = places[network] as Place
      const transactions = await sweep('--network', network)
      expect(transactions).toHaveLength(1)
      for (const { to, data, value, gas, chain_id, addresses } of transactions) {
        expect(chain_id).toBe(place.chain.id)
        expect(addresses.every(({ deployed }) => !deployed)).toBe(true)
        const hash = await wallet(place, ANYBODY).sendTransaction({ to, data, value: BigInt(value), gas: BigInt(gas) })
        expect((await chain(place).waitForTransactionReceipt({ hash })).status).toBe('success')
        for (const { address } of addresses) {
          expect(await balance(place, address as Address)).toBe(0n)
          expect(await chain(place).getCode({ address: address as Address })).toMatch(/^0x73/)
        }
      }
      expect(await balance(place, DESTINATION)).toBe(units)
      expect(await sweep('--network', network)).toEqual([])
    }
    // On TRON each call is a transaction of its own: the forwarder, and what it passes on.
    const [deploy, flush] = (await sweep('--network', 'tron:3448148188')) as [Unsigned, Unsigned]
    expect([deploy.to, deploy.addresses]).toEqual(['TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs', []])
    expect(flush.addresses).toMatchObject([{ address: flush.to, asset: TRON, amount: '7.25', deployed: false }])
  })
})
