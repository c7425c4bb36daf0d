"""Files: LIBSVM's models, ONNX."""
