export type { BootstrapEntry } from './bootstrap/entry.js'
export { bootstrapGroups, type SeedReport, seedBootstrap } from './bootstrap/seed.js'
export type { DescribedTool } from './bootstrap/tool-outputs.js'
