"""The group of commands, and what becomes of a user's mistake."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Any

import click

from specdec_lib.cli.acceptance import acceptance
from specdec_lib.cli.calibrate import calibrate
from specdec_lib.cli.catalogue import drafters, gpus, models
from specdec_lib.cli.explain import explain
from specdec_lib.cli.plan import plan
from specdec_lib.cli.price import price
from specdec_lib.cli.schedule import schedule
from specdec_lib.cli.simulate import simulate
from specdec_lib.records.names import UnknownName

#: Characters without a space beyond which a word of a message is cut.
_LONGEST = 240


class Answering(click.Group):
    """A group that answers a mistake in the input with one message and no traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a mistake ends it with status 1 and a message that names it, or with
        status 2 where it is one of usage."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            vars(error).update(message=_shortened(error.message))  # final by its annotation
            raise
        except (ValueError, UnknownName, OSError) as error:
            raise click.ClickException(_message(error)) from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return _shortened(f"{error.filename}: {error.strerror}")
    return _shortened(str(error))


def _shortened(text: str) -> str:
    """A message in which what was given is cut where it is longer than anyone would read."""
    return re.sub(rf"(\S{{{_LONGEST // 2}}})\S{{{_LONGEST // 2},}}", r"\1…", text)


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


COMMANDS = (
    models,
    gpus,
    drafters,
    price,
    plan,
    schedule,
    acceptance,
    explain,
    simulate,
    calibrate,
)
for command in COMMANDS:
    main.add_command(command)
