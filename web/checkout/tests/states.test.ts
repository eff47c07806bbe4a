import jsQR from 'jsqr'
import { expect, test } from 'vitest'
import { mark } from '../src/api/live.ts'
import { Unreadable } from '#shared/api/read.ts'
import type { Lookup } from '../src/api/asked.ts'
import { invoice, type Payment } from '../src/api/shapes.ts'
import { shortfall, slowest, steps } from '../src/invoice/confirming.tsx'
import { verdict } from '../src/invoice/lookup.tsx'
import { apps, transferUri } from '../src/invoice/more.tsx'
import { bitcoinCode, bitcoinUri } from '../src/invoice/pay.tsx'
import { remainingOf } from '../src/invoice/remaining.ts'
import { judge, often, type Way } from '../src/invoice/store.ts'
import { qrPath } from '#shared/parts/qr.tsx'
import { masked } from '../src/refund/recorded.tsx'
import { readConfig } from '../src/config.ts'
import { vectors } from '#shared/tests/vectors.ts'

/** What a camera sees of the path that is drawn: dark modules on white, four pixels each. */
function scan(text: string): string | undefined {
  const { size, path } = qrPath(text)
  const scale = 4
  const pixels = new Uint8ClampedArray((size * scale) ** 2 * 4).fill(255)
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = 0; row < scale; row++) {
      for (let column = 0; column < Number(width) * scale; column++) {
        const at = ((Number(y) * scale + row) * size * scale + Number(x) * scale + column) * 4
        pixels.fill(0, at, at + 3)
      }
    }
  }
  return jsQR(pixels, size * scale, size * scale)?.data
}

test('the code says exactly the address that is shown', () => {
  for (const { address } of vectors.deposits) expect(scan(address)).toBe(address)
})

test('the code for Bitcoin says the address and the amount', () => {
  const uri = bitcoinUri('tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl', '0.00046154')
  expect(uri).toBe('bitcoin:tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl?amount=0.00046154')
  // Its address in capitals, which are the same address; the link keeps it small.
  const code = bitcoinCode('tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl', '0.00046154')
  expect(code).toBe('bitcoin:TB1Q6RZ28MCFAXTMD6V789L9RRLRUSDPRR9PQCPVKL?amount=0.00046154')
  expect(scan(code)).toBe(code)
})

const evm = vectors.deposits[0] as (typeof vectors.deposits)[0]
const example = {
  id: 'inv_1',
  livemode: false,
  status: 'awaiting_payment',
  amount: { amount: '48.00', currency: 'USD' },
  description: null,
  payment_options: [
    {
      asset: `USDC@${evm.network}`,
      symbol: 'USDC',
      network: evm.network,
      network_name: 'Base Sepolia',
      amount_due: '48.000000',
      address: evm.address,
      address_derivation: evm.derivation,
    },
  ],
  pending_options: [],
  select_by: null,
  amounts_received: [],
  expires_at: '2026-11-15T14:32:00Z',
  paid_at: null,
  closed_at: null,
  address_held_until: null,
  as_of: '2026-11-15T14:00:00Z',
  return_url: null,
  merchant: { display_name: 'Northwind Books' },
  payments: [],
  capabilities: { wallet_payments: true, notify: true, lookup: true, exchanges: true },
  session_token: 'cs_1',
}
const config = (destinations: Record<string, string>) =>
  readConfig({ v: 1, api: 'https://till.example', destinations }, new URL('https://shop.example/config.json'))

test('an answer is read field by field, and one that has another shape is not shown', () => {
  expect(invoice(example).status).toBe('awaiting_payment')
  const wrong = [
    { status: 'paid?' },
    { amount: { amount: 48, currency: 'USD' } },
    { amount: { amount: '4e8', currency: 'USD' } },
    { amount: { amount: '-1', currency: 'USD' } },
    { payment_options: {} },
    { expires_at: 'soon' },
    { session_token: null },
    { livemode: 'false' },
  ]
  for (const change of wrong) expect(() => invoice({ ...example, ...change }), JSON.stringify(change)).toThrow(Unreadable)
})

test('an address is part of what is shown only when its verdict is', async () => {
  const read = invoice(example)
  const good = await judge(read, config({ eip155: evm.destination }))
  expect(good).toMatchObject({ kind: 'ready', hidden: 0, ways: [{ address: evm.address }] })
  const other = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  expect(await judge(read, config({ eip155: other }))).toMatchObject({ kind: 'untrusted', why: 'mismatch' })
  expect(await judge(read, config({}))).toMatchObject({ kind: 'untrusted', why: 'unpinned' })
})

test('one wrong address among right ones is enough to trust none', async () => {
  const forged = { ...example.payment_options[0], network: 'eip155:11155111', asset: 'USDC@eip155:11155111', address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }
  const read = invoice({ ...example, payment_options: [...example.payment_options, forged] })
  expect(await judge(read, config({ eip155: evm.destination }))).toMatchObject({ kind: 'untrusted', why: 'mismatch' })
})

