import type { CommandContext, CommandParser } from '../context.js'

/** Add `bench retrieval`, `generate`, `journal`, `facts` and `mcp`; they need no running daemon. */
export function addBenches(parser: CommandParser, context: CommandContext): CommandParser {
  const { signal } = context
  return parser.command('bench', 'Measure a part on this machine', (command) =>
    command
      .command(
        'retrieval',
        'Speed and quality of ranking on judged queries',
        (inner) =>
          inner
            .option('docs', {
              type: 'string',
              demandOption: true,
              describe: 'Documents: {id, text, title?, group?} a line',
            })
            .option('queries', {
              type: 'string',
              demandOption: true,
              describe: 'Queries: {id, text, group?, class?, rels} a line',
            })
            .option('mode', {
              type: 'string',
              default: 'bm25',
              describe: 'How to rank: bm25, dense or fused',
            })
            .option('passes', { type: 'number', default: 5, describe: 'Timed passes' }),
        async (argv) => {
          // Loaded here, so that other commands start without it.
          const { runRetrievalBench } = await import('../../bench/retrieval.js')
          const progress = await context.progress(argv)
          const result = await runRetrievalBench({
            docsPath: argv.docs,
            queriesPath: argv.queries,
            mode: argv.mode,
            passes: argv.passes,
            signal,
            onProgress: ({ part, done, of }) => progress.update(done, of, part),
          }).finally(() => progress.end())
          printResult(context, argv.json, { ...result })
        },
      )
      .command(
        'generate',
        'Write documents of made-up words and queries for them, for bench retrieval',
        (inner) =>
          inner
            .option('docs', { type: 'number', default: 1_000_000, describe: 'Documents' })
            .option('vocabulary', { type: 'number', default: 500_000, describe: 'Different words' })
            .option('mean-tokens', { type: 'number', default: 120, describe: 'Words a document' })
            .option('queries', { type: 'number', default: 500, describe: 'Three-word queries' })
            .option('seed', { type: 'number', default: 1, describe: 'Same seed, same files' })
            .option('out', { type: 'string', demandOption: true, describe: 'Folder to write to' }),
        async (argv) => {
          const { generateCollection } = await import('../../bench/retrieval-generate.js')
          const progress = await context.progress(argv)
          const result = await generateCollection({
            docs: argv.docs,
            vocabulary: argv.vocabulary,
            meanTokens: argv.meanTokens,
            queries: argv.queries,
            seed: argv.seed,
            outDir: argv.out,
            signal,
            onProgress: (done, of) => progress.update(done, of, 'generate'),
          }).finally(() => progress.end())
          printResult(context, argv.json, { ...result })
        },
      )
      .command(
        'journal',
        'Durable appends a second',
        (inner) =>
          inner
            .option('records', { type: 'number', default: 200_000, describe: 'Appends in a run' })
            .option('writers', { type: 'number', default: 256, describe: 'Writers at a time' })
            .option('dir', { type: 'string', describe: 'Folder on the disk to measure' }),
        async (argv) => {
          const { runJournalBench } = await import('../../bench/journal.js')
          const progress = await context.progress(argv)
          const result = await runJournalBench({
            records: argv.records,
            writers: argv.writers,
            ...(argv.dir === undefined ? {} : { dir: argv.dir }),
            signal,
            onProgress: (done, total) => progress.update(done, total, 'append'),
          }).finally(() => progress.end())
          printResult(context, argv.json, { ...result })
        },
      )
      .command(
        'facts',
        'Storing, starting, memory and recall of facts, beside a plain scan',
        (inner) =>
          inner
            .option('facts', { type: 'number', default: 100_000, describe: 'Facts to store' })
            .option('writers', { type: 'number', default: 256, describe: 'Writers at a time' })
            .option('dir', { type: 'string', describe: 'Folder on the disk to measure' }),
        async (argv) => {
          const { runFactsBench } = await import('../../bench/facts.js')
          const progress = await context.progress(argv)
          const result = await runFactsBench({
            facts: argv.facts,
            writers: argv.writers,
            ...(argv.dir === undefined ? {} : { dir: argv.dir }),
            signal,
            onProgress: (what, done, of) => progress.update(done, of, what),
          }).finally(() => progress.end())
          printResult(context, argv.json, { ...result })
        },
      )
      .command(
        'mcp',
        'Tool calls a second beside a server that only echoes, and what event streams cost; needs a build',
        (inner) => inner,
        async (argv) => {
          const { runMcpBench } = await import('../../bench/mcp.js')
          const progress = await context.progress(argv)
          const results = await runMcpBench({
            signal,
            onProgress: (done, of) => progress.update(done, of, 'measure'),
          }).finally(() => progress.end())
          for (const result of results) printResult(context, argv.json, { ...result })
          const { runStreamsBench } = await import('../../bench/mcp-streams.js')
          printResult(context, argv.json, { ...(await runStreamsBench(signal)) })
        },
      )
      .demandCommand(
        1,
        'bench: name what to measure: retrieval, journal, facts or mcp; or generate',
      ),
  )
}

/** One line of JSON, or one line per member and per member of a member. */
function printResult(context: CommandContext, isJson: boolean, result: object): void {
  if (isJson) {
    context.printJson(result)
    return
  }
  for (const [name, value] of Object.entries(result)) {
    if (typeof value !== 'object' || value === null) context.print(`${name}: ${value}\n`)
    else for (const line of linesOf(name, value)) context.print(line)
  }
}

function linesOf(name: string, members: object): string[] {
  return Object.entries(members).map(([member, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : `${value}`
    return `${name}.${member}: ${text}\n`
  })
}
