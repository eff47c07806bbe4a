import { useEffect, useState } from 'preact/hooks'
import { toClipboard } from '#shared/clipboard.ts'
import { announce } from '#shared/parts/announce.tsx'
import { t } from '../texts/t.ts'
import { Icon } from './icon.tsx'

const SHOWN_MS = 2_000

export function CopyButton({ value, label = t.common.copy, name }: { value: string; label?: string; name?: string }) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setDone(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isDone])
  const copy = async () => {
    if (!(await toClipboard(value))) return
    setDone(true)
    announce(t.common.copied)
  }
  return (
    <button type="button" class={`btn ${isDone ? 'done' : ''}`} aria-label={isDone ? undefined : name} onClick={copy}>
      <Icon name={isDone ? 'check' : 'copy'} />
      {isDone ? t.common.copied : label}
    </button>
  )
}

/** A value to take away: an id, a key, an address for others to open. */
export function CopyField({ label, value, isSecret = false }: { label: string; value: string; isSecret?: boolean }) {
  return (
    <div class="copyfield">
      <span class="label">{label}</span>
      <div class="row">
        <code class="code one" dir="ltr">
          {value}
        </code>
        <CopyButton value={value} name={`${t.common.copy}: ${label}`} />
      </div>
      {isSecret && <p class="hint">{t.common.shownOnce}</p>}
    </div>
  )
}
