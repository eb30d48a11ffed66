"""
vLLM's model loader `railhead`: weights of safetensors files come through a gateway, one file after the other.

    vllm serve CONFIGURATION --load-format railhead --model-loader-extra-config '{"url": "s3://models/llama/"}'

vLLM finds it by the package's entry point. Written for vLLM 0.32.0. CONFIGURATION is a folder or a name of the hub, as ever: it
has the model's configuration and tokenizer, which do not come through the gateway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_KNOWN = ("url", "endpoint", "fabric", "region", "profile")


def register() -> None:
    """Called by vLLM in each of its processes, more than once in some."""
    from vllm.model_executor.model_loader import register_model_loader
    from vllm.model_executor.model_loader.base_loader import BaseModelLoader

    class RailheadModelLoader(BaseModelLoader):  # vLLM is there only by now
        def __init__(self, load_config: Any) -> None:
            super().__init__(load_config)
            self._options = dict(load_config.model_loader_extra_config or {})
            unknown = sorted(set(self._options) - set(_KNOWN))
            if unknown or "url" not in self._options:
                raise ValueError(f"the loader's extra config has url and {', '.join(_KNOWN[1:])}: "
                                 f"{', '.join(unknown) or 'there is no url'}")
            self._url = self._options.pop("url")

        def download_model(self, model_config: Any) -> None:
            """Nothing is kept on this host."""

        def load_weights(self, model: Any, model_config: Any) -> None:
            from railhead.client import Client

            with Client(**self._options) as client:
                loaded = model.load_weights(_weights(client, self._url))
            if loaded is not None and model_config.quantization is None:  # as vLLM's own loader decides
                _check_all_loaded(model, loaded, self._url)

    register_model_loader("railhead")(RailheadModelLoader)


def _check_all_loaded(model: Any, loaded: set[str], url: str) -> None:
    """ValueError where a parameter has no weights. Exempts the layers that vLLM's own loader exempts."""
    exempt = {f"{name}.{each}" if name else each for name, module in model.named_modules() if _is_exempt(module)
              for each, _ in module.named_parameters()}
    missing = sorted({name for name, _ in model.named_parameters()} - loaded - exempt)
    if missing:
        raise ValueError(f"{url} has no weights for {', '.join(missing)}")


def _is_exempt(module: Any) -> bool:
    method = getattr(module, "quant_method", None)
    return bool(getattr(method, "uses_meta_device", False)) or hasattr(method, "process_weights_after_loading")


def _weights(client: Any, url: str) -> Iterator[tuple[str, Any]]:
    """Names and tensors of all files. No more than one file's are in memory here at a time."""
    from railhead._checkpoint import files_of
    from railhead.torch import load_safetensors

    for file, names in files_of(client, url).items():
        tensors = load_safetensors(file, client=client, names=names)
        while tensors:
            yield tensors.popitem()
