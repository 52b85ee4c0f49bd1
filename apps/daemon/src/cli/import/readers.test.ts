import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { detectFormat, type FormatName, READERS } from './formats.js'
import { type SourceFile, type SourceItem, sourceFile, toRfc3339 } from './source-item.js'

const FIXTURES = new URL('../../../fixtures/import/', import.meta.url).pathname

function fixture(path: string): SourceFile {
  return sourceFile(join(FIXTURES, path), path.slice(path.indexOf('/') + 1))
}

async function fileOf(text: string, name: string): Promise<SourceFile> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-import-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, name), text)
  return sourceFile(join(dir, name), name)
}

async function read(format: FormatName, file: SourceFile) {
  const items: SourceItem[] = []
  for await (const item of READERS[format](file)) items.push(item)
  return {
    facts: items.flatMap((item) => ('json' in item ? [JSON.parse(item.json)] : [])),
    texts: items.flatMap((item) => {
      if (!('json' in item)) return []
      const { entity, key, value } = JSON.parse(item.json)
      return [`[${entity}] ${String(key).replace(/[0-9a-f]{8}$/, '#')} = ${value}`]
    }),
    places: items.flatMap((item) => ('json' in item ? [item.where] : [])),
    problems: items.flatMap((item) => ('reason' in item ? [`${item.where}: ${item.reason}`] : [])),
    notes: items.flatMap((item) => ('note' in item ? [`${item.where}: ${item.note}`] : [])),
  }
}

describe('the form of a file', () => {
  it.each([
    ['server-memory-0.6.3/memory.jsonl', 'mcp-memory'],
    ['basic-memory-0.18.1/espresso.md', 'basic-memory'],
    ['mem0ai-0.1.116/get-all.json', 'mem0'],
    ['csv/facts.csv', 'csv'],
  ])('of %s is %s', async (path, format) => {
    expect(await detectFormat(fixture(path))).toBe(format)
  })

  it('is found by the start of the text, and refused by name when it is none', async () => {
    const forms: [string, string][] = [
      ['{"crux_export":{"version":1}}\n', 'crux'],
      ['{"entity":"e","key":"k","value":"v"}\n', 'crux'],
      ['{"id":"1","memory":"m"}\n', 'mem0'],
      ['\n[ {"id":"1","memory":"m"} ]', 'mem0'],
      ['{"type":"relation"}\n', 'mcp-memory'],
    ]
    for (const [text, format] of forms) {
      expect(await detectFormat(await fileOf(text, 'x.json'))).toBe(format)
    }
    await expect(detectFormat(await fileOf('hello', 'x.txt'))).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
    })
  })
})

describe('mcp-memory', () => {
  it('reads what server-memory 0.6.3 writes', async () => {
    const { texts, places, problems } = await read(
      'mcp-memory',
      fixture('server-memory-0.6.3/memory.jsonl'),
    )
    expect(texts).toEqual([
      '[Ada] type = person',
      '[Ada] observation:# = Prefers tea to coffee',
      '[Ada] observation:# = Works from Lisbon on Fridays',
      '[Harbour API] type = service',
      '[Harbour API] observation:# = Listens on port 8443',
      '[Ada] maintains Harbour API = Ada maintains Harbour API',
    ])
    expect(places.at(-1)).toBe('memory.jsonl:3')
    expect(problems).toEqual([])
  })

  it('names each damaged line, and the one at which the file was cut', async () => {
    const file = await fileOf(
      [
        '{"type":"entity","name":"a","entityType":"t"}',
        'x',
        '[]',
        '{"type":"entity","name":"b","entityType":"","observations":["ok"]}',
        '{"type":"relation","from":"a","t',
      ].join('\n'),
      'm.jsonl',
    )
    const { texts, problems } = await read('mcp-memory', file)
    expect(texts).toEqual(['[b] observation:# = ok'])
    expect(problems.map((text) => text.slice(0, 9))).toEqual([
      ...['m.jsonl:1', 'm.jsonl:2', 'm.jsonl:3', 'm.jsonl:5'],
    ])
    expect(problems[3]).toContain('ends in the middle')
  })

  it('gives the same observation the same source id wherever it stands', async () => {
    const entity = (...observations: string[]) =>
      JSON.stringify({ type: 'entity', name: 'a', entityType: '', observations })
    const ids = async (text: string) =>
      (await read('mcp-memory', await fileOf(text, 'm.jsonl'))).facts.map((fact) => fact.source_id)
    const [first, second] = await ids(entity('one', 'two'))
    expect(await ids(entity('two', 'one'))).toEqual([second, first])
    expect(new Set([first, second]).size).toBe(2)
  })
})

