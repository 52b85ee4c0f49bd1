import type { Resource } from '@modelcontextprotocol/server'
import { BOOTSTRAP_PREFIX, type Fact, type FactStore } from 'crux-memory'
import type { Caller } from 'crux-types'
import type { ResourceSource, ResourceText } from './offering.js'

const ROOT = 'crux://bootstrap/'
const TEMPLATE = `${ROOT}{topic}/{name}`
const MIME_TYPE = 'text/markdown'
/** Topics that are listed; how each tool answers is found by the template. */
const LISTED: readonly string[] = ['doc', 'pattern', 'resolution']
const ENTITY = /^([^:]+):(.+)$/s
/** More entries than knowledge ever has. */
const MOST = 10_000

interface Document {
  readonly topic: string
  readonly name: string
  /** Entries of one entity; its newest first. */
  readonly facts: readonly Fact[]
}

/** The knowledge that `get_bootstrap` gives, one document an entity: `crux://bootstrap/<topic>/<name>`. */
export function bootstrapResources(facts: () => Pick<FactStore, 'bootstrap'>): ResourceSource {
  const load = async (caller: Caller, topic = ''): Promise<readonly Document[]> => {
    const { facts: found } = await facts().bootstrap(caller, {
      entityPrefix: topic === '' ? BOOTSTRAP_PREFIX : `${BOOTSTRAP_PREFIX}${topic}:`,
      topK: MOST,
    })
    return toDocuments(found)
  }
  return {
    async list(caller) {
      const documents = await load(caller)
      return documents
        .filter(({ topic }) => LISTED.includes(topic))
        .map(toResource)
        .sort((a, b) => (a.uri < b.uri ? -1 : 1))
    },
    templates: [
      {
        name: 'bootstrap',
        title: 'How this memory is used well',
        uriTemplate: TEMPLATE,
        description:
          'topic is doc (guides), pattern (ways of working), resolution (what to do about errors) or tool-output (the form of an answer); name is one of its entries.',
        mimeType: MIME_TYPE,
      },
    ],
    async read(caller, uri) {
      const place = readUri(uri)
      if (place === undefined) return undefined
      const documents = await load(caller, place.topic)
      const document = documents.find(({ name }) => name === place.name)
      return document && toText(uri, document)
    },
    // Knowledge is shared within a tenant, whoever asks.
    sight: ({ tenant }) => tenant,
    async view(caller) {
      const documents = new Map(
        (await load(caller)).map((document) => [placeOf(document.topic, document.name), document]),
      )
      return {
        read(uri) {
          const place = readUri(uri)
          const document = place && documents.get(placeOf(place.topic, place.name))
          return document && toText(uri, document)
        },
      }
    },
    async complete(caller, template, { name, value }, known) {
      if (template !== TEMPLATE) return undefined
      const documents = await load(caller, name === 'name' ? known.topic : '')
      const values = documents.map((document) =>
        name === 'topic' ? document.topic : document.name,
      )
      const wanted = name === 'topic' || name === 'name' ? new Set(values) : []
      return [...wanted].filter((one) => one.startsWith(value)).sort()
    },
  }
}

function toDocuments(facts: readonly Fact[]): readonly Document[] {
  const documents = new Map<string, { topic: string; name: string; facts: Fact[] }>()
  for (const fact of facts) {
    const [, topic, name] = ENTITY.exec(fact.entity.slice(BOOTSTRAP_PREFIX.length)) ?? []
    if (topic === undefined || name === undefined) continue
    const document = documents.get(fact.entity) ?? { topic, name, facts: [] }
    documents.set(fact.entity, document)
    if (document.facts.every(({ key }) => key !== fact.key)) document.facts.push(fact)
  }
  return [...documents.values()]
}

function toResource({ topic, name, facts }: Document): Resource {
  const title = facts[0]?.key ?? name
  return {
    uri: `${ROOT}${encodeURIComponent(topic)}/${encodeURIComponent(name)}`,
    name: `${topic}/${name}`,
    title,
    description: `${topic}: ${title}`,
    mimeType: MIME_TYPE,
  }
}

/** A topic holds no colon. */
function placeOf(topic: string, name: string): string {
  return `${topic}:${name}`
}

function toText(uri: string, { facts }: Document): ResourceText {
  return { uri, mimeType: MIME_TYPE, text: facts.map(toMarkdown).join('\n\n') }
}

function toMarkdown({ key, value }: Fact): string {
  return `# ${key}\n\n${value}`
}

function readUri(uri: string): { topic: string; name: string } | undefined {
  if (!uri.startsWith(ROOT)) return undefined
  const [topic, name, ...rest] = uri.slice(ROOT.length).split('/')
  if (!topic || !name || rest.length > 0) return undefined
  try {
    return { topic: decodeURIComponent(topic), name: decodeURIComponent(name) }
  } catch {
    return undefined
  }
}
