// As much of a browser as the modules look at when they are loaded.

const address = new URL('http://localhost:4242/dashboard/test/invoices?status=paid')

Object.assign(globalThis, {
  document: { querySelector: () => null },
  location: address,
})
