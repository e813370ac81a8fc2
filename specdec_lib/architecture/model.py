"""Model: an architecture with a name and a pedigree, from the catalogue or from a config.json."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec_lib.architecture.architecture import Architecture
from specdec_lib.architecture.components import Core, Experts
from specdec_lib.architecture.fields import ConfigError
from specdec_lib.architecture.parse import parse
from specdec_lib.records.provenance import Provenance


@dataclass(frozen=True)
class Headline:
    """The parameters that a model's makers print, and where; rounded, and each in its own way."""

    total: float
    active: float
    provenance: Provenance


@dataclass(frozen=True)
class Model:
    """A model that can be priced.

    ``headline`` and ``provenance`` are None for a model read from a user's own configuration.
    """

    name: str
    architecture: Architecture
    aliases: tuple[str, ...] = ()
    repository: str = ""
    headline: Headline | None = None
    provenance: Provenance | None = None

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any] | str | os.PathLike[str],
        *,
        precision: str | Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Model:
        """Read a ``config.json`` as it is published.

        Parameters
        ----------
        config
            The path of the file, or of a folder that holds it, or its contents as a mapping.
        precision
            Overrides what the configuration states or leaves unreadable: one precision for
            attention projections and feed-forward, or a mapping from component keys.
        name
            What to call the model; its file, or its family, by default.

        Raises
        ------
        ConfigError
            For what cannot be read; it names field, what was found and what would be accepted.
        FileNotFoundError
            For a path that does not exist.
        TypeError
            For a ``config`` that is neither a path nor a mapping, or another argument of a type
            that it does not take.

        Examples
        --------
        >>> shape = {"hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 128256,
        ...          "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        ...          "intermediate_size": 14336, "model_type": "llama"}
        >>> Model.from_config(shape).total_parameters
        8030261248
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"a model's name is a text, not {name!r:.80}")
        if isinstance(config, Mapping):
            settings, origin = config, name or "config"
        else:
            path = _file(config)
            settings, origin = _load(path), str(path)
            name = name or (path.parent.name if path.name == "config.json" else path.stem)
        architecture = parse(settings, origin, precision)
        return cls(name or architecture.family, architecture)

    def __repr__(self) -> str:
        """In one line: name and size.

        >>> from specdec_lib.catalog import model
        >>> model("llama-3.1-8b")
        Model(Llama-3.1-8B: 8.03 B parameters)
        """
        sizes = f"{_rounded(self.total_parameters)} parameters"
        if self.experts is not None:
            sizes += f", {_rounded(self.active_parameters)} active"
        return f"Model({self.name}: {sizes})"

    @property
    def layers(self) -> int:
        """Layers, modules of multi-token prediction excluded."""
        return self.architecture.layers

    @property
    def hidden_size(self) -> int:
        """Width of the residual stream, H."""
        return self.architecture.hidden_size

    @property
    def vocabulary(self) -> int:
        """Entries of the vocabulary, V."""
        return self.architecture.vocabulary

    @property
    def experts(self) -> Experts | None:
        """The mixture of experts; None for a dense model."""
        return self.architecture.experts

    @property
    def attention(self) -> tuple[Core, ...]:
        """The attention cores, one for each kind of layer."""
        return self.architecture.attention

    @property
    def total_parameters(self) -> int:
        """Every stored parameter, modules of multi-token prediction excluded."""
        return self.architecture.total_parameters

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses, the input embedding included."""
        return self.architecture.active_parameters

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the configuration left open and how it was filled."""
        return self.architecture.assumptions

    @property
    def mtp_modules(self) -> int:
        """Modules of multi-token prediction; no draft length, one module may draft many tokens."""
        return self.architecture.mtp_modules

    def kv_bytes_per_token(self, cache: str | None = None) -> float:
        """Bytes that a context token adds to the cache of one sequence; see
        :meth:`Architecture.kv_bytes_per_token`.

        >>> from specdec_lib.catalog import model
        >>> model("llama-3.1-8b").kv_bytes_per_token()
        131072.0
        """
        return self.architecture.kv_bytes_per_token(cache)

    def state_bytes(self, cache: str | None = None) -> float:
        """Bytes that one sequence occupies whatever its length; see
        :meth:`Architecture.state_bytes`."""
        return self.architecture.state_bytes(cache)


def _rounded(parameters: int) -> str:
    """Parameters to four digits, in billions or millions where there are so many."""
    for unit, size in (("B", 1e9), ("M", 1e6)):
        if parameters >= size:
            return f"{parameters / size:.4g} {unit}"
    return str(parameters)


def _file(config: object) -> Path:
    """The file that a path means, itself or in its folder."""
    if not isinstance(config, str | os.PathLike) or not str(config).strip():
        raise TypeError(
            f"a configuration is a mapping, or the path of a config.json or its folder, "
            f"not {config!r:.80}"
        )
    if str(config).lstrip().startswith("{"):
        raise TypeError("a configuration is a mapping or a path, not JSON text; json.loads it")
    path = Path(config)
    path = path / "config.json" if path.is_dir() else path
    if not path.exists():
        raise FileNotFoundError(
            f"{path}: there is no such file; the path is that of a config.json or of its folder"
        )
    return path


def _load(path: Path) -> Mapping[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # bad syntax, no text, too long or too deep
        raise ConfigError(f"{path}: is not JSON: {error}") from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: found a {type(settings).__name__}; accepted: a JSON object")
    return settings
