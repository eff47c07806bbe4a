import { expect, test } from 'vitest'
import type { Binding } from '../src/api/asked.ts'
import { isHonest, suffixLength } from '../src/wallets/binding.ts'
import { type Provider, readName, type Wallet } from '../src/wallets/discover.ts'
import { prove, transferData, WalletTrouble } from '../src/wallets/send.ts'

const sender = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const destination = '0x52908400098527886E0F7030069857D2E4169EE7'
const asked = { asset: 'USDC@eip155:84532', network: 'eip155:84532', amount: '48.00', sender }
const pins = { destinations: { eip155: destination } }
const honest: Binding = {
  asset: asked.asset,
  network: asked.network,
  sender,
  destination,
  token_contract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '48.004213',
  amount_base_units: '48004213',
}

test('a binding is believed when token, payee and amount are the right ones', () => {
  expect(isHonest(honest, asked, pins)).toBe(true)
  expect(isHonest({ ...honest, sender: sender.toLowerCase() }, asked, pins)).toBe(true)
  expect(isHonest({ ...honest, amount: '48.00', amount_base_units: '48000000' }, asked, pins)).toBe(true)
})

test('a binding that differs anywhere is not', () => {
  const other = '0xde709f2102306220921060314715629080e2fb77'
  const lies: Partial<Binding>[] = [
    { destination: other },
    { destination: '' },
    { token_contract: other },
    { token_contract: null },
    { sender: other },
    { asset: 'USDC@eip155:11155111' },
    { network: 'eip155:11155111' },
    { amount: '48.01', amount_base_units: '48010000' },
    { amount: '47.99', amount_base_units: '47990000' },
    { amount: '480.00', amount_base_units: '480000000' },
    { amount_base_units: '48004214' },
    { amount_base_units: '480042130' },
  ]
  for (const lie of lies) expect(isHonest({ ...honest, ...lie }, asked, pins), JSON.stringify(lie)).toBe(false)
  expect(isHonest(honest, asked, { destinations: {} })).toBe(false)
  expect(isHonest(honest, asked, { destinations: { eip155: other } })).toBe(false)
})

test('a token that this page does not know is not paid by a wallet', () => {
  const asset = 'SCAM@eip155:84532'
  expect(isHonest({ ...honest, asset }, { ...asked, asset }, pins)).toBe(false)
})

test('TRON bindings are held against TRON pins', () => {
  const tron = { asset: 'USDT@tron:3448148188', network: 'tron:3448148188', amount: '48.00', sender: 'THVmXun9u721tBiYcT3VfLQKcwYBmoY1xX' }
  const binding = { ...honest, ...tron, amount_base_units: '48000000', destination: tron.sender, token_contract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf' }
  expect(isHonest(binding, tron, { destinations: { tron: tron.sender } })).toBe(true)
  expect(isHonest({ ...binding, destination }, tron, { destinations: { tron: tron.sender, eip155: destination } })).toBe(false)
})

test('the digits that tell payments apart are those after the cents', () => {
  expect(suffixLength('48.004213', '48.00')).toBe(4)
  expect(suffixLength('48.000000', '48.00')).toBe(0)
  expect(suffixLength('48.001', '48.00')).toBe(1)
})

test('the call of the token is the one of ERC-20', () => {
  expect(transferData(destination, '48004213')).toBe(
    '0xa9059cbb00000000000000000000000052908400098527886e0f7030069857d2e4169ee70000000000000000000000000000000000000000000000000000000002dc7c75',
  )
})

test('nothing in a wallet’s name hides or turns the sentence round', () => {
  expect(readName('Exam\u202eple\u0000 \u2066Wal\u200blet\n')).toBe('Example Wallet')
  expect(readName('محفظة Wallet')).toBe('محفظة Wallet')
  expect(readName('x'.repeat(99)).length).toBe(40)
})

test('a wallet proves a binding by signing its four lines, unless it cannot', async () => {
  const calls: unknown[] = []
  const wallet = (request: Provider['request']): Wallet => ({ family: 'evm', id: '1', name: 'x', icon: null, provider: { request } })
  const signature = `0x${'1b'.repeat(65)}`
  const signing = wallet(async (call) => {
    calls.push(call)
    return signature
  })
  expect(await prove(signing, 'inv_1', 'USDC@eip155:84532', sender)).toBe(signature)
  const lines = `Till wallet binding\ninv_1\nUSDC@eip155:84532\n${sender}`
  expect(calls).toEqual([{ method: 'personal_sign', params: [`0x${Buffer.from(lines).toString('hex')}`, sender] }])
  const refusing = (code: number) =>
    wallet(async () => {
      throw Object.assign(new Error('no'), { code })
    })
  // A contract's word, which only the chain could check.
  expect(await prove(wallet(async () => `${signature}00`), 'inv_1', 'USDC@eip155:84532', sender)).toBeNull()
  expect(await prove(refusing(-32601), 'inv_1', 'USDC@eip155:84532', sender)).toBeNull()
  await expect(prove(refusing(4001), 'inv_1', 'USDC@eip155:84532', sender)).rejects.toThrow(WalletTrouble)
})
