// Forms: values by the names the API knows them under, so that a refusal finds its field by itself.

import type { ComponentChildren, TargetedEvent } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Field, said } from '#shared/parts/field.tsx'
import { besideField, paramOf, problem } from '../api/problem.ts'
import { t } from '../texts/t.ts'
import { Icon } from './icon.tsx'
import { Problem } from './notice.tsx'

export type Values = Record<string, string>

export interface Form<V extends Values> {
  values: V
  set: (name: keyof V & string, value: string) => void
  /** The refusal about one field, in words. */
  errorOf: (name: string) => string | null
  /** A refusal about none of the fields. */
  error: unknown
  isBusy: boolean
  submit: (event?: Event) => void
  /** Registers a field, so that refusals about it are shown at it. */
  has: (name: string) => void
}

/** `send` is called with the values when the form is submitted; what it throws is shown where it belongs. */
export function useForm<V extends Values>(initial: V, send: (values: V) => Promise<unknown>): Form<V> {
  const [values, setValues] = useState(initial)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const names = useRef(new Set<string>())
  const busy = useRef(false)
  const fieldOf = (of: unknown) => {
    const param = paramOf(of)
    return param === null ? null : ([...names.current].find((name) => param === name || param.startsWith(`${name}[`) || param.startsWith(`${name}.`)) ?? null)
  }
  const submit = async (event?: Event) => {
    event?.preventDefault()
    const form = event?.target as HTMLFormElement | undefined
    // Sent once, however often the button is pressed.
    if (busy.current) return
    busy.current = true
    setBusy(true)
    setError(null)
    try {
      await send(values)
    } catch (refused) {
      setError(refused)
      const field = fieldOf(refused)
      if (field) requestAnimationFrame(() => form?.querySelector<HTMLElement>(`[name="${CSS.escape(field)}"]`)?.focus())
    } finally {
      busy.current = false
      setBusy(false)
    }
  }
  const at = error === null ? null : fieldOf(error)
  return {
    values,
    set: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    errorOf: (name) => {
      if (at !== name) return null
      const { title, remedy } = problem(error)
      return remedy ? `${title}. ${remedy}` : besideField(title, paramOf(error) ?? name)
    },
    error: at === null ? error : null,
    isBusy,
    submit: (event) => void submit(event),
    has: (name) => void names.current.add(name),
  }
}

interface Control<V extends Values> {
  form: Form<V>
  name: keyof V & string
  label: ComponentChildren
  hint?: ComponentChildren
  isOptional?: boolean
}

interface TextProps<V extends Values> extends Control<V> {
  type?: 'text' | 'email' | 'url' | 'date' | 'datetime-local' | 'number' | 'search'
  autocomplete?: string
  inputMode?: 'text' | 'numeric' | 'decimal' | 'email' | 'url'
  /** Several lines: addresses and descriptions are seen whole. */
  rows?: number
  isMono?: boolean
  isFocused?: boolean
  maxLength?: number
  placeholder?: string
}

function useControl<V extends Values>({ form, name, label, isOptional }: Control<V>) {
  const id = useId()
  form.has(name)
  const error = form.errorOf(name)
  const title = isOptional ? (
    <>
      {label} <span class="dim">({t.common.optional})</span>
    </>
  ) : (
    label
  )
  return { id, error, title, shared: { ...said(id, error), name, required: !isOptional, value: form.values[name] as string } }
}

export function TextField<V extends Values>(props: TextProps<V>) {
  const { form, name, hint, type = 'text', autocomplete = 'off', inputMode, rows, isMono, isFocused, maxLength, placeholder } = props
  const { id, error, title, shared } = useControl(props)
  const input = (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => form.set(name, event.currentTarget.value)
  const rest = { ...shared, class: isMono ? 'mono' : undefined, maxLength, placeholder, onInput: input, autoFocus: isFocused, spellcheck: !isMono }
  return (
    <Field id={id} label={title} hint={hint} error={error}>
      {rows ? <textarea {...rest} rows={rows} /> : <input {...rest} type={type as 'text'} autocomplete={autocomplete} inputMode={inputMode} />}
    </Field>
  )
}

export function SelectField<V extends Values>(props: Control<V> & { options: readonly (readonly [value: string, label: string])[] }) {
  const { form, name, hint, options } = props
  const { id, error, title, shared } = useControl(props)
  return (
    <Field id={id} label={title} hint={hint} error={error}>
      <div class="sel">
        <select {...shared} onChange={(event) => form.set(name, event.currentTarget.value)}>
          {options.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </Field>
  )
}

/** A tick: its value is `yes` or nothing. */
export function TickField<V extends Values>({ form, name, label, hint }: Control<V>) {
  const id = useId()
  form.has(name)
  return (
    <div class="tick">
      <input id={id} type="checkbox" name={name} checked={form.values[name] === 'yes'} onChange={(event) => form.set(name, event.currentTarget.checked ? 'yes' : '')} />
      <label for={id}>
        {label}
        {hint && <span class="dim">{hint}</span>}
      </label>
    </div>
  )
}

/** What was refused about the whole form, and the button. */
export function Submit<V extends Values>({ form, children, isDanger = false, needsPasskey = false }: { form: Form<V>; children: ComponentChildren; isDanger?: boolean; needsPasskey?: boolean }) {
  return (
    <>
      {form.error !== null && <Problem error={form.error} />}
      <button type="submit" class={`btn ${isDanger ? 'danger' : 'primary'}`} aria-disabled={form.isBusy}>
        {needsPasskey && <Icon name="key" />}
        {children}
      </button>
    </>
  )
}