test('a way that cannot be checked is left out, and the page says that something is', async () => {
  const solana = { ...example.payment_options[0], network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', asset: 'USDC@solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }
  const read = invoice({ ...example, payment_options: [...example.payment_options, solana] })
  const shown = await judge(read, config({ eip155: evm.destination, solana: 'x' }))
  expect(shown).toMatchObject({ kind: 'ready', hidden: 1 })
  expect(shown.kind === 'ready' && shown.ways.map((way) => way.network)).toEqual([evm.network])
})

test('a network that could not be checked is not offered for picking either', async () => {
  const pending = (id: string) => ({ ...example.payment_options[0], network: id, asset: `USDC@${id}` })
  const networks = [evm.network, 'tron:3448148188', 'tron:728126428', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'eip155:0']
  const read = invoice({ ...example, payment_options: [], pending_options: networks.map(pending) })
  const shown = await judge(read, config({ eip155: evm.destination, tron: 'T', solana: 'x' }))
  // TRON's main network has no factory yet, and nobody knows the last one.
  expect(shown.kind === 'ready' && shown.ways.map((way) => way.network)).toEqual([evm.network, 'tron:3448148188'])
  expect(shown).toMatchObject({ kind: 'ready', hidden: 3 })
  expect(await judge(read, config({}))).toMatchObject({ kind: 'untrusted', why: 'unpinned' })
})

const payment = (finality: Payment['finality'], status: Payment['status'], asset = `USDC@${evm.network}`) => ({ asset, amount: '1', tx_hash: `0x${finality}`, finality, status })

test('the payment that has the longest way to go decides what is shown', () => {
  const read = invoice({ ...example, payments: [payment('final', 'credited'), payment('safe', 'confirming'), payment('pending', 'pending')] })
  expect(slowest(read)?.finality).toBe('pending')
  expect(slowest(invoice({ ...example, payments: [payment('final', 'credited'), payment('included', 'reversed')] }))?.finality).toBe('final')
  expect(slowest(invoice(example))).toBeNull()
})

test('what is on its way is short when it is less than a whole, in whatever assets', () => {
  const [usdc, usdt] = [`USDC@${evm.network}`, 'USDT@tron:3448148188']
  const option = example.payment_options[0]
  const payment_options = [option, { ...option, asset: usdt, amount_due: '50.00' }]
  const of = (...payments: [string, string, Payment['status']?][]) => {
    const read = invoice({ ...example, payment_options, payments: payments.map(([asset, amount, status = 'confirming']) => ({ ...payment('included', status, asset), amount })) })
    return shortfall(read, read.payments[0] as (typeof read.payments)[0])
  }
  expect(of([usdc, '40.50'])).toEqual({ received: '40.50', asked: '48.000000' })
  expect(of([usdc, '48.00'])).toBeNull()
  expect(of([usdc, '24.00'], [usdt, '25.00', 'credited'])).toBeNull()
  expect(of([usdc, '24.00'], [usdt, '24.99'])).toEqual({ received: '24.00', asked: '48.000000' })
  // What went away again, or never counted, is no part of it.
  expect(of([usdc, '24.00'], [usdc, '24.00', 'reversed'])).not.toBeNull()
  // Without the options nobody can tell.
  const closed = invoice({ ...example, payment_options: [], payments: [{ ...payment('included', 'confirming'), amount: '1' }] })
  expect(shortfall(closed, closed.payments[0] as (typeof closed.payments)[0])).toBeNull()
})

test('nobody is asked for money that is already on its way', () => {
  const asset = `USDC@${evm.network}`
  const way = { ...example.payment_options[0], asset, address: null, destination: null } as Way
  const read = (payments: unknown[], amount: string) =>
    invoice({ ...example, status: 'partially_paid', payments, amount_remaining: { amount, asset } })
  const part = { ...payment('final', 'credited'), amount: '40.50' }
  const rest = { ...payment('included', 'confirming'), amount: '7.50' }
  expect(remainingOf(read([part], '7.50'), way)).toBe('7.50')
  expect(remainingOf(read([part, rest], '7.50'), way)).toBe('0.000000')
  expect(remainingOf(read([part, rest], '0.00'), way)).toBe('0.00')
  // What was refunded since is to be sent again.
  expect(remainingOf(read([part], '48.00'), way)).toBe('48.00')
  // What came in another asset only the server can weigh.
  expect(remainingOf(read([{ ...part, asset: 'USDT@tron:3448148188' }], '7.50'), way)).toBe('7.50')
  // Money that went away again, or never counted, is still to be sent.
  expect(remainingOf(read([part, { ...rest, status: 'reversed' }], '7.50'), way)).toBe('7.50')
})

test('what was paid in part is asked for no more once it is closed', async () => {
  const closed = { ...example, status: 'partially_paid', closed_at: '2026-11-16T14:32:00Z', payment_options: [] }
  expect(await judge(invoice(closed), config({}))).toMatchObject({ kind: 'ready', ways: [] })
})

