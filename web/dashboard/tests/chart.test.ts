import { expect, test } from 'vitest'
import { scaleEnd } from '../src/parts/chart.tsx'
import { bySymbol } from '../src/screens/home/received.tsx'

test('the scale ends at a round number above every point', () => {
  for (const [most, end] of [
    [0, 3],
    [1, 1.5],
    [1312, 1500],
    [1500, 1500],
    [1501, 3000 * 1],
    [0.084, 0.15],
  ] as const) {
    expect(scaleEnd(most), String(most)).toBeGreaterThanOrEqual(most)
    expect(scaleEnd(most)).toBeLessThanOrEqual(end * 1.0000001)
  }
})

test('the same token of two networks is one, another token never is', () => {
  const all = bySymbol([
    { asset: 'USDC@eip155:8453', day: '2026-11-01', amount: '1.50', payments: 1 },
    { asset: 'USDC@eip155:1', day: '2026-11-01', amount: '0.000001', payments: 2 },
    { asset: 'USDT@eip155:1', day: '2026-11-01', amount: '7', payments: 1 },
  ])
  expect(all.get('USDC')?.get('2026-11-01')).toEqual({ amount: '1.500001', payments: 3 })
  expect(all.get('USDT')?.get('2026-11-01')?.amount).toBe('7')
})
