// Wallets in the browser: one that sends on a real chain (anvil), and those that refuse, differ or lie.

import type { BrowserContext, Page, Route } from 'playwright-core'
import served from 'till:api'
import { describe, expect, test } from 'vitest'
import { BASE, openShop, openWatchingShop, type Shop, TRON } from './shop.ts'
import { expectCalm, heading, look, visit } from './visit.ts'

const shop = await openShop()
/** One that binds no wallet without its signature. */
const strict = served.takesWalletProof ? await openShop({ TILL_WALLETS_REQUIRE_PROOF: 'true' }) : null
const at = (id: string) => `${shop.pages}/i/${id}`
const anvil = process.env.TILL_TEST_ANVIL
if (!anvil && process.env.TILL_REQUIRE_ANVIL === '1') throw new Error('TILL_REQUIRE_ANVIL is 1 but TILL_TEST_ANVIL names no chain')

const EURC = '0x808456652fdb597867f38412077A9182bf77359F'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
/** A token that answers every transfer with the event it should, and keeps balances (crates/till/tests/chains/node.rs has it in words). */
const TOKEN =
  '0x60003560e01c806370a082311460715763a9059cbb1415607e573460915760045b368110156066578060200135813580548201815590600052337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a36040016020565b600160005260206000f35b6004355460005260206000f35b600435600160ff1b175460005260206000f35b60006000fd'
/** The factory of deposit addresses, without which a server does not believe that this is the network. */
const FACTORY = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'
const FACTORY_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
const OTHER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const ICON = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1" fill="orange"/></svg>'

interface Call {
  method: string
  params?: unknown[]
}
type Answer = (call: Call) => Promise<unknown> | unknown

/** Refuses as EIP-1193 says. */
class Rpc extends Error {
  constructor(readonly code: number) {
    super(`rpc ${code}`)
  }
}

/** Installs a wallet that announces itself, and whose answers come from the test. */
async function install(context: BrowserContext, answer: Answer): Promise<Call[]> {
  const calls: Call[] = []
  await context.exposeFunction('askWallet', async (call: Call) => {
    calls.push(call)
    try {
      return { result: await answer(call) }
    } catch (error) {
      return { code: error instanceof Rpc ? error.code : -32603 }
    }
  })
  await context.addInitScript((icon) => {
    const ask = (window as unknown as { askWallet: (call: unknown) => Promise<{ code?: number; result?: unknown }> }).askWallet
    const heard: Record<string, ((value: unknown) => void)[]> = {}
    const provider = {
      request: async (call: unknown) => {
        const { code, result } = await ask(call)
        if (code !== undefined) throw Object.assign(new Error('refused'), { code })
        return result
      },
      on: (event: string, listener: (value: unknown) => void) => (heard[event] ??= []).push(listener),
      removeListener: (event: string, listener: (value: unknown) => void) => (heard[event] = (heard[event] ?? []).filter((one) => one !== listener)),
    }
    Object.assign(window, { tell: (event: string, value: unknown) => heard[event]?.forEach((listener) => listener(value)) })
    const info = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Example Wallet', icon, rdns: 'com.example' }
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
    addEventListener('eip6963:requestProvider', announce)
  }, ICON)
  return calls
}

