import { useEffect, useState } from 'preact/hooks'
import { toClipboard } from '#shared/clipboard.ts'
import { t } from '../words/words.ts'
import { announce } from '#shared/parts/announce.tsx'
import { Icon } from '#shared/parts/icon.tsx'

const SHOWN_MS = 2_000

interface Copy {
  /** The bare value: no grouping, no unit. */
  value: string
  label?: string
  /** What the button is called where its label alone does not say what it copies. */
  name?: string
  class?: string
}

export function CopyButton({ value, label = t('pay.copy'), name, class: className = '' }: Copy) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setDone(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isDone])
  const copy = async () => {
    if (!(await toClipboard(value))) return
    setDone(true)
    announce(t('pay.copied'))
  }
  return (
    <button type="button" class={`btn ${className} ${isDone ? 'done' : ''}`} aria-label={isDone ? undefined : name} onClick={copy}>
      <Icon name={isDone ? 'check' : 'copy'} />
      {isDone ? t('pay.copied') : label}
    </button>
  )
}
