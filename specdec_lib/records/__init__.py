"""Records: the facts in ``specdec_lib/data``, read with provenance and checked while read."""
