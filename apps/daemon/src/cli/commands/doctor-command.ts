import { systemClock } from 'crux-types'
import type { Finding } from '../../doctor/finding.js'
import type { CommandContext, CommandParser } from '../context.js'

/** Add `doctor`. */
export function addDoctor(parser: CommandParser, context: CommandContext): CommandParser {
  return parser.command(
    'doctor',
    'Find what keeps agents from using Crux, and say what to do',
    (command) => command,
    async (argv) => {
      const { examine } = await import('../../doctor/examine.js')
      const findings = await examine(context.proc, {
        nodeVersion: process.versions.node,
        url: argv.url,
        token: argv.token,
        now: systemClock.now(),
        signal: context.signal,
      })
      const problems = findings.filter(({ level }) => level === 'problem').length
      if (argv.json) context.printJson({ ok: problems === 0, findings })
      else context.print(findingsText(findings))
      if (problems > 0) context.fail()
    },
  )
}

const LEVEL_WIDTH = 'problem'.length

function findingsText(findings: readonly Finding[]): string {
  const indent = ' '.repeat(LEVEL_WIDTH + 2)
  const lines = findings.map(({ check, level, says, fix }) => {
    const head = `${level.padEnd(LEVEL_WIDTH)}  ${check}: ${says}\n`
    return fix === undefined ? head : `${head}${indent}fix: ${fix}\n`
  })
  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length
  const problems = count('problem')
  const warnings = count('warning')
  const summary =
    problems + warnings === 0
      ? 'nothing is wrong'
      : `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  return `${lines.join('')}${summary}\n`
}
