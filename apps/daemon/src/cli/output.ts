import { SingleBar } from 'cli-progress'

/** Where a command writes. */
export interface CommandOutput {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

/** Shows how far a long command is. */
export interface Progress {
  /** @param label - What is being done, for the plain form. */
  update(done: number, total: number, label: string): void
  end(): void
}

/** A bar on a terminal, a line at most every two seconds elsewhere, nothing when `isQuiet`. */
export function createProgress(output: CommandOutput, isQuiet: boolean): Progress {
  if (isQuiet) return { update: () => undefined, end: () => undefined }
  return output.stderr.isTTY === true ? terminalBar() : plainLines(output)
}

function terminalBar(): Progress {
  const bar = new SingleBar({
    format: '{label} [{bar}] {percentage}% {value}/{total}',
    hideCursor: true,
    clearOnComplete: true,
  })
  let isStarted = false
  return {
    update(done, total, label) {
      if (!isStarted) bar.start(total, done, { label })
      isStarted = true
      bar.setTotal(total)
      bar.update(done, { label })
    },
    end() {
      if (isStarted) bar.stop()
    },
  }
}

const LINE_EVERY_MS = 2000

function plainLines(output: CommandOutput): Progress {
  let writtenAt = Number.NEGATIVE_INFINITY
  return {
    update(done, total, label) {
      const now = performance.now()
      if (now - writtenAt < LINE_EVERY_MS && done < total) return
      writtenAt = now
      output.stderr.write(`${label} ${done}/${total}\n`)
    },
    end: () => undefined,
  }
}
