import { redactSecrets } from 'crux-text'
import { type Logger, pino } from 'pino'
import { z } from 'zod'
import type { Config } from './config/load.js'

/** Where the daemon says what it does: fields first, then a sentence. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Takes whole lines, each with its line break. */
export interface LineSink {
  write(line: string): void
}

/**
 * A log in the configured form.
 *
 * Secrets are taken out of every line before it is written.
 *
 * @param sink - Standard error, in the daemon: standard output belongs to the ready line.
 */
export function createLog(config: Pick<Config, 'logLevel' | 'logFormat'>, sink: LineSink): Log {
  const format = config.logFormat === 'json' ? (line: string) => line : toText
  return pino(
    {
      level: config.logLevel === 'off' ? 'silent' : config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => sink.write(redactSecrets(format(line))) },
  )
}

const entry = z.looseObject({ level: z.string(), time: z.string(), msg: z.string().optional() })

/** `time LEVEL sentence key=value …` */
function toText(line: string): string {
  const { level, time, msg = '', ...fields } = entry.parse(JSON.parse(line))
  const shown = Object.entries(fields).map(([key, value]) => `${key}=${fieldText(value)}`)
  return `${[time, level.toUpperCase().padEnd(5), msg, ...shown].join(' ')}\n`
}

function fieldText(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value)
}
