/** Groups of four; what is left over joins the first, so that every kind of address is a rectangle. */
export function groups(address: string): string[] {
  const first = 4 + (address.length % 4)
  const parts = [address.slice(0, first)]
  for (let at = first; at < address.length; at += 4) parts.push(address.slice(at, at + 4))
  return parts
}

/** The whole address, readable in groups and without a space in it. */
export function Address({ address }: { address: string }) {
  const parts = groups(address)
  return (
    <code class={`addr ${parts.length % 5 === 0 ? '' : 'four'}`} dir="ltr">
      {parts.map((part, at) => (
        <span key={at}>{part}</span>
      ))}
    </code>
  )
}

/** Enough to recognise what a wallet shows; for comparing, the whole is shown. */
export const shortened = (text: string) => (text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text)
