"""The symbols of control: what a policy that adapts on line keeps, and of pruning in two stages.

They are entered in the table of :mod:`specdec_lib.symbols`, which has all the others.
"""

from __future__ import annotations

from specdec_lib.notation import declare
from specdec_lib.quantity import ONE, SECOND

weight = declare("weight", "u_0", ONE, "trials that a prior acceptance counts for", positive=True)
half_life = declare(
    "half_life", r"n_{1/2}", ONE, "drafts or rounds after which one counts half", positive=True
)
wrong = declare(
    "wrong", r"\varsigma", ONE, "chance of a draft that was kept so far and is wrong", high=1
)
pace = declare("pace", r"t_{\mathrm{now}}", SECOND, "time of a token by the choice in force")