describe('basic-memory', () => {
  it('reads a note of Basic Memory 0.18.1', async () => {
    const { texts, facts, places, problems, notes } = await read(
      'basic-memory',
      fixture('basic-memory-0.18.1/espresso.md'),
    )
    const entity = '[drinks/espresso-notes]'
    expect(texts).toEqual([
      `${entity} title = Espresso Notes`,
      `${entity} type = note`,
      `${entity} tags = coffee, machine`,
      `${entity} status = settled`,
      `${entity} links_to Lever Machine = Espresso Notes links_to Lever Machine`,
      `${entity} method:# = Nine bars for twenty-eight seconds #pressure (house standard)`,
      `${entity} warning:# = Hard water scales the boiler`,
      `${entity} note:# = Descale every month #care`,
      `${entity} uses Lever Machine = Espresso Notes uses Lever Machine`,
      `${entity} learned from Barista Course = Espresso Notes learned from Barista Course (spring 2025)`,
    ])
    expect(new Set(facts.map((fact) => fact.observed_at))).toEqual(
      new Set(['2025-04-11T18:05:12+01:00']),
    )
    expect(places[5]).toBe('espresso.md:19')
    expect(problems).toEqual([])
    expect(notes).toHaveLength(1)
  })

  it('names a note without front matter by its path, and refuses a broken one', async () => {
    const { texts } = await read('basic-memory', fixture('basic-memory-0.18.1/projects/boat.md'))
    expect(texts).toEqual(['[projects/boat] title = boat', '[projects/boat] goal:# = Sail by June'])
    const broken = await read('basic-memory', await fileOf('---\na: [\n---\n- [x] y\n', 'b.md'))
    expect(broken.problems[0]).toMatch(/^b\.md: its front matter cannot be read/)
    expect(broken.facts).toEqual([])
  })
})

describe('mem0', () => {
  it('reads what get_all of mem0ai 0.1.116 gives, and names an id that comes twice', async () => {
    const { facts, problems } = await read('mem0', fixture('mem0ai-0.1.116/get-all.json'))
    expect(facts).toMatchObject([
      {
        entity: 'user:maria',
        key: 'memory:0b8f3c1e-57a4-4b1e-9f0d-2f6c8f2f4a11',
        value: 'Likes hiking in the Alps',
        observed_at: '2025-05-01T10:15:30.123456-07:00',
      },
      {
        entity: 'agent:helper',
        value: 'Answers in short sentences',
        observed_at: '2025-06-01T08:00:00.000000-07:00',
        actor: 'maria',
      },
      { entity: 'maria', key: 'hikes_in alps', value: 'maria hikes_in alps' },
    ])
    expect(problems).toEqual([
      'get-all.json: results[2]: the id 0b8f3c1e-57a4-4b1e-9f0d-2f6c8f2f4a11 came before in this file',
    ])
  })

  it('reads a list and one memory a line, and refuses a document that was cut', async () => {
    const one = '{"id":"1","memory":"a","run_id":"r"}'
    for (const text of [`[${one}]`, one, `${one}\n{"id":"2"`]) {
      const { texts } = await read('mem0', await fileOf(text, 'm.json'))
      expect(texts).toEqual(['[run:r] memory:1 = a'])
    }
    const cut = await read('mem0', await fileOf(`{"results":[${one},{"id`, 'm.json'))
    expect(cut.problems).toHaveLength(1)
    expect(cut.problems[0]).toContain('cut off')
  })
})

describe('csv', () => {
  it('reads quoted cells and names rows that do not fit', async () => {
    const { facts, problems } = await read('csv', fixture('csv/facts.csv'))
    expect(facts).toEqual([
      {
        entity: 'deploy',
        key: 'region',
        value: 'eu-west-1, since "March"',
        confidence: 0.9,
        source_id: 'row-1',
      },
      { entity: 'deploy', key: 'notes', value: 'two\nlines', source_id: 'row-2' },
      { entity: 'deploy', key: 'owner', value: 'Ada', confidence: 'high', source_id: 'row-4' },
    ])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^facts\.csv:\d+: /)
  })

  it('says which columns are missing, and where a cut file ends', async () => {
    const headless = await read('csv', await fileOf('a,b\n1,2\n', 'x.csv'))
    expect(headless.problems).toEqual(['x.csv: its first line names no column entity, key, value'])
    const cut = await read('csv', await fileOf('entity,key,value\na,b,c\nd,e,"f', 'x.csv'))
    expect(cut.texts).toEqual(['[a] b = c'])
    expect(cut.problems).toHaveLength(1)
  })
})

describe('crux', () => {
  it('passes lines on, and says when an export has no end', async () => {
    const head = '{"crux_export":{"version":1,"all":false}}'
    const fact = '{"entity":"e","key":"k","value":"v"}'
    const whole = `${head}\n${fact}\n{"crux_export":{"version":1,"end":true,"facts":1}}\n`
    const { facts, problems } = await read('crux', await fileOf(whole, 'e.jsonl'))
    expect(facts).toEqual([JSON.parse(head), JSON.parse(fact)])
    expect(problems).toEqual([])
    const cut = await read('crux', await fileOf(whole.slice(0, 90), 'e.jsonl'))
    expect(cut.problems.at(-1)).toContain('has no end')
  })
})

describe('toRfc3339', () => {
  it.each([
    ['2025-01-02', '2025-01-02T00:00:00Z'],
    ['2025-01-02 03:04', '2025-01-02T03:04:00Z'],
    ['2025-01-02T03:04:05.123456-0700', '2025-01-02T03:04:05.123456-07:00'],
    ['2025-13-02', undefined],
    ['soon', undefined],
    [7, undefined],
  ])('makes %s of %s', (given, expected) => {
    expect(toRfc3339(given)).toBe(expected)
  })
})
