export interface Step {
  name: string
  text: string
  state: 'past' | 'now' | 'next'
}

/** Where something stands, in words: no percent, no estimate. */
export function Track({ steps }: { steps: Step[] }) {
  return (
    <div>
      <ol class="track">
        {steps.map((step) => (
          <li key={step.name} class={step.state} aria-current={step.state === 'now' ? 'step' : undefined}>
            <b>{step.name}</b>
            <span>{step.text}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}
