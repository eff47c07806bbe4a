import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

interface Field {
  id: string
  label: ComponentChildren
  hint?: ComponentChildren
  error?: string | null
  children: ComponentChildren
}

/** A label above its control; an error takes the hint's place and is read with the control. */
export function Field({ id, label, hint, error, children }: Field) {
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children}
      {error ? (
        <p class="err" id={`${id}-says`}>
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      ) : (
        hint && (
          <p class="hint" id={`${id}-says`}>
            {hint}
          </p>
        )
      )}
    </div>
  )
}

/** What ties a control to its hint or error. */
export const said = (id: string, error: string | null | undefined) => ({
  id,
  'aria-describedby': `${id}-says`,
  'aria-invalid': error ? ('true' as const) : undefined,
})
