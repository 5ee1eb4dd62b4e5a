"""`If-Match` and ETags of revisions."""

import pytest

from cutroom.errors import Code, CutroomError
from cutroom.web.revisions import Revised, require_match


@pytest.mark.parametrize("if_match", [None, "*", " * ", '"3"', 'W/"3"', '"1", "3"', '"1" ,W/"3"', "3"])
def test_current_revision_matches(if_match: str | None) -> None:
    require_match(if_match, 3)


@pytest.mark.parametrize("if_match", ['"2"', '"33"', '"03"', '""', "", '" 3"', "3 4", 'W/"2", "4"', "*, *"])
def test_other_revisions_conflict(if_match: str) -> None:
    with pytest.raises(CutroomError) as raised:
        require_match(if_match, 3)
    assert (raised.value.code, raised.value.status, raised.value.details) == (Code.CONFLICT, 409, {"revision": 3})


def test_etag_of_a_revision_matches_it() -> None:
    assert Revised("resource", 3).etag == '"3"'
    require_match(Revised("resource", 3).etag, 3)
