"""The table of uproot's names is that of this vroot, and explains what is absent or differs."""

from __future__ import annotations

import pytest
import uproot

from compat.names.rows import TABLE, UNEXPLAINED, rows, table


def test_the_table_is_up_to_date() -> None:
    recorded = TABLE.read_text(encoding="utf-8")
    if recorded.splitlines()[0] != f"# uproot {uproot.__version__}":
        pytest.skip(f"the table is of another uproot than {uproot.__version__}")
    assert table() == recorded, "to write it anew: python -m compat.names"


def test_what_is_absent_or_differs_has_a_reason() -> None:
    assert [row.name for row in rows() if UNEXPLAINED in row.remark] == []


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        ("uproot.open", "differs"),
        ("uproot.concatenate", "same"),
        ("uproot.TTree.keys", "same"),
        ("uproot.behaviors.TH1.Histogram.to_hist", "same"),
        ("uproot.ReadOnlyDirectory", "alias"),
        ("uproot.recreate", "writing"),
        ("uproot.MultithreadedXRootDSource", "no effect"),
        ("uproot.const.*", "absent"),
    ],
)
def test_standings(name: str, standing: str) -> None:
    assert {row.name: row.standing for row in rows()}[name] == standing
