"""The group of commands, and what becomes of a user's mistake."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import click

from specdec_lib.cli.acceptance import acceptance
from specdec_lib.cli.calibrate import calibrate
from specdec_lib.cli.catalogue import drafters, gpus, models
from specdec_lib.cli.explain import explain
from specdec_lib.cli.plan import plan
from specdec_lib.cli.price import price
from specdec_lib.cli.schedule import schedule
from specdec_lib.records.names import UnknownName


class Answering(click.Group):
    """A group that answers a mistake in the input with one message and no traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a mistake ends it with status 1 and a message that names it."""
        try:
            return super().invoke(ctx)
        except (ValueError, UnknownName, OSError) as error:
            raise click.ClickException(_message(error)) from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


@click.group(cls=Answering, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(importlib.metadata.version("specdec-lib"), prog_name="specdec")
def main() -> None:
    """The price of speculative decoding for a model, an accelerator and an engine.

    \b
    Examples:
      specdec models
      specdec price --model deepseek-v4-flash --gpu b200 --batch 1,8,64 --width 1,4
      specdec plan --model deepseek-v4-flash --gpu b200 --alpha 0.75
    """


for command in (models, gpus, drafters, price, plan, schedule, acceptance, explain, calibrate):
    main.add_command(command)
