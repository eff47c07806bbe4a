import { expect, test } from 'vitest'
import { add, baseUnits, compare, decimalPoint, isWhole, isZero, price, shown, subtract, thousandths, typed } from '../money.ts'

test('amounts are added and compared to the last of their digits', () => {
  expect(add('48.00', '0.10')).toBe('48.10')
  expect(add('0.1', '0.20')).toBe('0.30')
  expect(add('9007199254740993', '0.000000000000000001')).toBe('9007199254740993.000000000000000001')
  expect(subtract('48.004213', '48.00')).toBe('0.004213')
  expect(subtract('1', '2.5')).toBe('0.0')
  expect(compare('1.0', '1')).toBe(0)
  expect(compare('0.009999', '0.01')).toBe(-1)
  expect(compare('10', '9.99')).toBe(1)
  expect(isZero('0.000000')).toBe(true)
  expect(isZero('0.000001')).toBe(false)
})

test('an amount is shown with cents and without empty digits', () => {
  expect(shown('48.000000')).toBe('48.00')
  expect(shown('48')).toBe('48.00')
  expect(shown('48.004213')).toBe('48.004213')
  expect(shown('0.00046150')).toBe('0.0004615')
  expect(shown('100')).toBe('100.00')
})

test('base units are exact, and an amount finer than the token has none', () => {
  expect(baseUnits('48.004213', 6)).toBe('48004213')
  expect(baseUnits('48', 6)).toBe('48000000')
  expect(baseUnits('0.10', 18)).toBe('100000000000000000')
  expect(baseUnits('1.0000010', 6)).toBe('1000001')
  expect(baseUnits('1.0000001', 6)).toBeNull()
})

test('the bar is as long as the part, never longer than the whole', () => {
  expect(thousandths('40.50', '48.00')).toBe(843n)
  expect(thousandths('50', '48')).toBe(1000n)
  expect(thousandths('1', '0')).toBe(0n)
})

test('what a payer types is read as an amount or not at all', () => {
  expect(typed(' 25 ', 2)).toBe('25')
  expect(typed('25,50', 2)).toBe('25.50')
  expect(typed('0025.5', 2)).toBe('25.5')
  expect(typed('25.', 2)).toBe('25')
  for (const wrong of ['', '.5', '25.505', '1.000,00', '1e3', '-1', '0x10', '1 000', '1,000', '1.000', '1٬000', '٢٥x', '12345678901234']) {
    expect(typed(wrong, 2), wrong).toBeNull()
  }
  expect(typed('100.5', 0)).toBeNull()
})

test('digits of other keyboards are the same digits', () => {
  expect(typed('٢٥', 2)).toBe('25')
  expect(typed('۱۲۳۴۵۶۷۸۹۰', 2)).toBe('1234567890')
  expect(typed('٢٥٫٥٠', 2)).toBe('25.50')
  expect(typed('۲۵.۵', 2)).toBe('25.5')
})

test('what separates thousands somewhere is never taken for decimals', () => {
  expect(typed('1.500', 3, '.')).toBe('1.500')
  expect(typed('1,500', 3, '.')).toBeNull()
  expect(typed('1,500', 3, ',')).toBe('1.500')
  expect(typed('1.500', 3, ',')).toBeNull()
  expect(typed('1٫500', 3, '.')).toBe('1.500')
  expect([decimalPoint('en'), decimalPoint('de'), decimalPoint('ar')]).toEqual(['.', ',', '.'])
})

test('shares of different wholes make one, or do not, to the last digit', () => {
  expect(isWhole([['24', '48.00'], ['0.1', '0.2']])).toBe(true)
  expect(isWhole([['24', '48.00'], ['0.09999999', '0.2']])).toBe(false)
  expect(isWhole([['40.50', '48.00']])).toBe(false)
  expect(isWhole([])).toBe(false)
})

test('a price is written as its language does, with Latin digits and every digit it has', () => {
  expect(price('48.00', 'USD', 'en')).toBe('$48.00')
  expect(price('1234567.05', 'EUR', 'de')).toBe('1.234.567,05\u00a0€')
  expect(price('900719925474099312345.99', 'USD', 'en')).toBe('$900,719,925,474,099,312,345.99')
  expect(price('1500', 'JPY', 'en')).toBe('¥1,500')
  expect(price('48.00', 'USD', 'ar')).toMatch(/48[.,]00/)
  expect(price('48.00', 'USD', 'fa')).toMatch(/48/)
  expect(price('1.00', 'no such currency', 'en')).toBe('1.00 no such currency')
})
