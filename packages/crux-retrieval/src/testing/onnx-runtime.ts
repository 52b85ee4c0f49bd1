// Not a literal, since the package may be absent.
const RUNTIME = 'onnxruntime-web'

/** Whether the optional package that runs ONNX models is there; tests that need it are left out otherwise. */
export function isOnnxRuntimeInstalled(): Promise<boolean> {
  return import(/* @vite-ignore */ RUNTIME).then(
    () => true,
    () => false,
  )
}
