import { encode } from 'uqr'

/** Modules of white around the code, as its standard asks. */
const QUIET = 4

/** The code as one path: a rectangle for every run of dark modules in a row. */
export function qrPath(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET })
  let path = ''
  data.forEach((row, y) => {
    for (let x = 0; x < size; x++) {
      const start = x
      while (row[x]) x++
      if (x > start) path += `M${start} ${y}h${x - start}v1h-${x - start}z`
    }
  })
  return { size, path }
}

/** Always dark on white, whatever the theme: cameras do not know about dark mode. */
export function Qr({ text, label, class: className = '' }: { text: string; label: string; class?: string }) {
  const { size, path } = qrPath(text)
  return (
    <div class={`tile ${className}`}>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
        <path d={path} />
      </svg>
    </div>
  )
}
