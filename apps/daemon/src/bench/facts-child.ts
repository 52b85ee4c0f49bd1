import { messageOf } from 'crux-types'
import { type FactsStep, runStep } from './facts-steps.js'

// A process of `bench facts`: does the one step that its parent sends, and answers with the result.
process.once('message', (message) => {
  // Sent by facts.ts and by nothing else.
  const step = message as FactsStep
  const progress = (done: number, of: number): void => {
    process.send?.({ progress: [done, of] })
  }
  runStep(step, progress).then(
    (result) => process.send?.({ result }, () => process.exit(0)),
    (error: unknown) => process.send?.({ failed: messageOf(error) }, () => process.exit(1)),
  )
})