async function chain(method: string, params: unknown[] = []): Promise<unknown> {
  const response = await fetch(anvil as string, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (answer.error) throw new Error(answer.error.message)
  return answer.result
}

/** A wallet with anvil's first account. */
const onAnvil: Answer = ({ method, params }) => chain(method === 'eth_requestAccounts' ? 'eth_accounts' : method, params)

const word = (hex: string) => hex.toLowerCase().replace('0x', '').padStart(64, '0')
/** What a wallet signs to hand tokens on. */
const transfer = (to: string, units: number) => `0xa9059cbb${word(to)}${word(units.toString(16))}`
const mine = (blocks: number) => chain('anvil_mine', [`0x${blocks.toString(16)}`])

/** The chain as a server expects it, and a server that watches it. */
async function watch(): Promise<Shop> {
  await chain('anvil_setCode', [FACTORY, FACTORY_CODE])
  for (const token of [USDC, EURC]) await chain('anvil_setCode', [token, TOKEN])
  await mine(1)
  return openWatchingShop({ 'eip155:84532': [anvil as string] })
}

describe.skipIf(!anvil)('while the page is open', async () => {
  // Anvil calls a block safe with this many on top of it, and final with twice as many.
  const EPOCH = 32
  const watching = anvil ? await watch() : shop

  test('a payment is followed from its block to paid, by address and by wallet', async () => {
    const [sender] = (await chain('eth_accounts')) as [string]

    // To the address on the page, by whatever somebody keeps their tokens in.
    const first = await watching.invoice([BASE])
    const { page, context, close } = await visit('about:blank')
    await install(context, onAnvil)
    await page.goto(`${watching.pages}/i/${first.id}`)
    const address = ((await page.locator('.addr').textContent()) ?? '').trim()
    expect(address).toBe(first.payment_options[0]?.address)
    await chain('eth_sendTransaction', [{ from: sender, to: USDC, data: transfer(address, 48_000_000) }])
    await heading(page, 'Payment seen').waitFor()
    await mine(EPOCH)
    await heading(page, 'Confirming').waitFor()
    await mine(EPOCH)
    await heading(page, 'Paid').waitFor()
    expectCalm(page)

    // Straight to the merchant, by a wallet in the browser.
    const second = await watching.invoice([BASE], '12.50')
    await page.goto(`${watching.pages}/i/${second.id}`)
    await page.getByRole('button', { name: 'Browser wallet' }).click()
    await page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
    await page.getByText('Sent by your wallet').waitFor()
    await heading(page, 'Payment seen').waitFor()
    await mine(2 * EPOCH)
    await heading(page, 'Paid').waitFor()
    for (const [made, paid_by] of [[first, 'deposit_address'], [second, 'wallet_binding']] as const) {
      const { data } = await watching.call<{ data: object[] }>('GET', `/v1/payments?invoice=${made.id}`)
      expect(data).toMatchObject([{ attributed_by: paid_by, status: 'credited', finality: 'final' }])
    }
    await close()
  })
})

describe.skipIf(!anvil)('on a chain', () => {
  test('a wallet sends the exact amount straight to the merchant, and the next payment is told apart', async () => {
    await chain('anvil_setCode', [USDC, TOKEN])
    const [sender] = (await chain('eth_accounts')) as [string]
    const { destinations } = shop.config as unknown as { destinations: { eip155: string } }

    const made = await shop.invoice([BASE])
    const { page, context, close } = await visit('about:blank')
    const calls = await install(context, onAnvil)
    await page.goto(at(made.id))
    await page.getByRole('button', { name: 'Browser wallet' }).click()
    await page.getByText('Your wallet will show the shop').waitFor()
    await look(page, 'wallet')
    await page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
    await page.getByText('Sent by your wallet').waitFor()
    const sent = calls.find((call) => call.method === 'eth_sendTransaction')?.params?.[0]
    const data = transfer(destinations.eip155, 48_000_000)
    expect(sent).toEqual({ from: sender, to: USDC, data, value: '0x0', chainId: '0x14a34' })
    await shop.pay(made.id, { asset: BASE, sender })
    await heading(page, 'Paid').waitFor()

    // While one of 48.00 is open, another of the same wallet gets digits of its own.
    const first = await shop.invoice([BASE])
    const second = await shop.invoice([BASE])
    const bind = (id: string) => shop.call<{ amount_base_units: string }>('POST', `/v1/checkout/invoices/${id}/wallet_binding`, { asset: BASE, sender })
    await bind(first.id)
    await page.goto(at(second.id))
    await page.getByRole('button', { name: 'Browser wallet' }).click()
    await page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
    await page.getByText('Do not edit the amount in your wallet').waitFor()
    const { amount_base_units: units } = await bind(second.id)
    const shown = `48.${units.slice(2)}`.replace(/0+$/, '')
    expect((await page.locator('.money').first().textContent())?.trim()).toBe(`${shown} USDC`)
    expect(await page.locator('.money u').textContent()).toBe(shown.slice(5))
    await look(page, 'wallet-suffix')
    // Whoever wants another wallet gets the list again, and the amount without the digits.
    await page.getByRole('button', { name: 'Use another wallet' }).click()
    expect((await page.locator('.money').first().textContent())?.trim()).toBe('48.00 USDC')
    await page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
    await page.getByText('Do not edit the amount in your wallet').waitFor()
    await page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
    await page.getByText('Sent by your wallet').waitFor()
    const last = calls.findLast((call) => call.method === 'eth_sendTransaction')?.params?.[0] as { data: string }
    expect(BigInt(`0x${last.data.slice(-64)}`).toString()).toBe(units)
    await close()
  })
})

describe.runIf(anvil && strict)('where a wallet must prove that it is the payer’s', () => {
  const open = async (answer: Answer) => {
    const made = await strict?.invoice([BASE])
    const opened = await visit('about:blank')
    const calls = await install(opened.context, answer)
    await opened.page.goto(`${strict?.pages}/i/${made?.id}`)
    await opened.page.getByRole('button', { name: 'Browser wallet' }).click()
    await opened.page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
    return { ...opened, calls }
  }

  test('it signs, and is bound', async () => {
    const { page, calls, close } = await open(onAnvil)
    await page.getByText('Sent by your wallet').waitFor()
    expect(calls.map((call) => call.method)).toContain('personal_sign')
    await close()
  })

  test('one that cannot sign is not, and nothing is sent', async () => {
    const { page, calls, close } = await open((call) => {
      if (call.method === 'personal_sign') throw new Rpc(-32601)
      return onAnvil(call)
    })
    await page.getByText('This wallet cannot pay here').waitFor()
    expect(calls.map((call) => call.method)).not.toContain('eth_sendTransaction')
    await close()
  })
})

const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** A wallet on Base Sepolia that does as it is told, but for what a test says. */
const willing =
  (but: Record<string, () => unknown>): Answer =>
  ({ method }) => {
    const own = but[method]
    if (own) return own()
    const answers = { eth_requestAccounts: [account], eth_accounts: [account], eth_chainId: '0x14a34', eth_sendTransaction: `0x${'ab'.repeat(32)}` }
    return answers[method as keyof typeof answers] ?? null
  }
const refuse = (code: number) => () => {
  throw new Rpc(code)
}

let tries = 0

async function tryToPay(answer: Answer, lie?: (route: Route) => Promise<void>) {
  // Another amount each time: one wallet with two open payments of the same one is another story.
  const made = await shop.invoice([BASE], `${++tries}.00`)
  const opened = await visit('about:blank')
  const calls = await install(opened.context, answer)
  if (lie) await opened.context.route('**/wallet_binding', lie)
  await opened.page.goto(at(made.id))
  await opened.page.getByRole('button', { name: 'Browser wallet' }).click()
  await opened.page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
  return { ...opened, calls, sent: () => calls.some((call) => call.method === 'eth_sendTransaction') }
}

test('whoever declines is told that nothing was sent, and may try again', async () => {
  const { page, close } = await tryToPay(willing({ eth_sendTransaction: refuse(4001) }))
  await page.getByText('You declined in your wallet. Nothing was sent.').waitFor()
  await page.getByRole('button', { name: 'Pay with Example Wallet' }).waitFor()
  await look(page, 'wallet-declined')
  await close()
})

test('a wallet on another network is switched, or its owner is told to', async () => {
  let current = '0x1'
  const obliging = await tryToPay(
    willing({
      eth_chainId: () => current,
      wallet_switchEthereumChain: () => {
        current = '0x14a34'
        return null
      },
    }),
  )
  await obliging.page.getByText('Sent by your wallet').waitFor()
  await obliging.close()
  let added: unknown
  let isAdded = false
  const newcomer = willing({ eth_chainId: () => (isAdded ? '0x14a34' : '0x1'), wallet_switchEthereumChain: refuse(4902) })
  const learning = await tryToPay((call) => {
    if (call.method !== 'wallet_addEthereumChain') return newcomer(call)
    isAdded = true
    added = call.params
    return null
  })
  await learning.page.getByText('Sent by your wallet').waitFor()
  const nativeCurrency = { name: 'ETH', symbol: 'ETH', decimals: 18 }
  expect(added).toEqual([{ chainId: '0x14a34', chainName: 'Base Sepolia', nativeCurrency, blockExplorerUrls: ['https://sepolia.basescan.org'] }])
  await learning.close()
  const stubborn = await tryToPay(
    willing({ eth_chainId: () => '0x1', wallet_switchEthereumChain: refuse(4902), wallet_addEthereumChain: refuse(-32602) }),
  )
  await stubborn.page.getByText('Switch it to Base Sepolia.').waitFor()
  expect(stubborn.sent()).toBe(false)
  await stubborn.close()
})

/** What a wallet tells of itself without being asked. */
const tell = (page: Page, event: string, value: unknown) =>
  page.evaluate(([name, said]) => (window as unknown as { tell: (name: string, said: unknown) => void }).tell(name as string, said), [event, value])

test('that a wallet signs first, and sends nothing by it, is said before it is pressed', async () => {
  const made = await shop.invoice([BASE])
  const { page, context, close } = await visit('about:blank')
  await install(context, willing({}))
  await page.goto(at(made.id))
  await page.getByRole('button', { name: 'Browser wallet' }).click()
  await page.getByText('Your wallet first asks you to sign that it is yours. That sends nothing.').waitFor()
  await close()
})

test('a wallet that changed its network while it was bound is switched back before it sends', async () => {
  let current = '0x14a34'
  const { page, calls, close } = await tryToPay(
    willing({
      eth_chainId: () => current,
      personal_sign: () => {
        current = '0x1'
        return null
      },
      wallet_switchEthereumChain: () => {
        current = '0x14a34'
        return null
      },
    }),
  )
  await page.getByText('Sent by your wallet').waitFor()
  const asked = calls.map((call) => call.method)
  expect(asked.indexOf('wallet_switchEthereumChain')).toBeGreaterThan(asked.indexOf('personal_sign'))
  expect(calls.find((call) => call.method === 'eth_sendTransaction')?.params?.[0]).toMatchObject({ chainId: '0x14a34' })
  await close()
})

test('a wallet that changed its account while it was bound sends nothing', async () => {
  const { page, sent, close } = await tryToPay(willing({ eth_accounts: () => [OTHER, account] }))
  await page.getByText('Your wallet has changed to another account or network. Nothing was sent.').waitFor()
  expect(sent()).toBe(false)
  await page.getByRole('button', { name: 'Pay with Example Wallet' }).waitFor()
  await close()
})

test.each([
  ['account', 'accountsChanged', [OTHER]],
  ['network', 'chainChanged', '0x1'],
])('a wallet that tells of another %s while it is asked is asked no further', async (_, event, value) => {
  let sign: (signature: null) => void = () => {}
  const signing = new Promise<void>((asked) => {
    sign = () => asked()
  })
  let isAsked: () => void = () => {}
  const asked = new Promise<void>((seen) => (isAsked = seen))
  const { page, sent, calls, close } = await tryToPay(
    willing({
      personal_sign: () => {
        isAsked()
        return signing.then(() => null)
      },
    }),
  )
  await asked
  await tell(page, event, value)
  await page.getByText('Your wallet has changed to another account or network.').waitFor()
  sign(null)
  // Another try is the wallet's to make, and goes through.
  await page.getByRole('button', { name: 'Pay with Example Wallet' }).click()
  await page.getByText('Sent by your wallet').waitFor()
  expect(calls.filter((call) => call.method === 'eth_sendTransaction').length).toBe(1)
  expect(sent()).toBe(true)
  await close()
})

test('a wallet that breaks is not said to have sent nothing', async () => {
  const { page, close } = await tryToPay(willing({ eth_sendTransaction: refuse(-32000) }))
  await page.getByText('Look there whether something was sent').waitFor()
  await close()
})

test.each([
  ['another payee', { destination: OTHER }],
  ['another token', { token_contract: OTHER }],
  ['a larger amount', { amount: '480.00', amount_base_units: '480000000' }],
  ['other units than the amount', { amount_base_units: '480000000' }],
])('a server that asks a wallet for %s is not trusted, and the wallet is not asked', async (_, lie) => {
  const { page, sent, close } = await tryToPay(willing({}), async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), ...lie } })
  })
  await heading(page, 'This page cannot be trusted').waitFor()
  expect(sent()).toBe(false)
  await close()
})

