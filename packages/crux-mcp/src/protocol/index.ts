// What both ends of a connection go by, without the tools: the relay and the command line start often,
// and should not load a catalogue for it.
export { FULL_PROFILE_VERSIONS } from '../full/era.js'
export { isLoopbackHost } from '../gates/loopback.js'
export { SURFACE_CHOICES, type SurfaceChoice } from '../gates/surface-choice.js'
export { DEFAULT_STREAM_LIMITS } from '../http/event-streams.js'
export { SURFACE_MODES, type SurfaceMode } from '../listing/surface-mode.js'
export { PARSE_ERROR, PROTOCOL_VERSION, UPSTREAM_ERROR } from './codes.js'
