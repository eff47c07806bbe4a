// What is already done, said once at the lower edge. Errors never come here.

import { useEffect } from 'preact/hooks'
import { store } from '../app/store.ts'
import { Icon } from './icon.tsx'

const SHOWN_MS = 4_000
const said = store<{ text: string } | null>(null)

export const toast = (text: string) => said.set({ text })

export function Toast() {
  const now = said.use()
  useEffect(() => {
    if (now === null) return
    const timer = setTimeout(() => said.set(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [now])
  return (
    <div class="toasts" role="status">
      {now && (
        <p class="toast">
          <Icon name="check" />
          {now.text}
        </p>
      )}
    </div>
  )
}
