export {
  type Answer,
  type EmbeddingServer,
  type SeenRequest,
  sendJson,
  startEmbeddingServer,
  textsOf,
  vectorFor,
} from './embedding-server.js'
export { isOnnxRuntimeInstalled } from './onnx-runtime.js'
export { type Table, tinyOnnxModel } from './tiny-onnx-model.js'
