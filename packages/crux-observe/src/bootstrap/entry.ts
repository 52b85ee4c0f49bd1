import { BOOTSTRAP_PREFIX } from 'crux-memory'

/** One piece of knowledge about the daemon, as it is stored. */
export interface BootstrapEntry {
  /** `__bootstrap__::<topic>:<name>` */
  readonly entity: string
  /** Its title. */
  readonly key: string
  readonly value: string
}

/** An entry before it has its place: a name, a title and a text. */
export type NamedText = readonly [name: string, title: string, text: string]

/** Entries of a topic. */
export function entriesOf(topic: string, texts: readonly NamedText[]): readonly BootstrapEntry[] {
  return texts.map(([name, key, value]) => ({
    entity: `${BOOTSTRAP_PREFIX}${topic}:${name}`,
    key,
    value,
  }))
}
