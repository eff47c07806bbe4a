import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface Props {
  title: string
  /** Escape, and nothing else but the buttons inside, closes it. */
  onClose: () => void
  children: ComponentChildren
  class?: string
}

/** A question over the page. It is there as long as it is drawn. */
export function Dialog({ title, onClose, children, class: className = '' }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`modal ${className}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 class="cap" id={id}>
        {title}
      </h2>
      <div class="stack">{children}</div>
    </dialog>
  )
}

/** Buttons of a dialog: the safe one first. */
export const Buttons = ({ children }: { children: ComponentChildren }) => <p class="btns">{children}</p>
