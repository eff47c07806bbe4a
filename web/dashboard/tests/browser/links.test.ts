// Payment links: made, shared as a code that cameras read, printed, changed, switched off.

import jsQR from 'jsqr'
import { expect, test } from 'vitest'
import { startTill } from './server.ts'
import { arrive, expectCalm, heading, look, person } from './visit.ts'

const server = await startTill()

test('a link is made, opens for a payer, is changed and switched off', { timeout: 120_000 }, async () => {
  const owner = await person()
  await arrive(owner, server)
  const { page } = owner
  await page.goto(`${server.origin}/dashboard/test/links`)
  await page.getByText('No payment links').waitFor()
  await look(page, 'links-empty')
  await page.getByRole('link', { name: 'New link' }).first().click()
  await heading(page, 'New payment link').waitFor()

  // A refusal lands at its field, and what was typed stays.
  await page.getByLabel('Price').fill('0')
  await page.getByLabel('For', { exact: false }).first().fill('Reading, 24 November <script>alert(1)</script>')
  await page.getByLabel('How often it can be paid').fill('2')
  await page.getByLabel('Data you attach').fill('event = reading-24')
  await page.getByRole('button', { name: 'Make the link' }).click()
  await page.locator('[name="amount"][aria-invalid="true"]').waitFor()
  await look(page, 'link-new')
  await page.getByLabel('Price').fill('25.00')
  await page.getByRole('button', { name: 'Make the link' }).click()
  await heading(page, /25\.00 USD/).waitFor()
  await page.getByText('event', { exact: true }).waitFor()
  await look(page, 'link')

  // The code is the address with the key, and a payer can open it.
  const url = (await page.locator('.copyfield code').textContent()) ?? ''
  expect(url).toMatch(/\/l\/.{22}\?key=/)
  const shot = await page.locator('.tile svg').screenshot()
  expect(await scanned(page, shot)).toBe(url)
  const payer = await person()
  await payer.page.goto(url)
  await payer.page.getByText('25.00').first().waitFor()
  await payer.close()

  await page.getByRole('link', { name: 'Poster' }).click()
  await heading(page, 'Poster').waitFor()
  await page.getByText('Test. This takes no real money.').waitFor()
  await look(page, 'poster')
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.side').isVisible()).toBe(false)
  expect(await page.locator('.poster').isVisible()).toBe(true)
  await page.emulateMedia({ media: 'screen' })

  await page.goBack()
  await page.getByRole('link', { name: 'Change' }).click()
  await heading(page, 'Change the payment link').waitFor()
  await page.getByLabel('How often it can be paid').fill('1')
  await look(page, 'link-edit')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('0 of 1 paid').waitFor()
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('Nobody can begin to pay by it any more.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('Link switched off').waitFor()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByText('Link switched on').waitFor()
  await owner.close()
})

/** What a camera would read from a picture. */
async function scanned(page: import('playwright-core').Page, png: Buffer): Promise<string | undefined> {
  const { width, height, data } = await page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(image.width, image.height)
    const drawing = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
    drawing.drawImage(image, 0, 0)
    return { width: image.width, height: image.height, data: [...drawing.getImageData(0, 0, image.width, image.height).data] }
  }, [...png])
  return jsQR(new Uint8ClampedArray(data), width, height)?.data
}

test('the list counts what was paid; a viewer may look only', async () => {
  const link = await server.call<{ id: string; url: string }>('POST', '/v1/payment_links', { amount_type: 'fixed', amount: '12.00', currency: 'USD', quantity_limit: 3, description: 'Tote bag' })
  await server.call('POST', '/v1/payment_links', { amount_type: 'payer_chosen', min_amount: '5.00', currency: 'USD', description: 'Support the shop' })
  await server.call('POST', '/v1/payment_links', { amount_type: 'fixed', amount: '9.50', currency: 'USD', active: false })
  const { link: invite } = JSON.parse(await server.till('account', 'invite', '--account', server.account, '--email', 'viewer@example.com', '--role', 'viewer', '--json')) as { link: string }
  const viewer = await person()
  await arrive(viewer, { ...server, link: invite })
  const { page } = viewer
  await page.goto(`${server.origin}/dashboard/test/links`)
  await page.getByText('Tote bag').waitFor()
  await page.getByText('0 of 3').waitFor()
  expect(await page.getByRole('link', { name: 'New link' }).count()).toBe(0)
  await look(page, 'links')
  await page.getByLabel('Status').selectOption('false')
  await page.getByText('Tote bag').waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('active')).toBe('false')

  await page.goto(`${server.origin}/dashboard/test/links/${link.id}`)
  await heading(page, /12\.00 USD/).waitFor()
  expect((await page.locator('.metric').allTextContents()).map((text) => text.trim())).toEqual(['Paid0', 'Left3'])
  await look(page, 'link-viewer')
  expect(await page.getByRole('button', { name: 'Switch off' }).count()).toBe(0)
  expectCalm(page)
  await viewer.close()
})