test('what is over is asked for once a minute beside a silent stream, until its address has cooled down', () => {
  const beside = (change: object, now = '2026-11-16T00:00:00Z') => often(invoice({ ...example, ...change }), Date.parse(now)).beside
  const over = { status: 'expired', closed_at: '2026-11-15T14:32:00Z', address_held_until: '2026-11-22T14:32:00Z' }
  expect(beside(over)).toBe(60_000)
  expect(beside({ ...over, status: 'cancelled' })).toBe(60_000)
  expect(beside(over, '2026-11-22T14:33:00Z')).toBeNull()
  // Nobody was ever given an address.
  expect(beside({ ...over, address_held_until: null })).toBeNull()
  // What comes after it was paid changes its status, which is announced.
  expect(beside({ ...over, status: 'paid', paid_at: '2026-11-15T14:10:00Z' })).toBeNull()
  // What an open invoice asks for may change without an event.
  expect([beside({}), beside({ livemode: true })]).toEqual([60_000, 60_000])
})

test('a network without a level in between has two steps', () => {
  const states = (asset: string, finality: Payment['finality'], status: 'detected' | 'confirming') => steps(payment(finality, 'confirming', asset), status).map((step) => step.state)
  expect(states('USDC@eip155:84532', 'included', 'detected')).toEqual(['now', 'next', 'next'])
  expect(states('USDC@eip155:84532', 'included', 'confirming')).toEqual(['past', 'now', 'next'])
  expect(states('USDC@eip155:84532', 'safe', 'confirming')).toEqual(['past', 'now', 'next'])
  expect(states('USDT@tron:3448148188', 'included', 'confirming')).toEqual(['past', 'now'])
  expect(states('USDC@eip155:80002', 'included', 'detected')).toEqual(['now', 'next'])
})

test('a wallet’s own link says the token, the network, the address and the amount', () => {
  const way = (asset: string, address: string) => {
    const [symbol = '', network = ''] = asset.split('@')
    return { asset, symbol, network, network_name: '', amount_due: '48.00', rate: null, address, destination: '' }
  }
  const base = way('USDC@eip155:8453', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')
  const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
  const transfer = `${usdc}@8453/transfer?address=${base.address}&uint256=48000000`
  expect(transferUri(base, '48.00')).toBe(`ethereum:${transfer}`)
  expect(apps(base, '48.00')).toEqual([
    { name: 'MetaMask', href: `https://link.metamask.io/send/${transfer}` },
    { name: 'Trust Wallet', href: `https://link.trustwallet.com/send?asset=c8453_t${usdc}&address=${base.address}&amount=48.00` },
  ])
  const tron = way('USDT@tron:728126428', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')
  expect(transferUri(tron, '48.00')).toBeNull()
  expect(apps(tron, '48.00').map(({ href }) => href)).toEqual([
    'https://link.trustwallet.com/send?asset=c195_tTR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t&address=TJRabPrwbZy45sbavfcjinPJC18kjpRTv8&amount=48.00',
  ])
  // Test networks are not all wallets' business.
  expect(apps(way('USDC@eip155:84532', base.address), '1').map(({ name }) => name)).toEqual(['MetaMask'])
  expect(apps(way('USDT@tron:3448148188', tron.address), '1')).toEqual([])
})

test('an event is news when status, level or payments differ from what is shown', () => {
  const before = mark(invoice({ ...example, payments: [payment('included', 'confirming')] }))
  expect(mark(invoice({ ...example, payments: [payment('included', 'confirming')] }))).toBe(before)
  expect(mark(invoice({ ...example, payments: [payment('safe', 'confirming')] }))).not.toBe(before)
  expect(mark(invoice({ ...example, status: 'detected', payments: [payment('included', 'confirming')] }))).not.toBe(before)
})

test('what became of a transaction is said by the transfer that matters most', () => {
  const found = (...reasons: Lookup['transfers'][number]['reason'][]): Lookup => ({
    found: true,
    network: 'eip155:84532',
    attributed: false,
    transfers: reasons.map((reason) => ({ asset: 'USDC@eip155:84532', amount: '1', attributed: reason === null, reason })),
  })
  expect(verdict(found('not_for_this_invoice', null), false)).toEqual(['ok', 'help.yours'])
  expect(verdict(found('not_for_this_invoice', 'not_observed_yet'), false)).toEqual(['info', 'help.yours_soon'])
  expect(verdict(found(null), true)).toEqual(['info', 'help.yours_late'])
  expect(verdict(found('asset_not_offered'), false)).toEqual(['warn', 'help.other_currency'])
  expect(verdict(found('not_in_the_chain_any_more'), false)).toEqual(['warn', 'help.gone'])
  expect(verdict(found('not_for_this_invoice'), false)).toEqual(['warn', 'help.elsewhere'])
  expect(verdict(found(), false)).toEqual(['warn', 'help.elsewhere'])
  expect(verdict({ ...found(), found: false }, false)).toEqual(['plain', 'help.not_found'])
})

test('a recorded address is shown without its middle', () => {
  expect(masked('0xd35C790730359cCAB2A953238A391bc3ff664871')).toBe('0xd35C •••• 4871')
  expect(masked('0xd35C••••4871')).toBe('0xd35C••••4871')
})