test('where there is no wallet, the address is offered instead', async () => {
  const made = await shop.invoice([BASE])
  const { page, close } = await visit(at(made.id))
  await page.getByRole('button', { name: 'Browser wallet' }).click()
  await page.getByText('No browser wallet was found here').waitFor()
  await look(page, 'wallet-none')
  await page.getByRole('button', { name: 'Use the address instead' }).click()
  await page.locator('.addr').waitFor()
  await close()
})

test('a wallet that only stands in its old place is found there', async () => {
  const made = await shop.invoice([BASE], '77.00')
  const { page, context, close } = await visit('about:blank')
  await context.addInitScript((answers) => {
    const request = async ({ method }: { method: string }) => (answers as Record<string, unknown>)[method] ?? null
    Object.assign(window, { ethereum: { request } })
  }, { eth_requestAccounts: [account], eth_accounts: [account], eth_chainId: '0x14a34', eth_sendTransaction: `0x${'ab'.repeat(32)}` })
  await page.goto(at(made.id))
  await page.getByRole('button', { name: 'Browser wallet' }).click()
  await page.getByRole('button', { name: 'Pay with Ethereum' }).click()
  await page.getByText('Sent by your wallet').waitFor()
  await close()
})

test('a TRON wallet announces itself by TIP-6963 and signs the same transfer', async () => {
  const made = await shop.invoice([TRON])
  const { page, context, close } = await visit('about:blank')
  await context.addInitScript(() => {
    const done: unknown[] = []
    Object.assign(window, { done })
    const tronWeb = {
      defaultAddress: { base58: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
      transactionBuilder: {
        triggerSmartContract: async (...call: unknown[]) => {
          done.push(call)
          return { result: { result: true }, transaction: { raw: 'transaction' } }
        },
      },
      trx: { sign: async (made: unknown) => ({ signed: made }), sendRawTransaction: async (signed: unknown) => ({ result: done.push(signed) > 0 }) },
    }
    const provider = { tronWeb, chainId: '0xcd8690dc', request: async () => ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'] }
    const info = { uuid: 'tron-wallet', name: 'Tron Wallet', icon: 'https://evil.example/icon.png', rdns: 'com.example' }
    addEventListener('TIP6963:requestProvider', () => dispatchEvent(new CustomEvent('TIP6963:announceProvider', { detail: { info, provider } })))
  })
  await page.goto(at(made.id))
  await page.getByRole('button', { name: 'Browser wallet' }).click()
  const button = page.getByRole('button', { name: 'Pay with Tron Wallet' })
  await button.waitFor()
  // A picture from elsewhere is not loaded.
  expect(await button.locator('img').count()).toBe(0)
  await button.click()
  await page.getByText('Sent by your wallet').waitFor()
  const { destinations } = shop.config as unknown as { destinations: { tron: string } }
  const done = await page.evaluate(() => (window as unknown as { done: unknown[] }).done)
  expect(done).toEqual([
    [
      'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf',
      'transfer(address,uint256)',
      { feeLimit: 100_000_000 },
      [
        { type: 'address', value: destinations.tron },
        { type: 'uint256', value: '48000000' },
      ],
      'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    ],
    { signed: { raw: 'transaction' } },
  ])
  await close()
})
